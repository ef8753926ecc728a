package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// podsPatience bounds the run of all pods.
const podsPatience = 10 * time.Minute

// measurePods creates many pods that each print a line, and waits until the
// last has completed.
func measurePods(ctx context.Context, count int) error {
	ctx, cancel := context.WithTimeout(ctx, podsPatience)
	defer cancel()
	return withLab(ctx, func(lab *labtest.Lab) error {
		config, err := lab.Config()
		if err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		fmt.Printf("%d pods that each print a line\n\n", count)
		took, err := runPods(ctx, client, count)
		if err != nil {
			return err
		}
		fmt.Printf("| from create to all Completed | pods per second |\n|---|---|\n")
		fmt.Printf("| %.1f s | %.1f |\n", took.Seconds(), float64(count)/took.Seconds())
		return nil
	})
}

func runPods(ctx context.Context, client kubernetes.Interface, count int) (time.Duration, error) {
	pods := client.CoreV1().Pods("default")
	began := time.Now()
	for i := range count {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("line-%03d", i), Labels: map[string]string{"bench": "pods"}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"echo", "a line"}}},
			},
		}
		if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return 0, err
		}
	}
	for {
		list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "bench=pods"})
		if err != nil {
			return 0, err
		}
		done := 0
		for _, pod := range list.Items {
			switch pod.Status.Phase {
			case corev1.PodSucceeded:
				done++
			case corev1.PodFailed:
				return 0, fmt.Errorf("pod %s failed: %s", pod.Name, pod.Status.Message)
			}
		}
		if done == count {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d pods have completed: %w", done, count, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
