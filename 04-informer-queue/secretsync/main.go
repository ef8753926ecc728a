// Secretsync copies chosen secrets from one namespace to others, and keeps the copies as they
// should be. It is first/ with three caches and many workers, and it writes.
//
// A secret of the source namespace that bears the annotation is a source. A namespace
// that bears it is a target. Each source is copied to each target.
//
//	main.go        flags, and who we are to the cluster
//	controller.go  the caches, the queue and its workers
//	reconcile.go   one copy: observe, decide, act
//	secret.go      what a source, a target and a copy are, and what a cache keeps of them
//
// All state is in the cluster: a copy says what it was made from. So you may kill the program
// at any moment.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// options are the flags, and what only tests set otherwise.
type options struct {
	rules   rules
	resync  time.Duration // how often to reconcile everything, though nothing has changed
	workers int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{rules: rules{annotation: "example.com/secretsync"}, resync: 10 * time.Minute}
	flag.StringVar(&o.rules.sourceNamespace, "source-namespace", "secretsync", "the `namespace` whose secrets are copied")
	flag.IntVar(&o.workers, "workers", 8, "how `many` copies to reconcile at the same time")
	flag.Parse()
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err = cmp.Or(o.validate(), err); err == nil { // wrong flags are wrong without a cluster, too
		err = run(ctx, config, os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, out io.Writer, o options) error {
	// No limit here: so many workers make so many requests.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	// An informer that may not list tries again forever, and only its log says so.
	_, secretsErr := client.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: 1})
	_, namespacesErr := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	if err := errors.Join(secretsErr, namespacesErr); err != nil && ctx.Err() == nil {
		return err
	}
	c, err := newController(client, o.rules, o.resync, out)
	if err == nil {
		c.run(ctx, o.workers)
	}
	return err
}

// validate reports settings with which the program would do nothing, or too much.
func (o options) validate() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q isn't a flag, and all flags after it would be ignored", flag.Arg(0))
	case o.workers < 1:
		return errors.New("--workers must be at least 1")
	case len(validation.IsDNS1123Label(o.rules.sourceNamespace)) > 0:
		return fmt.Errorf("--source-namespace %q is not the name of a namespace", o.rules.sourceNamespace)
	}
	return nil
}
