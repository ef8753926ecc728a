package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
)

// startOperator starts this program as the operator of the namespace.
func (e *env) startOperator() {
	e.Helper()
	program, err := os.Executable()
	require.NoError(e, err)
	log, err := os.OpenFile(e.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(e, err)
	defer log.Close()
	e.operator = exec.Command(program, "--kubeconfig", e.operatorKubeconfig(), "--namespace", e.namespace, "--image", e.image, "--service-type", "NodePort")
	e.operator.Env = append(os.Environ(), asOperator+"=yes")
	e.operator.Stdout, e.operator.Stderr = log, log
	require.NoError(e, e.operator.Start())
}

// killOperator ends it with SIGKILL.
func (e *env) killOperator() {
	e.Helper()
	require.NoError(e, e.operator.Process.Kill())
	_ = e.operator.Wait() // an error says that it was killed
	e.operator = nil
}

// stopOperator ends it as Ctrl-C does.
func (e *env) stopOperator() {
	e.Helper()
	if e.operator == nil {
		return
	}
	require.NoError(e, e.operator.Process.Signal(syscall.SIGTERM))
	late := time.AfterFunc(testcluster.TestTimeout, func() { _ = e.operator.Process.Kill() })
	defer late.Stop()
	require.NoError(e, e.operator.Wait(), "the operator's log:\n%s", e.operatorLog())
	assert.NotContains(e, e.operatorLog(), "DATA RACE")
	e.operator = nil
}

func (e *env) logFile() string { return filepath.Join(e.folder, "operator.log") }

func (e *env) operatorLog() string {
	content, err := os.ReadFile(e.logFile())
	if err != nil {
		return err.Error()
	}
	return string(content)
}
