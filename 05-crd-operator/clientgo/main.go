// Package clientgo is the operator for Ats, written by hand: on client-go, on the clients
// and informers in generated/, and on the queue of stage 4, whose functions have the same names
// here. Package controllerruntime is the same operator on a framework.
//
//	main.go        the flags, and what is checked before the start
//	controller.go  the caches, the queue and its workers
//	reconcile.go   one step of one At
//	events.go      what was done, for kubectl describe
package clientgo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/access"
	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// Options say where to work, and when.
type Options struct {
	// Namespace is where the Ats are; metav1.NamespaceAll is everywhere.
	Namespace string
	// Workers is how many Ats to reconcile at the same time.
	Workers int
	// Image is what commands run in. The default is lifecycle.DefaultImage.
	Image string
	// Clock decides when an At is due.
	Clock clock.WithTicker
}

// Main is the program.
func Main() {
	var cluster cli.OperatorFlags
	o := Options{Clock: wallclock.New()}
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	cluster.AddFlags(flags, 8, "Ats")
	flags.StringVar(&o.Image, "command-image", lifecycle.DefaultImage, "the `image` that commands run in, with a sh")
	_ = flags.Parse(os.Args[1:]) // an error ends the program

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	config, namespace, err := cluster.Load()
	if err == nil {
		o.Namespace, o.Workers = namespace, cluster.Workers
		err = Run(ctx, config, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// Run works until the context ends, and waits for all that it started. It returns an
// error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	ats, atsErr := versioned.NewForConfig(config)
	kube, kubeErr := kubernetes.NewForConfig(config)
	if err := errors.Join(atsErr, kubeErr); err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	err := access.Check(ctx, config, o.Namespace,
		access.Read{GroupVersionResource: cnat.SchemeGroupVersion.WithResource("ats")},
		access.Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: lifecycle.PodSelector},
	)
	switch {
	case ctx.Err() != nil:
		return nil // interrupted
	case err != nil:
		return cli.Explain(err, config.Host)
	}
	c, err := newController(ats, kube, o)
	if err != nil {
		return err
	}
	c.run(ctx, o.Workers, c.reconcile)
	return nil
}
