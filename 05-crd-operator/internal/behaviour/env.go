package behaviour

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	testclock "k8s.io/utils/clock/testing"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	client "example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/typed/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

// env is what one case runs in: a namespace of its own, at ten in the morning.
type env struct {
	t         *testing.T
	suite     *suite
	namespace string
	client    kubernetes.Interface // the administrator
	ats       client.AtInterface
	pods      typedcorev1.PodInterface
	failed    chan error // of an operator that could not start
	fences    int

	mu        sync.Mutex
	operators []*operator // all that were started

	// The time moves by a step at each check while the case waits, so that operators come to
	// try again what has failed. In a case whose moments matter it stands still.
	clock *testclock.FakeClock
	step  time.Duration
}

const day, still = "2019-04-12", 0

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
		pods:   suite.cluster.Client.CoreV1().Pods(namespace.Name),
		clock:  testclock.NewFakeClock(moment("10:00:00")),
		step:   50 * time.Millisecond,
		failed: make(chan error, 1),
	}
}

// jump sets the clock.
func (s *env) jump(clock string) { s.clock.SetTime(moment(clock)) }

// eventually waits until the function reports true. It returns what it saw, for the message.
func (s *env) eventually(what string, met func(context.Context) (got any, ok bool)) {
	s.t.Helper()
	deadline := time.After(testcluster.TestTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
		got, ok := met(ctx)
		cancel()
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

// create creates an At for a time of the day.
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

func (s *env) get(name string) *cnat.At {
	s.t.Helper()
	at, err := s.ats.Get(s.t.Context(), name, metav1.GetOptions{})
	require.NoError(s.t, err)
	return at
}

// fence returns when an operator with one worker has dealt with all that came before: an At that
// is created now waits for its time.
func (s *env) fence() {
	s.t.Helper()
	s.fences++
	name := fmt.Sprintf("fence-%d", s.fences)
	s.create(name, "23:00:00")
	s.becomes(name, waiting)
}

// settle returns when the caches have seen what came of that, too: two Ats, one after the other,
// have come to their end.
func (s *env) settle() {
	s.t.Helper()
	for range 2 {
		s.fences++
		name := fmt.Sprintf("fence-%d", s.fences)
		s.create(name, "00:00:00")
		s.ends(name, 0)
		s.becomes(name, succeeded)
		s.released(name)
	}
}

// What an At comes to, in words.
const (
	waiting   = "PENDING, Scheduled=True Waiting"
	running   = "RUNNING, Scheduled=True Started"
	taken     = "RUNNING, Scheduled=False PodNameTaken"
	lost      = "RUNNING, Scheduled=False PodLabelRemoved"
	notMade   = "RUNNING, Scheduled=False CreationRefused"
	succeeded = "DONE, Complete=True Succeeded, Scheduled=True Started"
	deleted   = "DONE, Failed=True PodDeleted, Scheduled=True Started"
)

// words are the phase and the conditions of an At.
func words(at *cnat.At) string {
	var conditions []string
	for _, c := range at.Status.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(conditions)
	return strings.Join(append([]string{string(at.Status.Phase)}, conditions...), ", ")
}

// becomes waits until the At has come to this.
func (s *env) becomes(name, want string) {
	s.t.Helper()
	s.eventually(name+" to become "+want, func(ctx context.Context) (any, bool) {
		at, err := s.ats.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err, false
		}
		got := words(at)
		return got, got == want
	})
}

// runs waits until the At is RUNNING, and has a pod of its own.
func (s *env) runs(name string) {
	s.t.Helper()
	s.becomes(name, running)
	at := s.get(name)
	s.podIs(name, "to be its own", func(pod *corev1.Pod, err error) bool { return err == nil && metav1.IsControlledBy(pod, at) })
}

// ran are the Ats for which a pod was ever created, each as often as that.
func (s *env) ran(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, o := range s.operators {
		for _, r := range o.all() {
			if r.what == "create pods" && r.code == 201 && !strings.HasPrefix(r.at, "fence-") {
				got = append(got, r.at)
			}
		}
	}
	assert.ElementsMatch(s.t, want, got, "the Ats that a pod was ever created for")
}

// recorded waits until the events about the At are these, each of them once.
func (s *env) recorded(name string, want ...string) {
	s.t.Helper()
	at := s.get(name)
	slices.Sort(want)
	s.eventually(fmt.Sprintf("%s to have the events %v", name, want), func(ctx context.Context) (any, bool) {
		got, err := s.events(ctx, at)
		return got, err == nil && slices.Equal(got, want)
	})
}

// events are the types and reasons of all events about the At, as kubectl describe looks for them.
func (s *env) events(ctx context.Context, at *cnat.At) (all []string, err error) {
	list, err := s.client.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, e := range list.Items {
		if e.Regarding.UID == at.UID && e.Regarding.Name == at.Name && e.Regarding.Kind == "At" && e.ReportingController == lifecycle.Operator && e.Note != "" && e.Series == nil {
			all = append(all, e.Type+" "+e.Reason)
		} else if e.Regarding.UID == at.UID {
			all = append(all, fmt.Sprintf("%+v", e))
		}
	}
	slices.Sort(all)
	return all, nil
}

// pod waits until there is a pod of this At, or of its name.
func (s *env) pod(at string) (pod *corev1.Pod) {
	s.t.Helper()
	return s.podIs(at, "to exist", func(_ *corev1.Pod, err error) bool { return err == nil })
}

// podIs waits until what the server says of a pod is so.
func (s *env) podIs(at, what string, so func(*corev1.Pod, error) bool) (pod *corev1.Pod) {
	s.t.Helper()
	s.eventually("the pod of "+at+" "+what, func(ctx context.Context) (any, bool) {
		var err error
		pod, err = s.pods.Get(ctx, at+"-pod", metav1.GetOptions{})
		return fmt.Sprint(pod.Finalizers, err), so(pod, err)
	})
	return pod
}

// foreignPod creates a pod that has the name of the At's, and is not its own.
func (s *env) foreignPod(at string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: at + "-pod"}, Spec: lifecycle.DesiredPod(&cnat.At{}, lifecycle.DefaultImage).Spec}
	for _, f := range change {
		f(pod)
	}
	pod, err := s.pods.Create(s.t.Context(), pod, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return pod
}

// patchPod waits until there is such a pod, and patches it.
func (s *env) patchPod(at, patch string, subresource ...string) {
	s.t.Helper()
	pod := s.pod(at)
	_, err := s.pods.Patch(s.t.Context(), pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	require.NoError(s.t, err)
}

// deletePod waits until there is such a pod, and deletes it.
func (s *env) deletePod(at string) {
	s.t.Helper()
	require.NoError(s.t, s.pods.Delete(s.t.Context(), s.pod(at).Name, metav1.DeleteOptions{}))
}

// ends is what a kubelet reports when the command of a pod has ended.
func (s *env) ends(at string, exitCode int) {
	s.t.Helper()
	phase := corev1.PodSucceeded
	if exitCode != 0 {
		phase = corev1.PodFailed
	}
	s.patchPod(at, fmt.Sprintf(`{"status":{"phase":%q,"containerStatuses":[{"name":"command","image":"busybox","imageID":"","restartCount":0,"ready":false,
		"state":{"terminated":{"exitCode":%d,"finishedAt":"%sT11:30:00Z"}}}]}}`, phase, exitCode, day), "status")
}

// gone waits until there is no pod of this name.
func (s *env) gone(at string) {
	s.t.Helper()
	s.podIs(at, "to vanish", func(_ *corev1.Pod, err error) bool { return apierrors.IsNotFound(err) })
}

// released waits until the operator has let the pod go, with its finalizer.
func (s *env) released(at string) {
	s.t.Helper()
	s.podIs(at, "to be let go", func(pod *corev1.Pod, err error) bool {
		return apierrors.IsNotFound(err) || err == nil && !slices.Contains(pod.Finalizers, lifecycle.Finalizer)
	})
}
