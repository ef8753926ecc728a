// Package spreadstarts is a plug-in of the scheduler that spreads the pods that start at
// the same time.
//
// A pod needs most while it starts: its image is unpacked, its caches are empty. The
// scheduler counts requests, which are the same before and after. It spreads the pods of a
// ReplicaSet, a StatefulSet or a Service, but not those of Jobs, nor pods that a controller
// of its own kind makes. When many of them are due in the same second, the largest node gets
// most, and all of these start slowly. The plug-in counts what starts: a pod is starting from
// the moment a node was chosen for it until it is Ready, and again when it is no longer Ready.
//
// The form is that of upstream's plug-ins: the filter and its events are made like those of
// NodeResourcesFit, the score is normalized as TaintToleration's is. The idea that a node
// should not start everything at once is the kubelet's, which limits how many images it
// pulls at a time (serializeImagePulls, maxParallelImagePulls).
package spreadstarts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// Name is the plug-in's name in the configuration of the scheduler.
const Name = "SpreadStarts"

// Args are the plug-in's arguments, in pluginConfig.
type Args struct {
	// StartsPerNode is how many pods a node may start at a time. 0 is no limit.
	StartsPerNode int `json:"startsPerNode"`
}

// SpreadStarts prefers the nodes that start the fewest pods.
type SpreadStarts struct {
	args Args
}

var (
	_ fwk.FilterPlugin      = &SpreadStarts{}
	_ fwk.EnqueueExtensions = &SpreadStarts{}
	_ fwk.ScorePlugin       = &SpreadStarts{}
	_ fwk.SignPlugin        = &SpreadStarts{}
)

// New makes the plug-in. The scheduler calls it once for each profile that has it.
func New(_ context.Context, config runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := decode(config)
	if err != nil {
		return nil, fmt.Errorf("reading the arguments of %s: %w", Name, err)
	}
	return &SpreadStarts{args: args}, nil
}

// decode is strict. The framework's own DecodeInto ignores what it does not know, so a
// misspelt limit would be no limit.
func decode(config runtime.Object) (Args, error) {
	var args Args
	if config == nil { // no pluginConfig
		return args, nil
	}
	given, ok := config.(*runtime.Unknown) // its content is JSON, whatever the file is
	if !ok {
		return args, fmt.Errorf("they are %T, not args in pluginConfig", config)
	}
	decoder := json.NewDecoder(bytes.NewReader(given.Raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&args); err != nil {
		return args, fmt.Errorf("%w; the only one is startsPerNode, a whole number", err)
	}
	if args.StartsPerNode < 0 {
		return args, fmt.Errorf("startsPerNode is %d; set it to 0 for no limit, or higher", args.StartsPerNode)
	}
	return args, nil
}

// Name returns the plug-in's name.
func (*SpreadStarts) Name() string { return Name }

// Filter rejects a node that starts as many pods as it may. To wait is enough, so the
// status is one for which no pod is preempted.
func (s *SpreadStarts) Filter(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	limit := int64(s.args.StartsPerNode)
	if n := startingOn(node); limit > 0 && n >= limit {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason(n))
	}
	return nil
}

// reason follows the number of nodes in the pod's event: "0/4 nodes are available: 4 ...".
func reason(starting int64) string {
	if starting == 1 {
		return "node already starts 1 pod"
	}
	return fmt.Sprintf("node already starts %d pods", starting)
}

// EventsToRegister names what can end a rejection. A change of a pod's status has no event
// of its own: it is an update in general. A pod that finishes is a deletion, because the
// scheduler does not watch finished pods.
func (*SpreadStarts) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update | fwk.Delete}, QueueingHintFn: afterPodEvent},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}},
	}, nil
}

// afterPodEvent queues a rejected pod when a change ends another one's start. Most updates
// of pods end none, and each would cost an attempt.
func afterPodEvent(_ klog.Logger, _ *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, after, err := util.As[*corev1.Pod](oldObj, newObj)
	if err != nil {
		return fwk.Queue, err
	}
	if isStarting(before) && (after == nil || !isStarting(after)) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// Score is the number of pods that the node starts.
func (*SpreadStarts) Score(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	return startingOn(node), nil
}

// ScoreExtensions returns the plug-in itself.
func (s *SpreadStarts) ScoreExtensions() fwk.ScoreExtensions { return s }

// NormalizeScore gives 100 to a node that starts nothing and 0 to the one that starts most.
func (*SpreadStarts) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	return helper.DefaultNormalizeScore(fwk.MaxScore, true, scores)
}

// SignPod adds nothing to a pod's signature: what the plug-in decides depends on the node
// alone. Without it the scheduler would not batch pods that are alike.
func (*SpreadStarts) SignPod(context.Context, *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}

// startingOn counts the pods that a node starts. Among its pods are those that are assumed:
// the node was chosen, and the API server does not know yet.
func startingOn(node fwk.NodeInfo) (n int64) {
	for _, pod := range node.GetPods() {
		if isStarting(pod.GetPod()) {
			n++
		}
	}
	return n
}

// isStarting reports whether a pod with a node is not Ready yet and may still become so.
func isStarting(pod *corev1.Pod) bool {
	return !podutil.IsPodReady(pod) && !podutil.IsPodTerminal(pod) && pod.DeletionTimestamp == nil
}
