package bench

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/clientgo"
	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/testcluster"
)

// atOnce is how many workers an operator has, and how many requests the bare
// client makes at the same time.
const atOnce = 8

// operator is one form of the operator.
type operator struct {
	name string
	run  func(ctx context.Context, config *rest.Config, namespace string, clock clock.WithTicker) error
}

var operators = []operator{
	{"clientgo", func(ctx context.Context, config *rest.Config, namespace string, clock clock.WithTicker) error {
		return clientgo.Run(ctx, config, clientgo.Options{Namespace: namespace, Workers: atOnce, Clock: clock})
	}},
	{"controllerruntime", func(ctx context.Context, config *rest.Config, namespace string, clock clock.WithTicker) error {
		return controllerruntime.Run(ctx, config, controllerruntime.Options{Namespace: namespace, Workers: atOnce, Clock: clock, SkipNameValidation: true})
	}},
}

// start runs the operator in the namespace until the function is called that it
// returns, or the benchmark ends. All its requests are counted.
func (o operator) start(b *testing.B, c *stage, namespace string, clock clock.WithTicker) (counted *requests, stop func()) {
	b.Helper()
	counted = &requests{}
	config := rest.CopyConfig(c.Config)
	config.Wrap(counted.wrap)
	_, stop = testcluster.Run(b, func(ctx context.Context) error {
		return o.run(klog.NewContext(ctx, logr.Discard()), config, namespace, clock)
	})
	return counted, stop
}

// sizes are how many Ats there are in each benchmark.
func sizes(b *testing.B) (writes, burst, idle int) {
	b.Helper()
	writes, burst, idle = 200, 5000, 10000
	if size := os.Getenv("AT_BENCH"); size != "" {
		_, err := fmt.Sscanf(size, "%d,%d,%d", &writes, &burst, &idle)
		require.NoError(b, err, "AT_BENCH looks like 200,5000,10000")
	}
	return writes, burst, idle
}

// stage is a cluster that knows Ats.
type stage struct {
	*testcluster.Cluster
	ats versioned.Interface
}

func newStage(b *testing.B) *stage {
	b.Helper()
	c := testcluster.Start(b)
	c.InstallCRDs(b, testcluster.ReadCRDs(b, "../config/crd")...)
	return &stage{Cluster: c, ats: versioned.NewForConfigOrDie(c.Config)}
}

// createAts makes a namespace with Ats in it, all due at the same time.
func (s *stage) createAts(b *testing.B, namespace string, count int, schedule time.Time) {
	b.Helper()
	s.createNamespace(b, namespace)
	forEach(b, count, func(i int) error {
		_, err := s.ats.CnatV1alpha1().Ats(namespace).Create(b.Context(), &cnat.At{
			ObjectMeta: metav1.ObjectMeta{Name: nameOf(i)},
			Spec:       cnat.AtSpec{Schedule: schedule.Format(time.RFC3339), Command: "echo YAY"},
		}, metav1.CreateOptions{})
		return err
	})
}

func (s *stage) createNamespace(b *testing.B, name string) {
	b.Helper()
	_, err := s.Client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(b, err)
}

func nameOf(i int) string { return fmt.Sprintf("at-%05d", i) }

// forEach does it for 0, 1 and so on, some of them at the same time.
func forEach(b *testing.B, count int, do func(i int) error) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range count {
		group.Go(func() error { return do(i) })
	}
	require.NoError(b, group.Wait())
}

// reaches waits until the number is at least that.
func reaches(b *testing.B, what string, want int, number func() int) {
	b.Helper()
	require.Eventually(b, func() bool { return number() >= want }, 5*time.Minute, 50*time.Millisecond, "%s: %d are wanted", what, want)
}
