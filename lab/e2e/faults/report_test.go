package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// reportOf writes a report, and returns its files by name.
func reportOf(t *testing.T, lab *labtest.Lab) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	lab.Run(t, "report", "--output", path)
	return testenv.Unpack(t, path)
}

// secretsOf returns what is in the keys, kubeconfigs and tokens of a lab, the service accounts' too.
func secretsOf(t *testing.T, lab *labtest.Lab) (secrets []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(lab.Dir, func(path string, _ os.DirEntry, err error) error {
		if name := filepath.Base(path); err == nil && (strings.HasSuffix(name, ".key") || strings.HasSuffix(name, "kubeconfig") || name == "token") {
			data, readErr := os.ReadFile(path)
			secrets = append(secrets, regexp.MustCompile(`[A-Za-z0-9+/=_.-]{40,}`).FindAllString(string(data), -1)...)
			return readErr
		}
		return nil
	}))
	require.Greater(t, len(secrets), 30)
	return secrets
}

func TestAReportHelpsAndHasNoSecret(t *testing.T) {
	lab := startLab(t)
	lab.Kubectl(t, "create", "secret", "generic", "hidden", "--from-literal=password=hunter2")
	lab.Kubectl(t, "run", "pod", "--image=no-such-image", "--env=PASSWORD=hunter2")
	labtest.Eventually(t, "the pod has an event, and a token", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "kubectl", "events", "--for=pod/pod")
		if err == nil && !strings.Contains(out, "is not in the lab") {
			err = errors.New(out)
		}
		return err
	})
	secrets := append(secretsOf(t, lab), strings.TrimSpace(lab.Kubectl(t, "create", "token", "default")))

	files := reportOf(t, lab)
	assert.NotRegexp(t, `(?m)^[^v]`, files["lab-report/missing.txt"], "but the commit of a clone that git does not know")
	assert.Contains(t, files["lab-report/status.txt"], "isolation of containers: ")
	assert.Regexp(t, `(?m)^kube-apiserver .*healthy$`, files["lab-report/status.txt"])
	assert.Contains(t, files["lab-report/events.json"], "is not in the lab")
	assert.Contains(t, files["lab-report/versions.txt"], "Kubernetes v1.")
	assert.Contains(t, files["lab-report/settings.json"], `"kube-apiserver": `)
	for _, name := range []string{"supervisor", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"} {
		assert.NotEmpty(t, files["lab-report/logs/"+name+".log"], name)
	}
	lab.Run(t, "down")
	down := reportOf(t, lab)
	assert.Contains(t, down["lab-report/status.txt"], "is not running")
	assert.Contains(t, down["lab-report/missing.txt"], "events.json: ")
	assert.NotEmpty(t, down["lab-report/logs/kubelet.log"])
	for _, all := range []map[string]string{files, down} {
		for name, content := range all {
			assert.NotContains(t, content, "hunter2", name)
			for _, secret := range secrets {
				assert.NotContains(t, content, secret, name)
			}
		}
	}
}
