package cli

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func TestAReportOfALabThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	out, errOut, err := runLab(t, "--dir", filepath.Join(dir, "lab"), "report")
	require.NoError(t, err, errOut)
	assert.Contains(t, out, "Wrote lab-report.tar.gz")
	assert.Contains(t, out, "missing: status.txt: there is no lab in ")
	assert.Contains(t, out, "missing: events.json: ")
	assert.NoDirExists(t, filepath.Join(dir, "lab"))
	report := testenv.Unpack(t, "lab-report.tar.gz")
	assert.Contains(t, report["lab-report/missing.txt"], "status.txt: there is no lab in ")
	assert.Contains(t, report["lab-report/machine.txt"], "cores, user ")
}

// Whatever has come into a log, a report has no key, kubeconfig or token of the lab.
func TestAReportHasNoSecretOfTheLab(t *testing.T) {
	l, err := layout.New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	require.NoError(t, l.Create())
	_, err = pki.Create(l, component.NodeName, component.FirstServiceIP)
	require.NoError(t, err)
	require.NoError(t, pki.WriteKubeconfigs(l, "https://127.0.0.1:1", "https://127.0.0.1:1"))
	files, err := filepath.Glob(l.Join("pki", "*.k*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 5)
	var log strings.Builder
	var secrets []string
	for _, file := range append(files, l.AdminKubeconfig()) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		encoded := base64.StdEncoding.EncodeToString(data)
		log.WriteString("read " + file + ": " + encoded + "\n")
		log.Write(data)
		log.WriteString("\nas a string: " + strings.ReplaceAll(string(data), "\n", `\n`) + "\n")
		secrets = append(secrets, regexp.MustCompile(`[A-Za-z0-9+/=]{40,}`).FindAllString(string(data), -1)...)
		if strings.HasSuffix(file, ".key") {
			secrets = append(secrets, encoded)
		}
	}
	log.WriteString("the last line\n")
	require.NoError(t, os.WriteFile(l.Log("kubelet"), []byte(log.String()), 0o600))
	archive := filepath.Join(t.TempDir(), "my report.tar.gz")
	out, errOut, err := runLab(t, "--dir", l.Root(), "report", "--output", archive)
	require.NoError(t, err, errOut)
	assert.Contains(t, out, "Wrote "+archive)
	report := testenv.Unpack(t, archive)
	assert.Contains(t, report["lab-report/logs/kubelet.log"], "the last line\n")
	assert.Contains(t, report["lab-report/status.txt"], "isolation of containers: not known")
	assert.Contains(t, report["lab-report/status.txt"], "is not running (to start it: lab up)")
	for name, content := range report {
		for _, secret := range secrets {
			assert.NotContains(t, content, secret, name)
		}
	}
}
