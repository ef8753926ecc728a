package load

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func podOf(at string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "quay", Name: at + "-pod", UID: uid}}
}

func TestOutcome(t *testing.T) {
	due := time.Now().Add(-time.Second)
	w := &workload{late: time.Minute, ats: map[types.NamespacedName]*scheduled{}, refused: 1, problem: errors.New("full")}
	for _, name := range []string{"kettle", "lamp", "radio"} {
		w.ats[types.NamespacedName{Namespace: "quay", Name: name}] = &scheduled{due: due, pods: map[types.UID]bool{}}
	}
	w.see(podOf("kettle", "1"))
	w.see(podOf("kettle", "1")) // an update
	w.see(podOf("lamp", "2"))
	w.see(podOf("lamp", "3"))
	w.see(podOf("not-ours", "4"))

	o := w.outcome(due.Add(2 * time.Second))
	assert.Equal(t, []int{3, 1, 0, 1, 1}, []int{o.Ats, o.Open, o.Missed, o.Double, o.Refused})
	assert.Len(t, o.Delays, 2)
	assert.InDelta(t, 1, Quantile(o.Delays, 1), 0.5)
	assert.Contains(t, o.String(), "3 Ats, 0 missed, 1 double; ")
	assert.Contains(t, o.String(), "1 not yet due or on their way; 1 could not be created, the last because of: full")

	o = w.outcome(due.Add(time.Minute))
	assert.Equal(t, []int{3, 0, 1, 1}, []int{o.Ats, o.Open, o.Missed, o.Double})
}
