package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
			if _, err := l.Exists(); err != nil {
				return err
			}
			if _, err := a.running(); err != nil { // an export of what isn't there yet is fine, but said
				fmt.Fprintln(os.Stderr, "lab:", err)
			}
			exe, err := layout.Executable()
			if err != nil {
				return err
			}
			bin := filepath.Dir(exe)
			fmt.Fprintf(a.out, "export KUBECONFIG=%s\n", quote(l.AdminKubeconfig()))
			fmt.Fprintf(a.out, "export KUBEBUILDER_ASSETS=%s\n", quote(bin))
			fmt.Fprintf(a.out, "export PATH=%s:\"$PATH\"\n", quote(bin))
			if exempt := loopbackExempt(os.Getenv); exempt != "" {
				fmt.Fprintf(a.out, "export NO_PROXY=%[1]s no_proxy=%[1]s\n", quote(exempt))
			}
			return nil
		},
	}
}

// loopbackExempt is what NO_PROXY has to be where there is a proxy. Go never sends what is for
// this machine through one; curl does. It is empty if there is none.
func loopbackExempt(getenv func(string) string) string {
	proxied := func(name string) bool { return getenv(name) != "" }
	if !slices.ContainsFunc([]string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}, proxied) {
		return ""
	}
	exempt := cmp.Or(getenv("NO_PROXY"), getenv("no_proxy"))
	if exempt == "*" { // all hosts; in a list it would be one that nobody has
		return exempt
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if !slices.Contains(strings.Split(exempt, ","), host) {
			exempt = strings.TrimPrefix(exempt+","+host, ",")
		}
	}
	return exempt
}

// quote makes s one word for a POSIX shell, whatever is in it.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
