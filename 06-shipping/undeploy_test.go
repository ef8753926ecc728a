package shipping

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

// recorder is a kubectl that records its calls. There is an At for as many GETs as the
// file rounds has lines; then there is its pod, for one GET.
const recorder = `#!/bin/sh
cd "$(dirname "$0")"
case $* in
"get crd"*)
	test ! -e refused || exit 1
	test ! -e crd || cat crd ;;
"get ats"*)
	if [ -s rounds ]; then
		sed -i.old 1d rounds
		echo 'at quay/kettle'
	fi ;;
"get pods"*)
	if [ -e pod ]; then
		rm pod
		echo 'pod quay/orphan-pod'
	fi ;;
*) echo "$*" >>calls ;;
esac
`

// undeploy runs the script with the recorder, and returns what it printed and the calls
// that change something.
func undeploy(t *testing.T, files map[string]string, variables ...string) (output string, calls []string, err error) {
	t.Helper()
	testprogram.ReadBySomebodyElse(t, "undeploy.sh", "dist.sh")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(recorder), 0o755))
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	testprogram.Path(t, "KUSTOMIZE") // which dist.sh runs
	command := exec.CommandContext(t.Context(), "sh", "undeploy.sh")
	command.Env = append(append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")), variables...)
	combined, err := command.CombinedOutput()
	recorded, _ := os.ReadFile(filepath.Join(dir, "calls")) // there is none if nothing was called
	for call := range strings.Lines(string(recorded)) {
		calls = append(calls, strings.TrimSuffix(call, "\n"))
	}
	return string(combined), calls, err
}

const (
	deleteAts     = "delete ats --all -A --cascade=foreground --wait=false"
	deleteManager = "delete --ignore-not-found -f -"
	deleteRoles   = "delete rolebindings,roles -A --field-selector=metadata.name=cnat-manager"
	deleteReaders = "delete clusterrolebinding cnat-metrics-reader cnat-profile-reader --ignore-not-found"
	deleteRole    = "delete clusterrole cnat-profile-reader --ignore-not-found"
	crd           = "customresourcedefinition.apiextensions.k8s.io/ats.cnat.programming-kubernetes.info\n"
)

func TestTheManagerIsDeletedAfterTheAtsAndTheirPods(t *testing.T) {
	output, calls, err := undeploy(t, map[string]string{"crd": crd, "rounds": "1\n2\n", "pod": ""})
	require.NoError(t, err, output)
	assert.Equal(t, []string{deleteAts, deleteManager, deleteRoles, deleteReaders, deleteRole}, calls)
	assert.Equal(t, "waiting for 2 to go, such as at quay/kettle\nwaiting for 1 to go, such as at quay/kettle\n", output)
}

func TestTheManagerStaysWhileAPodHasItsFinalizer(t *testing.T) {
	output, calls, err := undeploy(t, map[string]string{"crd": crd, "rounds": strings.Repeat("1\n", 1000)}, "UNDEPLOY_TIMEOUT=1")
	require.Error(t, err)
	assert.Equal(t, []string{deleteAts}, calls)
	assert.Contains(t, output, "undeploy.sh: after 1 seconds these are not gone, and the manager was left installed:\nat quay/kettle\nsee whether it runs, with kubectl get pods -n cnat-system, and call this again")
}

func TestWhatIsInstalledHalfIsUninstalled(t *testing.T) {
	output, calls, err := undeploy(t, nil)
	require.NoError(t, err, output)
	assert.Equal(t, []string{deleteManager, deleteRoles, deleteReaders, deleteRole}, calls, "there is no CRD, and so there are no Ats")
}

func TestNothingIsDeletedWhenTheAtsAreUnknown(t *testing.T) {
	_, calls, err := undeploy(t, map[string]string{"crd": crd, "refused": ""})
	require.Error(t, err, "kubectl could not read the CRD, and there may be Ats")
	assert.Empty(t, calls)
}
