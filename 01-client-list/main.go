// Client-list prints the namespaces of a cluster, one per line. It is the page in first/ with what a user
// needs besides: flags, chunks with a deadline, and errors that say what to do next.
//
//	main.go    the page, with flags
//	list.go    the namespaces, a chunk at a time
//	errors.go  what to do next
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	flags          = flag.NewFlagSet("client-list", flag.ExitOnError) // of its own: libraries add theirs to flag.CommandLine
	kubeconfig     = flags.String("kubeconfig", "", "the kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account")
	kubeContext    = flags.String("context", "", "the `name` of a context in the kubeconfig; without it the current one")
	output         = flags.String("o", "", "wide prints NAME, STATUS and AGE; without it one name per line")
	chunkSize      = flags.Int64("chunk-size", 500, "request at most `n` namespaces at once; 0 requests all of them")
	requestTimeout = flags.Duration("request-timeout", 10*time.Second, "how long to wait for the answer to one request; 0 is no limit")
)

func main() {
	_ = flags.Parse(os.Args[1:]) // ends the program if they are wrong
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: %q isn't a flag, and all flags after it would be ignored\n", flags.Arg(0))
		os.Exit(2)
	}
	*requestTimeout = cmp.Or(*requestTimeout, math.MaxInt64) // 0 is no limit, as in kubectl
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the kubeconfig says it. A file that --kubeconfig names must exist.
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = *kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: *kubeContext}).ClientConfig()
	if err == nil {
		err = run(ctx, config, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", explain(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 6, 4, 3, ' ', 0) // columns as wide as kubectl's
	switch *output {
	case "":
	case "wide":
		fmt.Fprintln(table, "NAME\tSTATUS\tAGE")
	default:
		return fmt.Errorf("unknown output %q; only wide is known", *output)
	}
	for namespaces, err := range pages(ctx, client.CoreV1().Namespaces(), *chunkSize, *requestTimeout) {
		if err != nil {
			return fmt.Errorf("listing the namespaces: %w", err)
		}
		for _, namespace := range namespaces {
			printNamespace(table, namespace)
		}
		if err := table.Flush(); err != nil { // an error of the next chunk loses nothing of this one
			return fmt.Errorf("printing the namespaces: %w", err)
		}
	}
	return nil
}

// printNamespace prints a name, and with -o wide what kubectl prints besides.
func printNamespace(out io.Writer, namespace corev1.Namespace) {
	if *output != "wide" {
		fmt.Fprintln(out, namespace.Name)
		return
	}
	age := duration.HumanDuration(time.Since(namespace.CreationTimestamp.Time))
	fmt.Fprintf(out, "%s\t%s\t%s\n", namespace.Name, namespace.Status.Phase, age)
}
