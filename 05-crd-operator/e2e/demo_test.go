package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// demoAfterCtrlC runs lesson/demo.sh while the sample of an earlier run is RUNNING: only an
// operator removes the finalizer of its pod. The script works in the default namespace.
func demoAfterCtrlC(t *testing.T, l *lab) {
	const script = "../lesson/demo.sh"
	_, err := os.ReadFile(script) // for Go's test cache
	require.NoError(t, err)

	ats := versioned.NewForConfigOrDie(l.config).CnatV1alpha1().Ats("default")
	at, err := ats.Create(t.Context(), &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: "example-at"},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "sleep 600"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	at.Status.Phase = cnat.Running
	at, err = ats.UpdateStatus(t.Context(), at, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = l.client.CoreV1().Pods("default").Create(t.Context(), lifecycle.DesiredPod(at, lifecycle.DefaultImage), metav1.CreateOptions{})
	require.NoError(t, err)

	demo := exec.CommandContext(t.Context(), "sh", script, filepath.Join(l.programs, "clientgo"))
	demo.Env = append(os.Environ(), "KUBECONFIG="+l.kubeconfig, "PATH="+os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
	output, err := demo.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "\nYAY\n")
}
