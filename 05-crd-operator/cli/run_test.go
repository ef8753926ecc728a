package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

func TestRun(t *testing.T) {
	failed := errors.New("the disk is full")
	tests := map[string]struct {
		args           []string
		err            error
		stdout, stderr string
		code           int
	}{
		"it works":         {nil, nil, "done\n", "", 0},
		"it fails":         {nil, failed, "done\n", "error: the disk is full\n", 1},
		"two things fail":  {nil, errors.Join(failed, failed), "done\n", "error: the disk is full\nerror: the disk is full\n", 1},
		"an unknown flag":  {[]string{"--moon"}, nil, "", "error: unknown flag: --moon; see program --help\n", 1},
		"an argument":      {[]string{"moon"}, nil, "", "error: unexpected argument \"moon\"; see program --help\n", 1},
		"help is no error": {[]string{"--help"}, failed, "It does it\n\nUsage:\n  program [flags]\n\nFlags:\n  -h, --help   help for program\n", "", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			type key struct{}
			command := &cobra.Command{Use: "program", Short: "It does it", Args: NoArgs, RunE: func(command *cobra.Command, _ []string) error {
				assert.Equal(t, 7, command.Context().Value(key{}))
				command.Println("done")
				return tc.err
			}}
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tc.code, Run(context.WithValue(t.Context(), key{}, 7), command, tc.args, &stdout, &stderr))
			assert.Equal(t, tc.stdout, stdout.String())
			assert.Equal(t, tc.stderr, stderr.String())
		})
	}
}
