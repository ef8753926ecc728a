package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
)

// TestInstallation installs the operator as people do, has it make a cluster, and replaces both of
// its pods.
func TestInstallation(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	e.killOperator()
	e.install()
	e.create(name, postgres.PostgresClusterSpec{Size: 2})
	e.settles()
	leader := e.leader()
	e.system("rollout", "restart", "deployment/postgres-operator")
	e.system("rollout", "status", "deployment/postgres-operator", timeout)
	eventually(t, "the other operator is the leader", func() error {
		if now := e.leader(); now == "" || now == leader {
			return errors.New("it is " + now)
		}
		return nil
	})
	e.kubectl("scale", "postgrescluster", name, "--replicas=3")
	e.settles()
	e.deleteCluster()
	_, err := e.output("kubectl", "delete", "namespace", "postgres-system", timeout)
	require.NoError(t, err)
}

// install applies config/ with this image. It is for this namespace only, because other tests have
// operators of their own.
func (e *env) install() {
	e.Helper()
	manifest, err := e.output("kubectl", "kustomize", "../config")
	require.NoError(e, err)
	for before, after := range map[string]string{"postgres-member:17": e.image, "- --all-namespaces": "- --namespace=" + e.namespace} {
		require.Contains(e, manifest, before)
		manifest = strings.ReplaceAll(manifest, before, after)
	}
	file := filepath.Join(e.folder, "installation.yaml")
	require.NoError(e, os.WriteFile(file, []byte(manifest), 0o600))
	_, err = e.output("kubectl", "apply", "-f", file)
	require.NoError(e, err)
	e.system("rollout", "status", "deployment/postgres-operator", timeout)
}

// system runs kubectl in the namespace of the installation.
func (e *env) system(args ...string) string {
	e.Helper()
	output, err := e.output("kubectl", append([]string{"--namespace", "postgres-system"}, args...)...)
	require.NoError(e, err)
	return output
}

// leader is who holds the operators' Lease.
func (e *env) leader() string {
	e.Helper()
	return e.system("get", "lease", "postgres-operator", "-o", "jsonpath={.spec.holderIdentity}")
}
