package behaviour

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	testclock "k8s.io/utils/clock/testing"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	client "example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/typed/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// env is what one case runs in: a namespace, and a time. Its methods are what
// happens there, by the hand of users and of the cluster.
type env struct {
	t         *testing.T
	suite     *suite
	namespace string
	client    kubernetes.Interface // the administrator
	ats       client.AtInterface
	pods      *podLog

	// The time moves by a step at each check while the case waits, so that
	// operators come to try again what has failed. In a case whose moments
	// matter it stands still.
	clock  *testclock.FakeClock
	step   time.Duration
	probes int

	failed chan error // of an operator that could not start
}

// All cases begin at ten in the morning of the same day.
const day, morning = "2019-04-12", "10:00:00"

// A step of the time is as little as not to come near the next hour.
const little, still = 50 * time.Millisecond, 0

// moment is a time on that day, such as 11:30:00.
func moment(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, day+"T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func newEnv(t *testing.T, suite *suite) *env {
	t.Helper()
	// The server itself judges whether pods meet the restricted profile.
	namespace, err := suite.cluster.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "env-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return &env{
		t: t, suite: suite, namespace: namespace.Name,
		client: suite.cluster.Client,
		ats:    versioned.NewForConfigOrDie(suite.cluster.Config).CnatV1alpha1().Ats(namespace.Name),
		pods:   watchPods(t, suite.cluster.Client, namespace.Name),
		clock:  testclock.NewFakeClock(moment(morning)),
		step:   little,
		failed: make(chan error, 1),
	}
}

// jump sets the clock.
func (s *env) jump(clock string) { s.clock.SetTime(moment(clock)) }

// create makes an At for a time of the day.
func (s *env) create(name, clock string, change ...func(*cnat.At)) *cnat.At {
	s.t.Helper()
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cnat.AtSpec{Schedule: day + "T" + clock + "Z", Command: "echo YAY"},
	}
	for _, f := range change {
		f(at)
	}
	at, err := s.ats.Create(s.t.Context(), at, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return at
}

// written is the schedule as it is written.
func written(schedule string) func(*cnat.At) {
	return func(at *cnat.At) { at.Spec.Schedule = schedule }
}

func deadline(seconds int64) func(*cnat.At) {
	return func(at *cnat.At) { at.Spec.StartingDeadlineSeconds = &seconds }
}

func (s *env) reschedule(name, clock string) {
	s.t.Helper()
	s.patch(name, fmt.Sprintf(`{"spec":{"schedule":"%sT%sZ"}}`, day, clock))
}

func (s *env) patch(name, patch string, subresource ...string) {
	s.t.Helper()
	_, err := s.ats.Patch(s.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	require.NoError(s.t, err)
}

func (s *env) delete(name string) {
	s.t.Helper()
	require.NoError(s.t, s.ats.Delete(s.t.Context(), name, metav1.DeleteOptions{}))
}

func isProbe(name string) bool { return strings.HasPrefix(name, "probe-") }

// probe makes an At that is due, waits until it is DONE and has let its pod go, and
// does so once more. An operator with one worker has then dealt with all that came
// before the first, and its caches have seen what came of that before the second.
func (s *env) probe() {
	s.t.Helper()
	for range 2 {
		s.probes++
		name := fmt.Sprintf("probe-%d", s.probes)
		s.create(name, "00:00:00")
		s.ends(name+"-pod", 0)
		s.becomes(name, succeeded)
		s.released(name + "-pod")
	}
}

// barrier makes an At that waits, and returns when it does. An operator with one
// worker has then dealt with all that came before, even if its cache of pods is
// stale.
func (s *env) barrier() {
	s.t.Helper()
	s.probes++
	name := fmt.Sprintf("probe-%d", s.probes)
	s.create(name, "23:00:00")
	s.becomes(name, waiting)
}

// pause is how long eventually waits before it checks again.
const pause = 20 * time.Millisecond

// eventually waits until the function reports true. It returns what it saw, for
// the message.
func (s *env) eventually(what string, met func(context.Context) (got any, ok bool)) {
	s.t.Helper()
	deadline := time.After(testcluster.TestTimeout)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		got, ok := s.check(met)
		if ok {
			return
		}
		select {
		case err := <-s.failed:
			require.Fail(s.t, "the operator could not start", "%v", err)
		case <-deadline:
			require.Fail(s.t, "waited in vain for "+what, "in the end there was %v", got)
		case <-tick.C:
		}
		s.clock.Step(s.step)
	}
}

// check gives one check a few seconds.
func (s *env) check(met func(context.Context) (any, bool)) (got any, ok bool) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	return met(ctx)
}
