package upstream

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/kubelet"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/lifeline"
)

// newKubeletCommand makes the lab's kubelet, whose only flag is --dir.
func newKubeletCommand(ctx context.Context, line lifeline.Files) *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:          "kubelet",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			l, err := layout.New(dir)
			if err != nil {
				return err
			}
			return kubelet.Run(ctx, l, line)
		},
	}
	command.Flags().StringVar(&dir, "dir", "", "the lab's folder")
	return command
}
