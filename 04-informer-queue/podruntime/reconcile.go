package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// reconcile prints for how long the pods of the namespace have been running, if that has changed
// its course.
func (c *controller) reconcile(_ context.Context, namespace string) (err error) {
	defer recovered(&err)
	pods, err := c.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	var total course
	now := time.Now()
	for _, pod := range pods {
		total.add(pod, now)
	}
	last, _ := c.printed.Load(namespace)
	if last == total || last == nil && total == (course{}) {
		return nil // a label, a condition: the total goes on as before
	}
	_, err = fmt.Fprintf(c.out, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, total.Minutes())
	if err == nil {
		c.remember(namespace, total) // not before: a line that can't be written is still owed
	}
	return err
}

// course is for how long pods have been running, all together, at any time from now on:
//
//	  (now - start) + (now - start) + ...  of those that run
//	+ (end - start) + (end - start) + ...  of those that ended
//	= running * now - starts + ended
type course struct {
	running int64 // how many run
	starts  int64 // when those began, in seconds since 1970, added up
	ended   int64 // for how many seconds the others ran
}

// Seconds is the total now. A time.Duration would not hold it: a hundred thousand pods run for its
// 292 years in one day.
func (c course) Seconds() float64 {
	now := float64(time.Now().UnixMilli()) / 1000
	return max(0, float64(c.running)*now-float64(c.starts)+float64(c.ended))
}

// Minutes is the total now.
func (c course) Minutes() float64 { return c.Seconds() / 60 }

// add adds a pod. It counts from the moment when its node took it on until its last container
// finished. A pod whose containers have all finished may start them again, so its phase decides.
func (c *course) add(pod *corev1.Pod, now time.Time) {
	start := pod.Status.StartTime
	switch {
	case start == nil:
	case hasEnded(pod):
		c.ended += max(0, end(pod).Unix()-start.Unix())
	default:
		c.running++
		c.starts += min(start.Unix(), now.Unix()) // its node's clock may be ahead
	}
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// end is when the last container finished. A pod whose node is lost may not say so; it counts for nothing.
func end(pod *corev1.Pod) (last metav1.Time) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.State.Terminated != nil && last.Before(&c.State.Terminated.FinishedAt) {
			last = c.State.Terminated.FinishedAt
		}
	}
	return last
}

// remember forgets a namespace in which nothing counts: namespaces come and go while the program runs.
func (c *controller) remember(namespace string, total course) {
	if total == (course{}) {
		c.printed.Delete(namespace)
	} else {
		c.printed.Store(namespace, total)
	}
}

// trim keeps of a pod what add reads, and what the cache itself needs. The informer calls it
// before it stores a pod, and during a streamed list twice.
func trim(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	small := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase, StartTime: pod.Status.StartTime},
	}
	if hasEnded(pod) {
		small.Status.InitContainerStatuses = pod.Status.InitContainerStatuses
		small.Status.ContainerStatuses = pod.Status.ContainerStatuses
	}
	return small, nil
}
