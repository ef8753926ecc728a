// Package podruntime tells for how long the pods of each namespace have been
// running, all together. It is the end of stage 3 with a cache and a queue.
//
//	options.go   the command line
//	pod.go       what the cache keeps of a pod
//	sum.go       a sum that is kept up to date by a few additions
//	totals.go    one sum for each namespace
//	runtime.go   the informer, the queue, and the line that is printed
//	metrics.go   the totals as a metric
//
// A namespace is told of when a pod of it came, began to run, ended or went. All
// else that happens to a pod, such as a label or a condition, leaves the total on
// its course.
package podruntime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/04-informer-queue/cluster"
	"example.com/hacking-a-controller/04-informer-queue/monitor"
)

// Run is the program without its process. It returns the exit code: 0 also when
// the context has ended.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if err == nil {
		err = connectAndFollow(ctx, o, stdout, stderr)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

func connectAndFollow(ctx context.Context, o options, stdout, stderr io.Writer) error {
	config, namespace, err := o.cluster.Config()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	if err := knock(ctx, client, namespace); err != nil {
		return cluster.Explain(err, config.Host)
	}
	r, err := newRuntimes(client, namespace, o.since, stdout)
	if err != nil {
		return err
	}
	return follow(ctx, r, o.listenAddr, stderr)
}

// knock asks for one pod. An informer that is refused tries again for ever, and
// only the log tells; at the start, a refusal is an error.
func knock(ctx context.Context, client kubernetes.Interface, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// follow works until the context ends. If the monitor fails, all ends.
func follow(ctx context.Context, r *runtimes, listenAddr string, stderr io.Writer) error {
	group, ctx := errgroup.WithContext(ctx)
	if listenAddr != "" {
		registry := prometheus.NewRegistry()
		registry.MustRegister(&collector{r.totals, r.ready})
		server, err := monitor.Listen(listenAddr, registry, r.ready)
		if err != nil {
			return fmt.Errorf("--listen-addr: %w", err)
		}
		fmt.Fprintf(stderr, "# metrics: http://%s/metrics\n", server.Addr())
		group.Go(func() error { return server.Serve(ctx) })
	}
	group.Go(func() error {
		r.run(ctx)
		return nil
	})
	return group.Wait()
}
