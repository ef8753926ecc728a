package faults

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// nobody is a user without any rights. A test that root runs becomes this user;
// one that another user runs has no rights anyway.
const nobody = 65534

func TestAnUnprivilegedUser(t *testing.T) {
	lab, err := labtest.New()
	require.NoError(t, err)
	home := filepath.Dir(lab.Dir)
	lab.Env = []string{"HOME=" + home}
	if os.Geteuid() == 0 {
		lab.Attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		lab.Program = filepath.Join(home, "lab-binary") // who knows who may read the clone
		binary, err := labtest.Binary()
		require.NoError(t, err)
		testenv.CopyProgram(t, binary, lab.Program)
		require.NoError(t, os.Chown(home, nobody, nobody))
	}
	t.Cleanup(func() { assert.NoError(t, lab.Remove()) })

	lab.Run(t, "up")
	expectPodRuns(t, lab, "unprivileged")
	// As the restricted profile wants it: not root, whoever that is here.
	lab.Kubectl(t, "run", "restricted", "--image=busybox", "--restart=Never",
		`--overrides={"spec":{"securityContext":{"runAsNonRoot":true,"runAsUser":1234}}}`, "--command", "--",
		"sh", "-c", "cat \"$LAB_ROOT\"/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/restricted", labtest.TimeoutFlag)
	assert.Equal(t, "default", lab.Kubectl(t, "logs", "restricted"))
}
