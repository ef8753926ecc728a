// Package secretsync copies chosen secrets from one namespace to others, and
// keeps the copies as they should be.
//
// A secret of the source namespace that bears the annotation is a source. A
// namespace that bears it is a target. Each source is copied to each target. It
// takes these steps, and each has its file:
//
//	options.go   what the user wants
//	rules.go     what a source, a target and a copy of ours are
//	secret.go    what is kept of a secret, and what a copy looks like
//	caches.go    what the server has, and which keys a change concerns
//	decide.go    what to do about one key: pure, without a server
//	sync.go      do it
//	events.go    say why something is not done
//	plan.go      only say what would be done
//
// Nothing is remembered that is not in the cluster: what a copy was made from
// stands on the copy. So it does not matter when the program is killed.
package secretsync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/04-informer-queue/cluster"
)

// Run is the program without its process. It returns the exit code: 0 also when
// the context has ended, because nothing else ends it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if err == nil {
		err = connectAndSync(ctx, o, stdout, stderr)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

// connectAndSync finds the cluster.
func connectAndSync(ctx context.Context, o options, stdout, stderr io.Writer) error {
	config, _, err := o.cluster.Config()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	return cluster.Explain(syncWith(ctx, client, o, stdout, stderr), config.Host)
}

// syncWith is the work, once the cluster is known.
func syncWith(ctx context.Context, client kubernetes.Interface, o options, stdout, stderr io.Writer) error {
	if err := knock(ctx, client, o.rules, stderr); err != nil {
		return err
	}
	s := newSyncer(client, o.rules, stdout)
	if o.dryRun {
		return s.plan(ctx)
	}
	return s.run(ctx, o.workers, o.resync)
}

// knock asks for a little of what will be watched. An informer that is refused
// tries again for ever, and only the log tells; at the start, a refusal is an
// error.
func knock(ctx context.Context, client kubernetes.Interface, r rules, stderr io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := client.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: copies, Limit: 1}); err != nil {
		return err
	}
	found, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + r.sourceNamespace})
	if err == nil && len(found.Items) == 0 {
		fmt.Fprintf(stderr, "# there is no namespace %s yet; secrets are copied once it is there\n", r.sourceNamespace)
	}
	return err
}
