package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	// What the programs are made of.
	_ "example.com/hacking-a-controller/05-crd-operator/clientgo"
	_ "example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	_ "example.com/hacking-a-controller/05-crd-operator/settings"
	"example.com/hacking-a-controller/testcluster"
)

// lab is a whole cluster of one node, and the operators' programs.
type lab struct {
	config     *rest.Config // the administrator
	client     kubernetes.Interface
	programs   string // the folder
	kubeconfig string // the administrator's
}

// startLab starts a lab that ends with the test.
func startLab(t *testing.T) *lab {
	t.Helper()
	// As in testcluster: the lab is a program, too.
	_ = os.Getenv("LAB_INPUTS")
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "lab")
	_, err := os.Stat(program)
	require.NoError(t, err, "these tests need the lab: run `make lab`, then `make test-5`, at the root of the repository")
	log.SetLogger(logr.Discard()) // envtest's

	dir := t.TempDir()
	command := func(name string) {
		// A short TEST_TIMEOUT is for tests that wait in vain, and not for a slow start.
		ctx, cancel := context.WithTimeout(context.Background(), max(testcluster.TestTimeout, 5*time.Minute))
		defer cancel()
		c := exec.CommandContext(ctx, program, name)
		c.Env = append(os.Environ(), "LAB_DIR="+dir)
		output, err := c.CombinedOutput()
		assert.NoError(t, err, "lab %s: %s", name, output)
	}
	// A start that fails half-way has started half.
	t.Cleanup(func() { command("down") })
	command("up")

	l := &lab{programs: t.TempDir(), kubeconfig: filepath.Join(dir, "kubeconfig")}
	l.config, err = clientcmd.BuildConfigFromFlags("", l.kubeconfig)
	require.NoError(t, err)
	l.config.QPS = -1
	l.client = kubernetes.NewForConfigOrDie(l.config)
	_, err = envtest.InstallCRDs(l.config, envtest.CRDInstallOptions{Paths: []string{"../config/crd"}, ErrorIfPathMissing: true, MaxTime: testcluster.TestTimeout})
	require.NoError(t, err)

	// Go's test cache does not know what go build reads. So the rest of it is imported
	// above.
	for _, operator := range []string{"clientgo", "controllerruntime", "settings"} {
		_, err := os.ReadFile(filepath.Join("../cmd", operator, "main.go"))
		require.NoError(t, err)
		l.createUser(t, operator)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", l.programs, "../cmd/...")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return l
}

// createUser gives a user the role of an operator, and makes a kubeconfig in which the administrator acts as that user.
func (l *lab) createUser(t *testing.T, operator string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: operator}
	_, err := l.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: meta,
		Rules:      testcluster.Rules(t, "../config/rbac/"+operator+".yaml"),
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = l.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: operator},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	kubeconfig, err := clientcmd.LoadFromFile(l.kubeconfig)
	require.NoError(t, err)
	for _, user := range kubeconfig.AuthInfos {
		user.Impersonate = operator
	}
	require.NoError(t, clientcmd.WriteToFile(*kubeconfig, l.kubeconfigOf(operator)))
}

func (l *lab) kubeconfigOf(operator string) string {
	return filepath.Join(l.programs, operator+".kubeconfig")
}
