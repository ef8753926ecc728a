// First watches pods, and prints for how long those of a namespace have been running. Its faults are numbered.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err == nil {
		err = run(ctx, config, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		watch, err := client.CoreV1().Pods(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{}) // FAULT 1: from when on?
		if err != nil {
			fmt.Fprintln(out, "error: watching the pods:", err)
			continue // FAULT 2: how soon?
		}
		defer watch.Stop()
		for ctx.Err() == nil {
			event := <-watch.ResultChan() // FAULT 3: and if the channel is closed?
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				fmt.Fprintln(out, "error: an event without a pod:", event.Type)
				continue // FAULT 4: what else may an event hold?
			}
			fmt.Fprintf(out, "%s pod %s in namespace %s\n", event.Type, pod.Name, pod.Namespace)
			printRuntime(ctx, client, pod.Namespace, out) // FAULT 5: what does that cost?
		}
	}
	return nil
}

func printRuntime(ctx context.Context, client kubernetes.Interface, namespace string, out io.Writer) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintln(out, "error: listing the pods:", err) // FAULT 6: and then?
		return
	}
	var total time.Duration
	for _, pod := range pods.Items {
		total += max(0, time.Since(pod.CreationTimestamp.Time))
	}
	fmt.Fprintf(out, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, total.Minutes())
}
