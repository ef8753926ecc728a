package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// BenchmarkWrites leads Ats from their creation to DONE, and counts what the
// operator requests of the server.
func BenchmarkWrites(b *testing.B) {
	count, _, _ := sizes(b)
	for b.Loop() {
		s := newStage(b)
		fmt.Printf("\n%d Ats from creation to DONE, requests per At\n", count)
		fmt.Printf("%-18s %12s %14s %8s %12s %8s %11s\n", "", createPod, updateStatus, "at most", patchPod, writeEvent, read)
		for _, o := range operators {
			counted, _ := s.leadToDone(b, o, count)
			per := func(what string) float64 { return float64(counted.count(what)) / float64(count) }
			fmt.Printf("%-18s %12.2f %14.2f %8d %12.2f %8.2f %11.2f\n", o.name, per(createPod), per(updateStatus), counted.mostPerAt(), per(patchPod), per(writeEvent), per(read))
			assert.Equal(b, count, counted.count(createPod), o.name)
			assert.Equal(b, count, counted.count(patchPod), o.name)
			assert.LessOrEqual(b, counted.mostPerAt(), 3, o.name)
			assert.LessOrEqual(b, counted.count(read), count, o.name)
			assert.Zero(b, counted.count(otherWrite), o.name)
			b.ReportMetric(per(createPod)+per(updateStatus)+per(patchPod), o.name+"-writes/At")
		}
	}
}

// leadToDone creates Ats, makes them due, and waits until the operator has finished with
// them. It returns what the operator requested, and how long after the Ats were due the
// last pod was there.
func (s *stage) leadToDone(b *testing.B, o operator, count int) (counted *requests, late time.Duration) {
	b.Helper()
	clock := newShifted()
	schedule := clock.Now().Add(time.Hour)
	s.createNamespace(b, o.name+"-first") // the operator starts with nothing to do
	counted, stop := o.start(b, s, o.name, clock)
	s.createAts(b, o.name, count, schedule)
	s.become(b, o.name, cnat.Pending, count)
	due := time.Now()
	clock.shiftTo(schedule)
	reaches(b, "pods of "+o.name, count, func() int {
		_, created := counted.pods()
		return len(created)
	})
	s.succeed(b, o.name, count)
	s.become(b, o.name, cnat.Done, count)
	reaches(b, "finalizers removed", count, func() int { return counted.count(patchPod) })
	// Events come last, in the background: one for the pod, one for DONE.
	reaches(b, "events", 2*count, func() int { return counted.count(writeEvent) })
	stop()
	_, created := counted.pods()
	return counted, slices.MaxFunc(created, time.Time.Compare).Sub(due)
}

// become waits until so many Ats have come to the phase.
func (s *stage) become(b *testing.B, namespace string, phase cnat.AtPhase, count int) {
	b.Helper()
	reaches(b, namespace+" "+string(phase), count, func() int {
		list, err := s.ats.CnatV1alpha1().Ats(namespace).List(b.Context(), metav1.ListOptions{})
		if err != nil {
			return 0
		}
		there := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == phase {
				there++
			}
		}
		return there
	})
}

// succeed is the kubelet of all pods.
func (s *stage) succeed(b *testing.B, namespace string, count int) {
	b.Helper()
	forEach(b, count, func(i int) error {
		name := lifecycle.PodName(nameOf(i))
		pod, err := s.Client.CoreV1().Pods(namespace).Get(b.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pod.Status.Phase = corev1.PodSucceeded
		_, err = s.Client.CoreV1().Pods(namespace).UpdateStatus(b.Context(), pod, metav1.UpdateOptions{})
		return err
	})
}
