// Watch prints every change to the pods of a cluster. It is the program in first/ with more lines:
//
//	main.go    from a kubeconfig to the loop, and the naive sum
//	follow.go  the loop: list, watch, and go on when a watch ends
//	state.go   what was reported, and what is new: no server, no clock
//	raw.go     the two requests without client-go: HTTP and JSON
//	stream.go  the events of such a watch
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// options are the flags.
type options struct {
	selector     string
	raw, runtime bool
}

func main() {
	var o options
	flag.StringVar(&o.selector, "l", "", "only pods with these labels: a `selector` such as run=bell")
	flag.BoolVar(&o.raw, "raw", false, "make the requests with net/http, and print each of them")
	flag.BoolVar(&o.runtime, "runtime", false, "after each change, print how long the pods of its namespace have been running")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: %q isn't a flag, and all flags after it would be ignored\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err == nil {
		err = run(ctx, config, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, o options, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	f := newFollower(client.CoreV1().Pods(metav1.NamespaceAll), o.selector, out)
	if o.raw {
		if f.pods, err = newRawPods(config, out); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var lost error
	f.report = func(event change) {
		pod := event.Pod
		if _, err := fmt.Fprintf(out, "%s pod %s in namespace %s\n", event.Type, pod.Name, pod.Namespace); err != nil {
			lost = fmt.Errorf("printing: %w", err)
			cancel() // this change is never reported again
		}
		if o.runtime {
			printRuntime(ctx, client, pod.Namespace, out) // FAULT 5: what does that cost?
		}
	}
	err = f.follow(ctx)
	return cmp.Or(err, lost)
}

// printRuntime still has faults 5 and 6. To fix them takes a cache and a queue, in stage 4.
func printRuntime(ctx context.Context, client kubernetes.Interface, namespace string, out io.Writer) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintln(out, "error: listing the pods:", err) // FAULT 6: and then?
		return
	}
	var total float64 // minutes: a time.Duration ends at 292 years, and a thousand pods get there in four months
	for _, pod := range pods.Items {
		total += max(0, time.Since(pod.CreationTimestamp.Time).Minutes())
	}
	fmt.Fprintf(out, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, total)
}
