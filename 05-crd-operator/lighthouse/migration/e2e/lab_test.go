package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/hacking-a-controller/testcluster"
)

const space = "coast"

// lab is a whole cluster of one node, the programs, and a certificate for the webhook.
type lab struct {
	*testing.T
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	crds     apiextensions.CustomResourceDefinitionInterface
	config   *rest.Config
	folder   string // of the lab
	programs string // the folder
	url      string // of the operator that converts
	bundle   []byte // of its certificate
}

func startLab(t *testing.T) *lab {
	t.Helper()
	// As in testcluster: the lab is a program, too.
	_ = os.Getenv("LAB_INPUTS")
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "lab")
	_, err := os.Stat(program)
	require.NoError(t, err, "these tests need the lab: run `make lab`, then `make test-5 HEAVY=1`, at the root of the repository")
	log.SetLogger(logr.Discard()) // envtest's

	l := &lab{T: t, folder: t.TempDir(), programs: t.TempDir()}
	t.Cleanup(func() { l.command(program, "down", "--now") }) // a start that fails half-way has started half
	l.command(program, "up")
	l.config, err = clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	l.config.QPS = -1
	l.client = kubernetes.NewForConfigOrDie(l.config)
	l.dynamic = dynamic.NewForConfigOrDie(l.config)
	l.crds = apiextensions.NewForConfigOrDie(l.config).CustomResourceDefinitions()
	_, err = l.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}, metav1.CreateOptions{})
	require.NoError(t, err)

	next := filepath.Join(t.TempDir(), "next")
	l.command("sh", "../next.sh", next)
	for name, source := range map[string]string{"operator": "../../operator", "migration": "..", "next": next} {
		l.build(name, source)
	}
	return l
}

func (l *lab) kubeconfig() string { return filepath.Join(l.folder, "kubeconfig") }

// build compiles a program. Go's test cache doesn't know what go build reads, so the test reads it, too.
func (l *lab) build(name, source string) {
	l.Helper()
	files, err := filepath.Glob(filepath.Join(source, "*.go"))
	require.NoError(l, err)
	arguments := []string{"build", "-o", filepath.Join(l.programs, name)}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		_, err := os.ReadFile(file)
		require.NoError(l, err)
		arguments = append(arguments, file)
	}
	l.command("go", arguments...)
}

// command runs a program to its end.
func (l *lab) command(program string, arguments ...string) {
	l.Helper()
	// A short TEST_TIMEOUT is for tests that wait in vain, and not for a slow start.
	ctx, cancel := context.WithTimeout(context.Background(), max(testcluster.TestTimeout, 10*time.Minute))
	defer cancel()
	c := exec.CommandContext(ctx, program, arguments...)
	c.Env = append(os.Environ(), "LAB_DIR="+l.folder, "KUBECONFIG="+l.kubeconfig())
	output, err := c.CombinedOutput()
	require.NoError(l, err, "%s %s: %s", program, strings.Join(arguments, " "), output)
}

// run runs a program of ours to its end.
func (l *lab) run(name string) {
	l.Helper()
	l.command(filepath.Join(l.programs, name))
}

// startOperator starts a release of the operator, and makes it the one that the API server calls.
func (l *lab) startOperator(name string) (stop func()) {
	l.Helper()
	local := envtest.WebhookInstallOptions{LocalServingHost: "127.0.0.1"}
	require.NoError(l, local.PrepWithoutInstalling()) // a free port, and a certificate
	l.Cleanup(func() { assert.NoError(l, local.Cleanup()) })
	output := &testcluster.Output{}
	c := exec.Command(filepath.Join(l.programs, name), // stop ends it
		"-office=http://127.0.0.1:1", "-certs="+local.LocalServingCertDir, "-listen="+local.LocalServingHost, fmt.Sprint("-port=", local.LocalServingPort))
	c.Env = append(os.Environ(), "KUBECONFIG="+l.kubeconfig())
	c.Stdout, c.Stderr = output, output
	require.NoError(l, c.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			assert.NoError(l, c.Process.Signal(syscall.SIGTERM))
			assert.NoError(l, c.Wait(), "%s: %s", name, output)
		}
	}
	l.Cleanup(stop)
	l.becomes(name+" serves", func() error {
		if !strings.Contains(output.String(), "Serving webhook server") {
			return fmt.Errorf("it says: %s", output)
		}
		return nil
	})
	l.bundle, l.url = local.LocalServingCAData, fmt.Sprintf("https://%s:%d/convert", local.LocalServingHost, local.LocalServingPort)
	l.change(func(crd *apiextensionsv1.CustomResourceDefinition) {
		if len(crd.Spec.Versions) > 1 {
			crd.Spec.Conversion = l.byURL()
		}
	})
	return stop
}

func (l *lab) byURL() *apiextensionsv1.CustomResourceConversion {
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &l.url, CABundle: l.bundle},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

// applyCRD installs the CRD of a folder. One with two versions is converted by the operator.
func (l *lab) applyCRD(folder string) {
	l.Helper()
	crd := testcluster.ReadCRDs(l.T, folder)[0]
	if len(crd.Spec.Versions) > 1 {
		crd.Spec.Conversion = l.byURL()
	}
	_, err := envtest.InstallCRDs(l.config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}, MaxTime: testcluster.TestTimeout})
	require.NoError(l, err)
}

// lights are the Lighthouses, in one version.
type lights struct {
	dynamic.ResourceInterface
	ctx context.Context
}

func (l *lab) lights(version string) lights {
	resource := schema.GroupVersionResource{Group: "coast.example.com", Version: version, Resource: "lighthouses"}
	return lights{l.dynamic.Resource(resource).Namespace(space), l.Context()}
}

func (l lights) list() (*unstructured.UnstructuredList, error) {
	return l.List(l.ctx, metav1.ListOptions{})
}
