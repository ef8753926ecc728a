package spreadstarts

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func starting() *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

func ready() *corev1.Pod {
	pod := starting()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func unready() *corev1.Pod {
	pod := ready()
	pod.Status.Conditions[0].Status = corev1.ConditionFalse
	return pod
}

func finished(phase corev1.PodPhase) *corev1.Pod {
	pod := unready()
	pod.Status.Phase = phase
	return pod
}

func deleted() *corev1.Pod {
	pod := starting()
	pod.DeletionTimestamp = new(metav1.Now())
	return pod
}

func labelled() *corev1.Pod {
	pod := starting()
	pod.Labels = map[string]string{"a": "b"}
	return pod
}

// newPlugin makes the plug-in as the scheduler does.
func newPlugin(t *testing.T, args string) *SpreadStarts {
	t.Helper()
	plugin, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}, nil)
	require.NoError(t, err)
	return plugin.(*SpreadStarts)
}

func TestScoreIsTheNumberOfPodsThatStart(t *testing.T) {
	for name, tc := range map[string]struct {
		pods []*corev1.Pod
		want int64
	}{
		"an empty node":                   {nil, 0},
		"a pod that was just assumed":     {[]*corev1.Pod{starting()}, 1},
		"a pod that runs but is unready":  {[]*corev1.Pod{unready()}, 1},
		"pods that are Ready":             {[]*corev1.Pod{ready(), ready()}, 0},
		"pods that have finished":         {[]*corev1.Pod{finished(corev1.PodSucceeded), finished(corev1.PodFailed)}, 0},
		"a pod that is being deleted":     {[]*corev1.Pod{deleted()}, 0},
		"some start, some have done that": {[]*corev1.Pod{starting(), ready(), unready(), deleted()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			score, status := newPlugin(t, "{}").Score(t.Context(), nil, starting(), framework.NewNodeInfo(tc.pods...))
			assert.True(t, status.IsSuccess())
			assert.Equal(t, tc.want, score)
		})
	}
}

func TestNormalizeScore(t *testing.T) {
	for name, tc := range map[string]struct{ starts, want []int64 }{
		"nothing starts":                    {[]int64{0, 0, 0}, []int64{100, 100, 100}},
		"all start equally many":            {[]int64{7, 7, 7}, []int64{0, 0, 0}},
		"fewer are better":                  {[]int64{0, 1, 2, 4}, []int64{100, 75, 50, 0}},
		"more than a hundred start":         {[]int64{0, 100, 200, 400}, []int64{100, 75, 50, 0}},
		"one of a hundred is worth a point": {[]int64{99, 100}, []int64{1, 0}},
		"a single node":                     {[]int64{3}, []int64{0}},
		"no node":                           {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var scores fwk.NodeScoreList
			for _, n := range tc.starts {
				scores = append(scores, fwk.NodeScore{Score: n})
			}
			status := newPlugin(t, "{}").ScoreExtensions().NormalizeScore(t.Context(), nil, starting(), scores)
			assert.True(t, status.IsSuccess())
			var got []int64
			for _, score := range scores {
				got = append(got, score.Score)
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestFilter(t *testing.T) {
	two := []*corev1.Pod{starting(), ready(), starting()}
	for name, tc := range map[string]struct {
		args string
		pods []*corev1.Pod
		want string
	}{
		"no limit":                         {`{}`, two, ""},
		"0 is no limit":                    {`{"startsPerNode": 0}`, two, ""},
		"below the limit":                  {`{"startsPerNode": 3}`, two, ""},
		"at the limit":                     {`{"startsPerNode": 2}`, two, "node already starts 2 pods"},
		"above the limit, which was lower": {`{"startsPerNode": 1}`, two, "node already starts 2 pods"},
		"one pod is no pods":               {`{"startsPerNode": 1}`, two[:1], "node already starts 1 pod"},
	} {
		t.Run(name, func(t *testing.T) {
			status := newPlugin(t, tc.args).Filter(t.Context(), nil, starting(), framework.NewNodeInfo(tc.pods...))
			assert.Equal(t, tc.want, status.Message())
			if tc.want != "" {
				assert.Equal(t, fwk.UnschedulableAndUnresolvable, status.Code(), "no pod is preempted for it")
			}
		})
	}
}

func TestPodIsQueuedWhenAStartEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after any
		want          fwk.QueueingHint
	}{
		"a pod became Ready":                     {starting(), ready(), fwk.Queue},
		"a pod finished":                         {starting(), finished(corev1.PodSucceeded), fwk.Queue},
		"a pod failed":                           {unready(), finished(corev1.PodFailed), fwk.Queue},
		"a pod is being deleted":                 {starting(), deleted(), fwk.Queue},
		"a pod was deleted while it started":     {starting(), nil, fwk.Queue},
		"a pod got a label while it started":     {starting(), labelled(), fwk.QueueSkip},
		"a pod is no longer Ready":               {ready(), unready(), fwk.QueueSkip},
		"a pod that was Ready finished":          {ready(), finished(corev1.PodSucceeded), fwk.QueueSkip},
		"a pod that was Ready was deleted":       {ready(), nil, fwk.QueueSkip},
		"the deletion of a pod came to its end":  {deleted(), nil, fwk.QueueSkip},
		"a Ready pod had something else changed": {ready(), ready(), fwk.QueueSkip},
	} {
		t.Run(name, func(t *testing.T) {
			hint, err := afterPodEvent(klog.Background(), starting(), tc.before, tc.after)
			require.NoError(t, err)
			assert.Equal(t, tc.want, hint)
		})
	}
	hint, err := afterPodEvent(klog.Background(), starting(), &corev1.Node{}, nil)
	require.Error(t, err)
	assert.Equal(t, fwk.Queue, hint, "in doubt")
}

// An update of a pod's status is an update in general. The scheduler hands it only to
// plug-ins that register all kinds of updates.
func TestEventOfAStatusIsRegistered(t *testing.T) {
	registered, err := newPlugin(t, "{}").EventsToRegister(t.Context())
	require.NoError(t, err)
	matches := func(incoming fwk.ClusterEvent) bool {
		for _, event := range registered {
			if framework.MatchClusterEvents(event.Event, incoming) {
				return true
			}
		}
		return false
	}
	for _, event := range framework.PodSchedulingPropertiesChange(ready(), starting(), false) {
		assert.True(t, matches(event), event.Label())
	}
	assert.True(t, matches(framework.EventAssignedPodDelete))
	assert.True(t, matches(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}))
	assert.False(t, matches(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel}))
}

func TestArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		args runtime.Object
		want string
	}{
		"negative":         {&runtime.Unknown{Raw: []byte(`{"startsPerNode": -1}`)}, "startsPerNode is -1; set it to 0 for no limit, or higher"},
		"misspelt":         {&runtime.Unknown{Raw: []byte(`{"startPerNode": 1}`)}, `json: unknown field "startPerNode"; the only one is startsPerNode, a whole number`},
		"not a number":     {&runtime.Unknown{Raw: []byte(`{"startsPerNode": "two"}`)}, "the only one is startsPerNode, a whole number"},
		"of another kind":  {&corev1.Pod{}, "they are *v1.Pod, not args in pluginConfig"},
		"none":             {nil, ""},
		"an empty mapping": {&runtime.Unknown{Raw: []byte(`{}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(t.Context(), tc.args, nil)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "reading the arguments of SpreadStarts: ")
			require.ErrorContains(t, err, tc.want)
		})
	}
}
