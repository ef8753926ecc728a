package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/image"
)

func newLoad(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "load IMAGE.tar",
		Short: "Put an image (an OCI or docker archive) where pods can use it",
		Args:  oneArgument("the archive: lab load IMAGE.tar"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.layout()
			if err != nil {
				return err
			}
			if _, err := os.Stat(args[0]); err != nil {
				return fmt.Errorf("loading an image: %w", err) // before a folder is made for it
			}
			if err := l.Create(); err != nil {
				return err
			}
			names, err := image.NewStore(l.Images()).Load(args[0])
			if err != nil {
				return err
			}
			for _, name := range names {
				fmt.Fprintf(a.out, "loaded %s\n", name)
			}
			return nil
		},
	}
}
