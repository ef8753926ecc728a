// Package secretsync copies chosen secrets from one namespace to others, and keeps the
// copies as they should be.
//
// A secret of the source namespace that bears the annotation is a source. A namespace
// that bears it is a target. Each source is copied to each target.
//
//	rules.go       what a source, a target and a copy of ours are
//	secret.go      what is kept of a secret, and what a copy looks like
//	decide.go      what to do about one copy: pure, without a server
//	controller.go  the caches, the queue, and reconcile
//	events.go      why something is not copied
//
// All state is in the cluster: a copy bears what it was made from. So the program may
// be killed at any moment.
package secretsync

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

// options are the flags.
type options struct {
	config  cli.ConfigFlags
	rules   rules
	resync  time.Duration
	workers int
}

// Command returns the program.
func Command() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   program,
		Short: "Copy annotated secrets of one namespace to all annotated namespaces",
		Args:  cli.NoArgs,
		RunE:  o.run,
	}
	flags := command.Flags()
	o.config.AddFlags(flags)
	flags.StringVar(&o.rules.sourceNamespace, "source-namespace", "secretsync", "the `namespace` whose secrets are copied")
	flags.StringVar(&o.rules.annotation, "annotation", "example.com/secretsync", "the `key` of the annotation of the secrets to copy and the namespaces to copy to; its value does not matter")
	flags.DurationVar(&o.resync, "resync-period", 10*time.Minute, "how `often` to reconcile everything, though nothing has changed; 0 is never")
	flags.IntVar(&o.workers, "workers", 8, "how `many` copies to reconcile at the same time")
	return command
}

// run works until the context ends, and waits for all that it started.
func (o *options) run(command *cobra.Command, _ []string) error {
	if err := o.validate(); err != nil {
		return cli.UsageError(command, err)
	}
	config, _, err := o.config.Load()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	ctx := command.Context()
	err = checkAccess(ctx, client, o.rules, command.ErrOrStderr())
	switch {
	case ctx.Err() != nil:
		return nil // interrupted
	case err != nil:
		return cli.Explain(err, config.Host)
	}
	s, err := newSyncer(client, o.rules, o.resync, command.OutOrStdout())
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { s.runInformers(ctx) })
	s.queue.Run(ctx, o.workers, s.reconcile, s.synced...)
	running.Wait()
	return nil
}

func (o *options) validate() error {
	if problems := validation.IsDNS1123Label(o.rules.sourceNamespace); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--source-namespace %q is not the name of a namespace: %s", o.rules.sourceNamespace, rule)
	}
	if o.resync != 0 && o.resync < time.Second {
		return fmt.Errorf("--resync-period is %s, it must be 0 or at least 1s", o.resync)
	}
	if o.workers < 1 {
		return fmt.Errorf("--workers is %d, it must be at least 1", o.workers)
	}
	key := o.rules.annotation
	// The server compares keys in lower case, too.
	if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--annotation %q is not the key of an annotation: %s; take one such as example.com/secretsync", key, rule)
	}
	domain, _, prefixed := strings.Cut(key, "/")
	for _, reserved := range []string{"kubernetes.io", "k8s.io"} {
		// kubectl annotates all that it applies: every secret would be a source.
		if prefixed && (domain == reserved || strings.HasSuffix(domain, "."+reserved)) {
			return fmt.Errorf("--annotation %q belongs to Kubernetes itself; take a key such as example.com/secretsync", key)
		}
	}
	return nil
}

// checkAccess lists a little of what will be watched. An informer that is refused
// tries again for ever, and only the log shows it; at the start, a refusal is an error.
func checkAccess(ctx context.Context, client kubernetes.Interface, r rules, stderr io.Writer) error {
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
