package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func runtimeCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "runtime",
		Short: "Print for how long the pods of a namespace have been running, whenever one changes",
		RunE: o.with(func(command *cobra.Command, config *rest.Config, namespace string) error {
			cost := &cost{}
			config.Wrap(cost.count)
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			r := &runtimes{client: client, timeout: o.requestTimeout, out: command.OutOrStdout(), err: command.ErrOrStderr(), cost: cost}
			report := func(c change) error { return r.handle(command.Context(), c) }
			return newFollower(podSource(client, namespace, o.selector), report, notesOf(command), o.requestTimeout).run(command.Context())
		}),
	}
}

// runtimes prints for how long the pods of a namespace have been running, all
// together, whenever one of them changes. This is the first form: it has nothing
// but the event, so it lists all pods of the namespace, every time.
type runtimes struct {
	client  kubernetes.Interface
	timeout time.Duration // of one request
	out     io.Writer     // gets the sentence
	err     io.Writer     // gets what it cost, and what failed
	cost    *cost
}

// handle handles a change. A request that fails is a sentence that is not printed:
// nothing records that it is due. Stage 4 has a queue for that.
func (r *runtimes) handle(ctx context.Context, c change) error {
	r.cost.objects.Add(1) // the one in the event

	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	namespace := c.Object.GetNamespace()
	pods, err := r.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintln(r.err, "error: listing the pods:", err)
		return nil
	}
	r.cost.objects.Add(int64(len(pods.Items)))

	_, err = fmt.Fprintf(r.out, "Pods in namespace %s have been running for %.2f minutes.\n",
		namespace, runningSeconds(pods.Items, time.Now())/60)
	fmt.Fprintln(r.err, r.cost)
	return outputError(err)
}

// runningSeconds is the sum over all pods of the time since they were created. The clock of the
// server may be ahead of ours, and no pod takes time away from the others. A time.Duration would
// not hold the sum: a thousand pods run for its 292 years in less than four months.
func runningSeconds(pods []corev1.Pod, now time.Time) (sum float64) {
	for _, pod := range pods {
		sum += max(0, now.Sub(pod.CreationTimestamp.Time).Seconds())
	}
	return sum
}

// cost is what the answers have cost so far.
type cost struct {
	requests atomic.Int64
	objects  atomic.Int64 // decoded into Go structs
}

// count puts itself around the transport of a client, and counts its requests.
func (c *cost) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		c.requests.Add(1)
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes the function an http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// String is the cost in words.
func (c *cost) String() string {
	return fmt.Sprintf("# so far: %d requests, %d objects decoded", c.requests.Load(), c.objects.Load())
}
