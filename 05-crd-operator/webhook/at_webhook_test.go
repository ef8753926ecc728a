package webhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// cases are namespaces, by name, and why each takes no new Ats. Both forms of the rule,
// and the function without a server, have the same opinion of them.
var cases = map[string]struct {
	annotations map[string]string
	want        string
}{
	"open":      {},
	"annotated": {annotations: map[string]string{"example.com/closed": "by somebody else"}},
	"harbour": {
		annotations: map[string]string{Closed: "stocktaking until Monday"},
		want:        `the namespace harbour takes no new Ats: its annotation cnat.programming-kubernetes.info/closed says "stocktaking until Monday"; create the At in another namespace, or remove the annotation`,
	},
	"tacit": {
		annotations: map[string]string{Closed: ""},
		want:        `the namespace tacit takes no new Ats: its annotation cnat.programming-kubernetes.info/closed says ""; create the At in another namespace, or remove the annotation`,
	},
}

func TestValidate(t *testing.T) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := validate(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: tc.annotations}})
			if tc.want == "" {
				assert.NoError(t, err)
			} else {
				require.Error(t, err, "the annotation is there, whatever its value is")
				assert.EqualError(t, err, tc.want)
			}
		})
	}
}

func TestWithoutItsNamespaceAnAtIsRefused(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the server is down")
	})
	_, err := AtValidator{client}.ValidateCreate(t.Context(), at("harbour"))
	require.Error(t, err, "nobody knows whether the namespace is closed")
	assert.EqualError(t, err, "reading the namespace of the At: the server is down")
}

// Each request that needs an answer fails while the webhook is down. The operator's own are none of them.
func TestWhatTheWebhookIsAskedFor(t *testing.T) {
	content, err := os.ReadFile("../config/webhook/manifests.yaml")
	require.NoError(t, err)
	var configuration admissionv1.ValidatingWebhookConfiguration
	require.NoError(t, yaml.UnmarshalStrict(content, &configuration))
	require.Len(t, configuration.Webhooks, 1)
	hook := configuration.Webhooks[0]
	assert.Equal(t, []admissionv1.OperationType{admissionv1.Create}, hook.Rules[0].Operations, "what is stored already needs no answer")
	assert.Equal(t, new(admissionv1.Fail), hook.FailurePolicy, "a rule that ends with its program is none")
	assert.LessOrEqual(t, *hook.TimeoutSeconds, int32(5), "somebody waits for the answer")
}

func TestOneCluster(t *testing.T) {
	c := testcluster.Start(t)
	t.Run("it does not start without its right, or a certificate", func(t *testing.T) { doesNotStart(t, c) })
	t.Run("the webhook and the policy have one opinion", func(t *testing.T) { bothForms(t, c) })
}

// bothForms has Ats judged by the webhook, and after it by the policy, or before.
func bothForms(t *testing.T, c *testcluster.Cluster) {
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	for name, tc := range cases {
		_, err := c.Client.CoreV1().Namespaces().Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: tc.annotations}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	ats := versioned.NewForConfigOrDie(c.Config).CnatV1alpha1().Ats
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	// becomes waits: the server learns of a rule a moment later.
	becomes := func(t *testing.T, want string) {
		require.EventuallyWithT(t, func(tick *assert.CollectT) {
			_, err := ats("harbour").Create(t.Context(), at("new"), dry)
			assert.Equal(tick, want, reason(err))
		}, testcluster.TestTimeout, 20*time.Millisecond)
	}
	admission := c.Client.AdmissionregistrationV1()
	for name, form := range map[string]struct {
		install func(*testing.T, *testcluster.Cluster)
		remove  func(context.Context, string, metav1.DeleteOptions) error
	}{
		"webhook": {startWebhook, admission.ValidatingWebhookConfigurations().Delete},
		"policy": {
			func(t *testing.T, c *testcluster.Cluster) {
				c.Kubectl(t, "create", "-f", "../config/webhook/policy.yaml")
			},
			admission.ValidatingAdmissionPolicyBindings().Delete,
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, err := ats("harbour").Create(t.Context(), at("old-"+name), metav1.CreateOptions{})
			require.NoError(t, err, "there is no rule yet")
			form.install(t, c)
			becomes(t, cases["harbour"].want)

			for name, tc := range cases {
				_, err := ats(name).Create(t.Context(), at("new"), dry)
				assert.Equal(t, tc.want, reason(err), "create in %s", name)
				assert.Equal(t, tc.want != "", apierrors.IsForbidden(err), "create in %s: %v", name, err)

				apply := []byte(`{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"name":"applied"},"spec":{"schedule":"2019-04-12T10:12:00Z","command":"echo YAY"}}`)
				_, err = ats(name).Patch(t.Context(), "applied", types.ApplyPatchType, apply, metav1.PatchOptions{FieldManager: "test", DryRun: dry.DryRun})
				assert.Equal(t, tc.want, reason(err), "an apply that creates, in %s", name)
			}

			old.Spec.Command = "echo NAY"
			old, err = ats("harbour").Update(t.Context(), old, metav1.UpdateOptions{})
			require.NoError(t, err, "what is there can be changed")
			old.Status.Phase = cnat.Done
			_, err = ats("harbour").UpdateStatus(t.Context(), old, metav1.UpdateOptions{})
			require.NoError(t, err, "and its status written")
			require.NoError(t, ats("harbour").Delete(t.Context(), old.Name, metav1.DeleteOptions{}), "and deleted")

			require.NoError(t, form.remove(t.Context(), "cnat-closed-namespaces", metav1.DeleteOptions{}))
			becomes(t, "")
		})
	}
}

// startWebhook starts it as in the lab: at a URL, with a certificate of its own making.
// Its configuration is the generated one, and it has the rights of its role.
func startWebhook(t *testing.T, c *testcluster.Cluster) {
	o := envtest.WebhookInstallOptions{
		Paths:            []string{"../config/webhook/manifests.yaml"},
		LocalServingHost: "127.0.0.1",
		MaxTime:          testcluster.TestTimeout,
	}
	// This puts a URL with a free port where the service was.
	require.NoError(t, o.PrepWithoutInstalling())
	t.Cleanup(func() { assert.NoError(t, o.Cleanup()) })
	dir := filepath.Join(t.TempDir(), "certs")
	require.NoError(t, selfSign(o.LocalServingHost, dir))
	key, err := os.Stat(filepath.Join(dir, "tls.key"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), key.Mode().Perm())
	bundle, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	require.NoError(t, err)
	o.ValidatingWebhooks[0].Webhooks[0].ClientConfig.CABundle = bundle
	require.NoError(t, o.Install(c.Config))

	config := c.User(t, "webhook", testcluster.Rules(t, "../config/webhook/role.yaml"))
	testcluster.Run(t, func(ctx context.Context) error {
		return Run(ctx, config, webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: dir})
	})
}

func at(name string) *cnat.At {
	return &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "echo YAY"},
	}
}

// reason is what either form says, without who says it.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return regexp.MustCompile(`^.* denied (the )?request: `).ReplaceAllString(err.Error(), "")
}

func doesNotStart(t *testing.T, c *testcluster.Cluster) {
	err := Run(t.Context(), c.User(t, "nobody", nil), webhook.Options{})
	require.ErrorContains(t, err, `cannot get resource "namespaces"`)
	require.ErrorContains(t, err, "; ask an administrator for that verb on that resource")

	empty := t.TempDir()
	err = Run(t.Context(), c.Config, webhook.Options{CertDir: empty})
	require.EqualError(t, err, "loading the certificate: open "+empty+"/tls.crt: no such file or directory; name its folder with --cert-dir, or make one with --self-signed")

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, Run(interrupted, c.Config, webhook.Options{CertDir: empty}), "Ctrl-C is no error")
}

// What lies in a folder for a year has expired, or was made halfway.
func TestACertificateThatNobodyWouldAcceptIsRefused(t *testing.T) {
	for want, spoil := range map[string]func(dir string) error{
		"": func(string) error { return nil },
		"tls.crt expired at 2": func(dir string) error {
			writeCertificate(t, dir, time.Now().Add(-24*time.Hour))
			return nil
		},
		"must be supplied as a pair": func(dir string) error { return os.Remove(filepath.Join(dir, "tls.key")) },
	} {
		dir := t.TempDir()
		writeCertificate(t, dir, time.Now().Add(time.Hour))
		require.NoError(t, spoil(dir))
		before, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
		require.NoError(t, err)
		if err = selfSign("127.0.0.1", dir); err == nil {
			err = checkCertificate(webhook.Options{Host: "127.0.0.1", CertDir: dir})
		}
		after, readErr := os.ReadFile(filepath.Join(dir, "tls.crt"))
		require.NoError(t, readErr)
		assert.Equal(t, before, after, "nothing is thrown away")
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "the certificate cannot be used: ")
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "; remove tls.crt and tls.key in "+dir)
	}
}

func writeCertificate(t *testing.T, dir string, until time.Time) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "PRIVATE KEY", Bytes: encoded}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&block), 0o600))
	}
}
