package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/upstream"
)

func newKubectl(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl ...",
		Short:              "Run kubectl against this lab",
		DisableFlagParsing: true, // every flag is kubectl's
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.running()
			if err != nil {
				return err
			}
			// kubectl config is the way back.
			verb := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
			if verb >= 0 && args[verb] != "config" {
				if err := ownContext(l.AdminKubeconfig()); err != nil {
					return err
				}
			}
			if err := os.Setenv("KUBECONFIG", l.AdminKubeconfig()); err != nil {
				return err
			}
			if code := upstream.Kubectl(args); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}
