package upstream

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/kubelet"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/lifeline"
)

// newKubeletCommand makes the lab's kubelet.
func newKubeletCommand(ctx context.Context, line lifeline.Files) *cobra.Command {
	var dir string
	var endPods bool
	command := &cobra.Command{
		Use:          "kubelet",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			l, err := layout.New(dir)
			if err != nil {
				return err
			}
			if endPods {
				return kubelet.EndPods(ctx, l, line)
			}
			return kubelet.Run(ctx, l, line)
		},
	}
	command.Flags().StringVar(&dir, "dir", "", "the lab's folder")
	command.Flags().BoolVar(&endPods, "end-pods", false, "end the pods that a kubelet has left running, instead of running one")
	return command
}
