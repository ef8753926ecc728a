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
			if usesCurrentContext(args) {
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

// usesCurrentContext is false for kubectl config, which is the way back to the lab's context, and
// for a command that names one.
func usesCurrentContext(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 { // what follows is not kubectl's
		args = args[:end]
	}
	verb := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if verb < 0 || args[verb] == "config" {
		return false
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if name == "--context" && value != "" { // an empty one means the current one
			return false
		}
	}
	return true
}
