package pki

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

const server, faults = "https://127.0.0.1:1", "https://127.0.0.1:2"

// lasting are the files that a start keeps. All others it makes again in any case.
func lasting(l layout.Layout) []string {
	return []string{
		l.Cert(CA), l.Key(CA), l.Cert(EtcdCA), l.Key(EtcdCA), l.Cert(FrontProxyCA), l.Key(FrontProxyCA), l.Key(ServiceAccount),
	}
}

func TestAStartReplacesEachFileThat(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			l := create(t)
			require.NoError(t, WriteKubeconfigs(l, server, faults))
			for _, file := range lasting(l) {
				testenv.Damage(t, file, damage)
				expectReplaced(t, l, file)
			}
			others := []string{l.AdminKubeconfig()}
			entries, err := os.ReadDir(l.Join("pki"))
			require.NoError(t, err)
			for _, entry := range entries {
				others = append(others, l.Join("pki", entry.Name()))
			}
			for _, file := range others {
				if !slices.Contains(lasting(l), file) {
					testenv.Damage(t, file, damage)
				}
			}
			expectReplaced(t, l)
		})
	}
}

// A lab of ten years ago, and one that was made while the clock was ahead.
func TestAStartReplacesAnAuthorityThatIsNotValidNow(t *testing.T) {
	for name, begin := range map[string]time.Duration{"it has expired": -authorityLife - time.Hour, "it is not valid yet": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			l := create(t)
			for _, name := range []string{CA, EtcdCA, FrontProxyCA} {
				a, err := loadAuthority(l.Cert(name), l.Key(name))
				require.NoError(t, err)
				template := *a.cert
				template.NotBefore, template.NotAfter = time.Now().Add(begin), time.Now().Add(begin+authorityLife)
				der, err := x509.CreateCertificate(rand.Reader, &template, &template, a.key.Public(), a.key)
				require.NoError(t, err)
				require.NoError(t, writePair(l.Cert(name), l.Key(name), der, a.key))
			}
			sentences := createAgain(t, l)
			require.NoError(t, WriteKubeconfigs(l, server, faults))
			expectWhole(t, l)
			require.Len(t, sentences, 3)
			for _, sentence := range sentences {
				assert.Regexp(t, `/pki/\S+ is valid from .* to .*, and the clock says .*: the lab gets a new authority`, sentence)
			}
			assert.Empty(t, createAgain(t, l), "once")
		})
	}
}

// expectReplaced starts a lab and expects a sentence for each file.
func expectReplaced(t *testing.T, l layout.Layout, files ...string) {
	t.Helper()
	sentences := createAgain(t, l)
	require.NoError(t, WriteKubeconfigs(l, server, faults))
	expectWhole(t, l)
	require.Len(t, sentences, len(files))
	for i, file := range files {
		assert.Contains(t, sentences[i], file+" is empty, cut off or overwritten")
		require.NoError(t, os.Remove(file+".broken"))
	}
}

// expectWhole checks that every certificate is its authority's, has its key, and that
// the kubeconfigs are complete.
func expectWhole(t *testing.T, l layout.Layout) {
	t.Helper()
	for authority, leaves := range map[string][]string{
		CA:           {APIServer, ControllerManager, Scheduler, Kubelet, Admin, ControllerManagerClient, SchedulerClient, KubeletClientOfAPI, KubeletClient},
		EtcdCA:       {Etcd, EtcdClient},
		FrontProxyCA: {FrontProxyClient},
	} {
		roots := x509.NewCertPool()
		roots.AddCert(certificate(t, l, authority))
		for _, leaf := range leaves {
			_, err := certificate(t, l, leaf).Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
			require.NoError(t, err, leaf)
			_, err = tls.LoadX509KeyPair(l.Cert(leaf), l.Key(leaf))
			require.NoError(t, err, leaf)
		}
	}
	_, err := readPEM(l.Key(ServiceAccount), x509.ParseECPrivateKey)
	require.NoError(t, err)
	for file, want := range map[string]struct{ leaf, server string }{
		l.AdminKubeconfig():             {Admin, server},
		l.Kubeconfig(ControllerManager): {ControllerManagerClient, server},
		l.Kubeconfig(Scheduler):         {SchedulerClient, server},
		l.Kubeconfig(Kubelet):           {KubeletClientOfAPI, server},
		l.Kubeconfig(FaultProxy):        {Admin, faults},
	} {
		config, err := clientcmd.BuildConfigFromFlags("", file)
		require.NoError(t, err)
		assert.Equal(t, want.server, config.Host, file)
		assert.Equal(t, read(t, l.Cert(CA)), string(config.CAData), file)
		assert.Equal(t, read(t, l.Cert(want.leaf)), string(config.CertData), file)
		assert.Equal(t, read(t, l.Key(want.leaf)), string(config.KeyData), file)
	}
}

// A start that ended between the two writes leaves the key of a new authority with the
// certificate of the old one.
func TestAKeyOfAnotherAuthorityIsReplaced(t *testing.T) {
	l := create(t)
	other := read(t, l.Key(EtcdCA))
	require.NoError(t, os.WriteFile(l.Key(CA), []byte(other), 0o600))
	expectReplaced(t, l, l.Key(CA))
}

func TestWhatTheUserIsToldAboutANewServiceAccountKey(t *testing.T) {
	l := create(t)
	require.NoError(t, os.WriteFile(l.Key(ServiceAccount), nil, 0o600))
	assert.Equal(t, []string{l.Key(ServiceAccount) + " is empty, cut off or overwritten; it is now service-account.key.broken: " +
		"tokens of service accounts are signed with a new key. Pods get new tokens when they start; a token that you keep elsewhere has to be made again"},
		createAgain(t, l))
}

func TestOnAFullDiskEveryFileStaysWhole(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		l := create(t)
		require.NoError(t, WriteKubeconfigs(l, server, faults))
		fill()
		_, err := Create(l, "some-node", "10.96.0.1")
		require.ErrorContains(t, err, l.Join("pki"))
		require.ErrorContains(t, err, "is full")
		require.ErrorContains(t, WriteKubeconfigs(l, server, faults), "is full")
		expectWhole(t, l)
	})
}
