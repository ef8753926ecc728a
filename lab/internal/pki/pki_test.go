package pki

import (
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/hacking-a-controller/lab/internal/layout"
)

func create(t *testing.T) layout.Layout {
	t.Helper()
	l, err := layout.New(filepath.Join(t.TempDir(), "a lab"))
	require.NoError(t, err)
	require.NoError(t, l.Create())
	createAgain(t, l)
	return l
}

// createAgain is what every start of the lab does. It returns what the user is told.
func createAgain(t *testing.T, l layout.Layout) []string {
	t.Helper()
	sentences, err := Create(l, "some-node", "10.96.0.1")
	require.NoError(t, err)
	return sentences
}

func TestAuthoritiesSignOnlyWhatIsTheirs(t *testing.T) {
	l := create(t)
	for name, tc := range map[string]struct {
		authority string
		leaves    []string
		usage     x509.ExtKeyUsage
	}{
		"servers of the cluster":       {CA, []string{APIServer, ControllerManager, Scheduler, Kubelet}, x509.ExtKeyUsageServerAuth},
		"clients of the cluster":       {CA, []string{Admin, ControllerManagerClient, SchedulerClient, KubeletClientOfAPI, KubeletClient}, x509.ExtKeyUsageClientAuth},
		"etcd":                         {EtcdCA, []string{Etcd}, x509.ExtKeyUsageServerAuth},
		"clients of etcd":              {EtcdCA, []string{EtcdClient}, x509.ExtKeyUsageClientAuth},
		"the proxy for extension APIs": {FrontProxyCA, []string{FrontProxyClient}, x509.ExtKeyUsageClientAuth},
	} {
		t.Run(name, func(t *testing.T) {
			for _, leaf := range tc.leaves {
				for _, authority := range []string{CA, EtcdCA, FrontProxyCA} {
					roots := x509.NewCertPool()
					roots.AddCert(certificate(t, l, authority))
					_, err := certificate(t, l, leaf).Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{tc.usage}})
					if authority == tc.authority {
						assert.NoError(t, err, "%s by %s", leaf, authority)
					} else {
						assert.Error(t, err, "%s by %s", leaf, authority)
					}
				}
			}
		})
	}
}

// The names are those that Kubernetes binds its built-in roles to.
func TestUsersAndGroups(t *testing.T) {
	l := create(t)
	for name, want := range map[string]struct {
		user   string
		groups []string
	}{
		Admin:                   {"kubernetes-admin", []string{"system:masters"}},
		ControllerManagerClient: {"system:kube-controller-manager", nil},
		SchedulerClient:         {"system:kube-scheduler", nil},
		KubeletClientOfAPI:      {"system:node:some-node", []string{"system:nodes"}},
	} {
		cert := certificate(t, l, name)
		assert.Equal(t, want.user, cert.Subject.CommonName)
		assert.Equal(t, want.groups, cert.Subject.Organization)
	}
}

func TestTheAPIServerIsCalledByItsNames(t *testing.T) {
	cert := certificate(t, create(t), APIServer)
	for _, host := range []string{"127.0.0.1", "localhost", "10.96.0.1", "kubernetes.default.svc"} {
		require.NoError(t, cert.VerifyHostname(host))
	}
	assert.Error(t, cert.VerifyHostname("example.com"))
}

func TestCreateAgainKeepsWhatOthersRelyOn(t *testing.T) {
	l := create(t)
	kept := []string{l.Cert(CA), l.Key(CA), l.Cert(EtcdCA), l.Cert(FrontProxyCA), l.Key(ServiceAccount)}
	before := map[string]string{}
	for _, file := range append(kept, l.Cert(Admin)) {
		before[file] = read(t, file)
	}
	assert.Empty(t, createAgain(t, l))
	for _, file := range kept {
		assert.Equal(t, before[file], read(t, file), file)
	}
	assert.NotEqual(t, before[l.Cert(Admin)], read(t, l.Cert(Admin)), "leaves are renewed, so they never expire")
}

func TestOnlyTheOwnerCanReadTheFiles(t *testing.T) {
	l := create(t)
	require.NoError(t, WriteKubeconfigs(l, server, faults))
	err := filepath.WalkDir(l.Root(), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	})
	require.NoError(t, err)
}

// kind, gcloud and kubectl config write into the file that $KUBECONFIG names.
func TestAStartKeepsWhatOthersHaveWrittenIntoTheKubeconfig(t *testing.T) {
	l := create(t)
	require.NoError(t, WriteKubeconfigs(l, server, faults))
	config, err := clientcmd.LoadFromFile(l.AdminKubeconfig())
	require.NoError(t, err)
	config.Contexts[Context].Namespace, config.Contexts[Context].AuthInfo = "shop", "kind"
	config.Clusters["kind"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:2"}
	config.AuthInfos["kind"] = &clientcmdapi.AuthInfo{Token: "secret"}
	config.Contexts["kind"] = &clientcmdapi.Context{Cluster: "kind", AuthInfo: "kind"}
	config.CurrentContext = "kind"
	require.NoError(t, clientcmd.WriteToFile(*config, l.AdminKubeconfig()))

	createAgain(t, l)
	require.NoError(t, WriteKubeconfigs(l, server, faults))
	expectWhole(t, l)
	config, err = clientcmd.LoadFromFile(l.AdminKubeconfig())
	require.NoError(t, err)
	assert.Equal(t, Context, config.CurrentContext)
	assert.Equal(t, "shop", config.Contexts[Context].Namespace)
	require.Contains(t, config.Contexts, "kind")
	assert.Equal(t, "https://127.0.0.1:2", config.Clusters["kind"].Server)
	assert.Equal(t, "secret", config.AuthInfos["kind"].Token)
}

func certificate(t *testing.T, l layout.Layout, name string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(read(t, l.Cert(name))))
	require.NotNil(t, block, name)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return cert
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}
