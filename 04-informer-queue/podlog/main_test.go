package podlog

import (
	"context"
	"io"
	"testing"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// program is the whole program, with its command line.
func program(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run(ctx, Command(), args, stdout, stderr)
}
