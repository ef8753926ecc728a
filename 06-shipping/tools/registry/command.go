package registry

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Main runs the program registry and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o Options
	command := &cobra.Command{
		Use:           "registry",
		Short:         "A container registry on this machine, for the lessons",
		Long:          "A container registry on this machine, for the lessons. It has neither users nor TLS.\nManifests and tags are in memory, and gone when it ends.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), o, stdout) },
	}
	command.Flags().StringVar(&o.Address, "address", "127.0.0.1:5050", "where it listens; port 0 is any that is free")
	command.Flags().StringVar(&o.Blobs, "blobs", "", "a folder for the content of images (default: in memory)")
	command.SetArgs(args)
	command.SetOut(stdout)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "registry:", err)
		return 1
	}
	return 0
}
