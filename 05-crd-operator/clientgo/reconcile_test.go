package clientgo

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/clientgo/queue"
)

const (
	create  = "create pods"
	get     = "get pods"
	running = "update ats/status RUNNING after version 1"
	done    = "update ats/status DONE after version 1"
	pending = "update ats/status PENDING after version 1"
)

func TestAPassDoesOneThing(t *testing.T) {
	at := func(phase cnat.AtPhase) *cnat.At {
		at := newAt()
		at.Status.Phase = phase
		return at
	}
	foreign := newPod()
	foreign.OwnerReferences = nil
	later := newAt()
	later.Spec.Schedule = noon.Add(time.Hour).Format(time.RFC3339)

	tests := map[string]struct {
		at      *cnat.At
		pod     *corev1.Pod // in the cache
		served  *corev1.Pod // on the server
		started bool        // says the memory
		want    []string
		told    []string
	}{
		"before its time, it waits":                                         {at: later, want: []string{pending}},
		"when it is due, the pod is created":                                {at: at(""), want: []string{create}},
		"once the pod is seen, it is RUNNING":                               {at: at(""), pod: newPod(), want: []string{running}, told: []string{"Normal Started: the pod a-pod runs the command"}},
		"what a RUNNING status lacks is added":                              {at: at(cnat.Running), pod: newPod(), want: []string{running}, told: []string{"Normal Started: the pod a-pod runs the command"}},
		"once the pod has ended, it is DONE":                                {at: at(cnat.Running), pod: ended(corev1.PodSucceeded), want: []string{done}, told: []string{"Normal Succeeded: the command has ended with exit code 0"}},
		"when it is DONE, there is nothing to do":                           {at: at(cnat.Done), pod: newPod()},
		"when it is DONE, nobody misses the pod":                            {at: at(cnat.Done), started: true},
		"ours from before a crash is not in the cache yet":                  {at: at(""), served: newPod(), want: []string{create, get, running}, told: []string{"Normal Started: the pod a-pod runs the command"}},
		"a foreign pod that no cache shows is in the way":                   {at: at(""), served: foreign, want: []string{create, get, pending}, told: []string{"Warning PodNameTaken: the pod a-pod exists, and was not made for this At; delete that pod, or create this At under another name"}},
		"the pod was created, and the cache is behind":                      {at: at(""), started: true, served: newPod(), want: []string{get, running}, told: []string{"Normal Started: the pod a-pod runs the command"}},
		"the pod was created, and is gone":                                  {at: at(""), started: true, want: []string{get, done}, told: []string{"Warning PodDeleted: the pod a-pod was deleted before the command had ended; it is not run again"}},
		"the pod was created before the start of this process, and is gone": {at: at(cnat.Running), want: []string{get, done}, told: []string{"Warning PodDeleted: the pod a-pod was deleted before the command had ended; it is not run again"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.cached(tc.at)
			s.served(tc.at)
			before := tc.at.DeepCopy()
			if tc.pod != nil {
				s.cached(tc.pod)
			}
			if tc.served != nil {
				s.served(tc.served)
			}
			if tc.started {
				s.memory.start(tc.at)
			}
			require.NoError(t, s.pass())
			assert.Equal(t, tc.want, s.asked())
			assert.Equal(t, tc.told, s.told())
			assert.Equal(t, before, tc.at, "what is in the cache is not touched")
		})
	}
}

func TestNothingIsDoneForAnAtThatIsGone(t *testing.T) {
	s := newScene(t)
	s.memory.start(newAt())
	s.memory.write(newAt())
	require.NoError(t, s.pass())
	assert.Empty(t, s.asked())
	assert.Empty(t, s.memory.started)
	assert.Empty(t, s.memory.written)
}

func TestThePodIsNotCreatedTwiceWhileTheCachesAreBehind(t *testing.T) {
	s := newScene(t)
	s.cached(newAt())
	s.served(newAt())
	require.NoError(t, s.pass())
	assert.Equal(t, []string{create}, s.asked())

	require.NoError(t, s.pass()) // neither cache has heard of anything
	assert.Equal(t, []string{get, running}, s.asked())
}

func TestWhatWasWrittenIsBelievedBeforeTheCache(t *testing.T) {
	s := newScene(t)
	s.cached(newAt())
	s.served(newAt())
	s.cached(newPod())
	s.versions()
	require.NoError(t, s.pass())
	assert.Equal(t, []string{running}, s.asked())
	require.NoError(t, s.pass())
	assert.Empty(t, s.asked(), "it is RUNNING, whatever the cache says")

	s.cached(ended(corev1.PodSucceeded))
	require.NoError(t, s.pass())
	assert.Equal(t, []string{"update ats/status DONE after version 2"}, s.asked())
	require.NoError(t, s.pass())
	assert.Empty(t, s.asked())
}

// versions makes the server count versions, as a real one does.
func (s *scene) versions() {
	version := 1
	s.ats.PrependReactor("update", "ats", func(action clienttesting.Action) (bool, runtime.Object, error) {
		version++
		at := action.(clienttesting.UpdateAction).GetObject().(*cnat.At).DeepCopy()
		at.ResourceVersion = string(rune('0' + version))
		return true, at, nil
	})
}

func TestWhatTheWatchToldBeforeTheAnswerIsNotKept(t *testing.T) {
	s := newScene(t)
	s.cached(newAt())
	s.cached(newPod())
	s.ats.PrependReactor("update", "ats", func(action clienttesting.Action) (bool, runtime.Object, error) {
		s.cached(version("3"))
		return true, version("2"), nil
	})
	require.NoError(t, s.pass())
	assert.Empty(t, s.memory.written)
}

func TestWhatTheServerRefuses(t *testing.T) {
	terminating := apierrors.NewForbidden(podResource, "a-pod", nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	gone := apierrors.NewNotFound(atResource, "a")
	conflict := apierrors.NewConflict(atResource, "a", errors.New("it has changed"))
	broken := errors.New("the network is in a bad mood")

	tests := map[string]struct {
		verb, resource string
		err            error
		pod            *corev1.Pod
		started        bool
		want           string // the error
		again          bool
		asked          []string
	}{
		"a pod in a namespace that is going is left alone": {verb: "create", resource: "pods", err: terminating, asked: []string{create}},
		"a pod that cannot be created":                     {verb: "create", resource: "pods", err: broken, want: "creating the pod harbour/a-pod: the network is in a bad mood", asked: []string{create}},
		"a pod that was in the way and has gone":           {verb: "create", resource: "pods", err: exists, again: true, asked: []string{create, get}},
		"a pod that cannot be looked at":                   {verb: "get", resource: "pods", err: broken, started: true, want: "looking at the pod harbour/a-pod: the network is in a bad mood", asked: []string{get}},
		"a status of an At that has changed":               {verb: "update", resource: "ats", err: conflict, pod: newPod(), again: true, asked: []string{running}},
		"a status of an At that is gone":                   {verb: "update", resource: "ats", err: gone, pod: newPod(), asked: []string{running}},
		"a status that cannot be written":                  {verb: "update", resource: "ats", err: broken, pod: newPod(), want: "writing the status of the At harbour/a: the network is in a bad mood", asked: []string{running}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.cached(newAt())
			if tc.pod != nil {
				s.cached(tc.pod)
			}
			if tc.started {
				s.memory.start(newAt())
			}
			s.refuse(tc.verb, tc.resource, tc.err)
			err := s.pass()
			switch {
			case tc.again:
				require.ErrorIs(t, err, queue.ErrAgain)
			case tc.want != "":
				require.EqualError(t, err, tc.want)
			default:
				require.NoError(t, err)
			}
			assert.Equal(t, tc.asked, s.asked())
			assert.Equal(t, tc.started, s.memory.hasStarted(newAt()))
			assert.Empty(t, s.memory.written)
			assert.Empty(t, s.told(), "nothing has happened")
		})
	}
}

func TestAPodThatCannotBeLookedAtAfterItWasInTheWay(t *testing.T) {
	s := newScene(t)
	s.cached(newAt())
	s.refuse("create", "pods", exists)
	s.refuse("get", "pods", errors.New("the network is in a bad mood"))
	require.EqualError(t, s.pass(), "looking at the pod harbour/a-pod: the network is in a bad mood")
}

func TestTheKeyComesBackWhenTheAtIsDue(t *testing.T) {
	at := newAt()
	at.Spec.Schedule = noon.Add(time.Hour).Format(time.RFC3339)
	s := newScene(t)
	s.cached(at)
	s.served(at)
	require.NoError(t, s.pass())
	s.wakesAfter(time.Hour)
}

func TestTheKeyComesBackWhenThereIsNothingToWrite(t *testing.T) {
	at := newAt()
	at.Spec.Schedule = noon.Add(time.Hour).Format(time.RFC3339)
	s := newScene(t)
	s.cached(at)
	s.versions()
	require.NoError(t, s.pass())
	s.cached(s.memory.written[theKey])

	restarted := newScene(t)
	restarted.cached(s.memory.written[theKey])
	require.NoError(t, restarted.pass())
	assert.Empty(t, restarted.asked())
	restarted.wakesAfter(time.Hour)
}

func TestTheKeyComesBackToLookAtAForeignPod(t *testing.T) {
	s := newScene(t)
	s.cached(newAt())
	s.served(newAt())
	foreign := newPod()
	foreign.OwnerReferences = nil
	s.served(foreign)
	require.NoError(t, s.pass())
	s.wakesAfter(10 * time.Second)
}
