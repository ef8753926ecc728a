package testcluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// ReadCRDs reads the CRDs in the files of these folders.
func ReadCRDs(t testing.TB, folders ...string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	options := envtest.CRDInstallOptions{Paths: folders, ErrorIfPathMissing: true}
	require.NoError(t, envtest.ReadCRDFiles(&options))
	require.NotEmpty(t, options.CRDs, "no CRD in %s", folders)
	return options.CRDs
}

// InstallCRDs creates or updates the CRDs and waits until the server serves them.
func (c *Cluster) InstallCRDs(t testing.TB, crds ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	_, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{CRDs: crds, MaxTime: TestTimeout})
	require.NoError(t, err)
}
