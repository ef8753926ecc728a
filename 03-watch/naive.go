package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func naiveCommand(o *options) *cobra.Command {
	var version string
	var reconnect bool
	command := &cobra.Command{
		Use:   "naive",
		Short: "The loop that most people write first; it is here to be broken",
		RunE: o.with(func(ctx context.Context, config *rest.Config, namespace string) error {
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			n := &naive{
				client: client, namespace: namespace, selector: o.selector, version: version,
				reconnect: reconnect, out: o.stdout, err: o.stderr,
			}
			return n.run(ctx)
		}),
	}
	command.Flags().StringVar(&version, "resource-version", "", "begin the watch at this `version`, to see one that is too old")
	command.Flags().BoolVar(&reconnect, "reconnect", false, "watch again when the channel is closed, to see what that repairs and what not")
	return command
}

// naive is the loop that most people write first. DO NOT COPY IT. It works in
// every demonstration and fails in every cluster; it is here to be broken. The
// comments number its faults, and the lesson makes each of them show.
type naive struct {
	client    kubernetes.Interface
	namespace string
	selector  string
	version   string // to begin with; the loop itself never knows one
	reconnect bool   // repair fault 3 in the obvious way, and meet faults 1 and 4
	out, err  io.Writer
}

func (n *naive) run(ctx context.Context) error {
	for ctx.Err() == nil {
		// FAULT 1: it does not remember a version. A watch without one begins
		// with every object that exists, as ADDED. What was deleted while no
		// watch was open is never mentioned.
		stream, err := n.client.CoreV1().Pods(n.namespace).Watch(ctx, metav1.ListOptions{
			LabelSelector:   n.selector,
			ResourceVersion: n.version,
		})
		if err != nil {
			fmt.Fprintln(n.err, "error:", err)
			// FAULT 2: a server that is down, or that says no, is asked again a
			// thousand times a second.
			time.Sleep(time.Millisecond)
			continue
		}

		for ctx.Err() == nil {
			event, ok := <-stream.ResultChan()
			if !ok {
				fmt.Fprintln(n.err, "error: the channel is closed")
				if n.reconnect {
					break
				}
				// FAULT 3: a closed channel is always ready to be read. This
				// loop spins for ever, and never hears of a change again.
				continue
			}
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				// FAULT 4: an ERROR event is the server's last word in this
				// watch. It is printed like any other.
				fmt.Fprintln(n.out, event.Type)
				continue
			}
			fmt.Fprintf(n.out, "%s pod %s in namespace %s\n", event.Type, pod.Name, pod.Namespace)
		}
		stream.Stop()
	}
	return nil
}
