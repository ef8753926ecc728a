package manager

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	layers "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/settings"
	"example.com/hacking-a-controller/06-shipping/internal/scrape"
	"example.com/hacking-a-controller/testcluster"
)

const pause = 50 * time.Millisecond

// env is a real API server that knows the kinds of both operators. Nothing in it
// runs pods.
type env struct {
	t          *testing.T
	kubeconfig string // the administrator's
	client     client.Client
}

func newEnv(t *testing.T, cluster *testcluster.Cluster) *env {
	t.Helper()
	types, err := newScheme()
	require.NoError(t, err)
	require.NoError(t, clientgoscheme.AddToScheme(types))
	e := &env{t: t, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	e.client, err = client.New(cluster.Config, client.Options{Scheme: types})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(e.kubeconfig, cluster.KubeConfig, 0o600))
	return e
}

func (e *env) namespace(name string) {
	e.t.Helper()
	require.NoError(e.t, e.client.Create(e.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// create makes an At that is due.
func (e *env) create(namespace, name string) {
	e.t.Helper()
	require.NoError(e.t, e.client.Create(e.t.Context(), &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "echo YAY"},
	}))
}

func (e *env) phase(namespace, name string) cnat.AtPhase {
	at := &cnat.At{}
	if err := e.client.Get(e.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, at); err != nil {
		return ""
	}
	return at.Status.Phase
}

// runs waits until an At has its pod, which is created when it is RUNNING.
func (e *env) runs(namespace, name string) {
	e.t.Helper()
	pod := client.ObjectKey{Namespace: namespace, Name: lifecycle.PodName(name)}
	require.Eventually(e.t, func() bool { return e.client.Get(e.t.Context(), pod, &corev1.Pod{}) == nil }, testcluster.TestTimeout, pause, "%s/%s does not run", namespace, name)
	require.Equal(e.t, cnat.Running, e.phase(namespace, name))
}

// layer makes a layer of settings, in which the colour is blue.
func (e *env) layer(namespace string) {
	e.t.Helper()
	require.NoError(e.t, e.client.Create(e.t.Context(), &layers.SettingsLayer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "defaults"},
		Spec:       layers.SettingsLayerSpec{Data: map[string]string{"colour": "blue"}},
	}))
}

// inEffect reports whether the status of the layer has its ConfigMap.
func (e *env) inEffect(namespace string) bool {
	layer := &layers.SettingsLayer{}
	return e.client.Get(e.t.Context(), client.ObjectKey{Namespace: namespace, Name: "defaults"}, layer) == nil && layer.Status.ConfigMap != ""
}

// colour is the one in the ConfigMap that is made of the layers.
func (e *env) colour(namespace string) string {
	made := &corev1.ConfigMap{}
	if e.client.Get(e.t.Context(), client.ObjectKey{Namespace: namespace, Name: settings.ConfigMap}, made) != nil {
		return ""
	}
	return made.Data["colour"]
}

// token is that of a service account, which may do what the rules say.
func (e *env) token(account string, rules ...rbacv1.PolicyRule) string {
	e.t.Helper()
	serviceAccount := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account}}
	for _, object := range []client.Object{
		serviceAccount,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: account}},
		},
	} {
		require.NoError(e.t, e.client.Create(e.t.Context(), object))
	}
	request := &authenticationv1.TokenRequest{}
	require.NoError(e.t, e.client.SubResource("token").Create(e.t.Context(), serviceAccount, request))
	return request.Status.Token
}

// process is a manager that runs.
type process struct {
	t               *testing.T
	command         *exec.Cmd
	done            chan struct{} // closed when it has ended
	output          testcluster.Output
	metrics, health string // addresses
}

// start starts a manager with ports of its own. Later flags win over the first.
func (e *env) start(args ...string) *process {
	e.t.Helper()
	metrics, err := scrape.FreeAddress(e.t.Context())
	require.NoError(e.t, err)
	health, err := scrape.FreeAddress(e.t.Context())
	require.NoError(e.t, err)
	self, err := os.Executable()
	require.NoError(e.t, err)
	p := &process{t: e.t, done: make(chan struct{}), metrics: metrics, health: health}
	p.command = exec.Command(self, append([]string{
		"--kubeconfig=" + e.kubeconfig, "--metrics-bind-address=" + p.metrics, "--health-bind-address=" + p.health, "--leader-election-namespace=default", "--region=coast",
	}, args...)...)
	p.command.Env = append(os.Environ(), runAsManager+"=1", "POD_NAME="+p.metrics)
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	require.NoError(e.t, p.command.Start())
	go func() { _ = p.command.Wait(); close(p.done) }()
	e.t.Cleanup(func() { p.signal(syscall.SIGKILL) })
	return p
}

// signal sends a signal that ends the process, and waits until it has ended. It
// returns the exit code.
func (p *process) signal(s syscall.Signal) int {
	p.t.Helper()
	_ = p.command.Process.Signal(s)
	return p.exitCode()
}

func (p *process) exitCode() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(testcluster.TestTimeout):
		require.Fail(p.t, "the manager does not end", p.output.String())
	}
	return p.command.ProcessState.ExitCode()
}

// ready waits until the manager says that it is.
func (p *process) ready() {
	p.t.Helper()
	p.until(func() bool { code, _ := p.get("http://"+p.health+"/readyz", ""); return code == http.StatusOK })
}

// until waits for something that the manager does. One that has ended does nothing more.
func (p *process) until(met func() bool) {
	p.t.Helper()
	ended := func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}
	require.Eventually(p.t, func() bool { return met() || ended() }, testcluster.TestTimeout, pause)
	require.False(p.t, ended(), "the manager has ended: %s", &p.output)
}

// get returns the status code and the body; 0 when there is no answer.
func (p *process) get(url, token string) (int, string) {
	// luck: a try of many
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	code, body, err := scrape.Get(ctx, url, token)
	if err != nil {
		return 0, err.Error()
	}
	return code, body
}

func (p *process) scrape(token string) (int, string) {
	return p.get("https://"+p.metrics+"/metrics", token)
}
