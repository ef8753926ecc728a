package runtime

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestChooseShell(t *testing.T) {
	for name, tc := range map[string]struct {
		hosts string
		found []string
		want  string
	}{
		"busybox, if there is one":                 {"/usr/bin/dash", []string{"bash", "busybox"}, "/found/busybox"},
		"else bash":                                {"/usr/bin/dash", []string{"bash"}, "/found/bash"},
		"the host's, if there is nothing else":     {"/usr/bin/dash", nil, ""},
		"the host's, if that is bash already":      {"/usr/bin/bash", []string{"bash", "busybox"}, ""},
		"the host's, if that is a busybox already": {"/bin/busybox", []string{"bash", "busybox"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, chooseShell(tc.hosts, func(name string) (string, error) {
				if slices.Contains(tc.found, name) {
					return "/found/" + name, nil
				}
				return "", exec.ErrNotFound
			}))
		})
	}
}

// What busybox's sh can, and dash cannot.
const inBusybox = "[[ -r /etc/passwd ]] && echo readable"

func TestShIsLikeThatOfBusybox(t *testing.T) {
	w := newWorld(t)
	if w.isolation != noIsolation {
		assert.Equal(t, "readable\n", w.output(`printf '#!/bin/sh\n`+inBusybox+`\n' > /tmp/script; chmod +x /tmp/script; /tmp/script`))
	}
	for name, isolation := range map[string]isolation{"with what the kernel allows": w.isolation, "without isolation": noIsolation} {
		for _, sh := range []string{"sh", "/bin/sh"} {
			t.Run(sh+" "+name, func(t *testing.T) {
				w.isolation = isolation
				as := func(c *runtimeapi.ContainerConfig) { c.Command[0] = sh }
				assert.Equal(t, "readable\n", w.output(inBusybox, as))
				id := w.run(w.pod("exec"), idle, as)
				out, errOut, err := w.ExecSync(t.Context(), id, []string{sh, "-c", inBusybox}, testTimeout)
				require.NoError(t, err, string(errOut))
				assert.Equal(t, "readable\n", string(out))
			})
		}
	}
}
