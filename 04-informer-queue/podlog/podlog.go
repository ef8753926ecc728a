// Package podlog logs what an informer tells of pods. It is the smallest program
// with an informer: one cache, one set of handlers, and nothing that is done
// about anything.
package podlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/cluster"
)

// Run is the program without its process. It returns the exit code: 0 also when
// the context has ended, because nothing else ends it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if err == nil {
		err = connectAndFollow(ctx, o, stdout)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

func connectAndFollow(ctx context.Context, o options, stdout io.Writer) error {
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
	return follow(ctx, client, namespace, o.resync, stdout)
}

// knock asks for one pod. An informer that is refused tries again for ever, and
// only the log tells; at the start, a refusal is an error.
func knock(ctx context.Context, client kubernetes.Interface, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// follow logs until the context ends.
func follow(ctx context.Context, client kubernetes.Interface, namespace string, resync time.Duration, out io.Writer) error {
	// The factory makes one informer for each type, however many ask for it:
	// the cache and the watch are shared.
	factory := informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Informer()
	handled, err := pods.AddEventHandler(handlers(out))
	if err != nil {
		return fmt.Errorf("adding the handlers: %w", err)
	}

	factory.StartWithContext(ctx)
	defer factory.Shutdown() // waits until the informer has ended

	// Before this, the cache is half full, and looks as if the other half had
	// been deleted. Whatever reads the cache has to wait.
	if cache.WaitFor(ctx, "", handled.HasSyncedChecker()) {
		fmt.Fprintf(out, "# the cache has synced; pods in it: %d\n", len(pods.GetStore().ListKeys()))
		<-ctx.Done()
	}
	return nil
}
