package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/layout"
)

func newEnv(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: `Print shell exports: eval "$(lab env)"`,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.layout()
			if err != nil {
				return err
			}
			if _, err := l.Exists(); err != nil { // an export of what is not there yet is fine
				return err
			}
			exe, err := layout.Executable()
			if err != nil {
				return err
			}
			bin := filepath.Dir(exe)
			fmt.Fprintf(a.out, "export KUBECONFIG=%s\n", quote(l.AdminKubeconfig()))
			fmt.Fprintf(a.out, "export KUBEBUILDER_ASSETS=%s\n", quote(bin))
			fmt.Fprintf(a.out, "export PATH=%s:\"$PATH\"\n", quote(bin))
			return nil
		},
	}
}

// quote makes s one word for a POSIX shell, whatever is in it.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
