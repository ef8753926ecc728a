package registry

import (
	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// Command returns the program.
func Command() *cobra.Command {
	var o Options
	command := &cobra.Command{
		Use:   "registry",
		Short: "A container registry on this machine, for the lessons",
		Long: "A container registry on this machine, for the lessons. It has neither users nor TLS.\n" +
			"Manifests and tags are in memory, and gone when it ends.",
		Args: cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return Run(command.Context(), o, command.OutOrStdout())
		},
	}
	command.Flags().StringVar(&o.Address, "address", "127.0.0.1:5050", "where it listens; port 0 is any that is free")
	command.Flags().StringVar(&o.Blobs, "blobs", "", "a folder for the content of images (default: in memory)")
	return command
}
