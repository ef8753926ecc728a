// Client-list prints the namespaces of a cluster, one per line.
//
// It is a whole Kubernetes client in five steps, and each has its file:
//
//	config.go   find out which cluster is meant, and as whom
//	main.go     turn that into a clientset, and tie the rest together
//	list.go     ask for the namespaces, a page at a time
//	print.go    print each page
//	errors.go   say what to do next when a request fails
//
// It lists once and ends. Every later stage keeps watching instead.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels the request. It also gives signals their usual
	// meaning back, so a second Ctrl-C ends the program whatever it is doing.
	context.AfterFunc(ctx, stop)

	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process, so that a test can call it. It
// returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stdout)
	if err == nil {
		err = listNamespaces(ctx, opts, stdout)
	}
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.Is(err, errReaderGone): // `client-list | head -1` is no failure
		return 0
	default:
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
}

// options are the command line, checked.
type options struct {
	kubeconfig     string
	context        string
	output         string
	chunkSize      int64
	requestTimeout time.Duration
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet("client-list", pflag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig `file`; without it $KUBECONFIG, then the pod's service account, then ~/.kube/config")
	flags.StringVar(&o.context, "context", "", "the `name` of the kubeconfig context; without it the current one")
	flags.StringVarP(&o.output, "output", "o", "", "the `format`: wide prints NAME, STATUS and AGE; without it one name per line")
	flags.Int64Var(&o.chunkSize, "chunk-size", 500, "ask for at most `n` namespaces in one request; 0 asks for all of them at once")
	flags.DurationVar(&o.requestTimeout, "request-timeout", 10*time.Second, "how long to wait for the answer to one request")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Print the namespaces of a cluster, one per line.\n\nUsage:\n  client-list [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return o, err
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.output != "" && o.output != "wide":
		err = fmt.Errorf("unknown output %q, only wide is known", o.output)
	case o.chunkSize < 0:
		err = fmt.Errorf("--chunk-size is %d, it must be 0 or more", o.chunkSize)
	case o.requestTimeout <= 0:
		err = fmt.Errorf("--request-timeout is %s, it must be more than 0", o.requestTimeout)
	}
	if err != nil {
		return o, fmt.Errorf("%w; see client-list --help", err)
	}
	return o, nil
}

// listNamespaces is the whole path: configuration, clientset, pages, print.
func listNamespaces(ctx context.Context, o options, stdout io.Writer) error {
	config, err := loadConfig(o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	// client-go holds a client to 5 requests a second unless told otherwise.
	// One request after another is restraint enough.
	config.QPS = -1

	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}

	printer := newPrinter(o.output, stdout)
	for namespaces, err := range pages(ctx, client.CoreV1().Namespaces(), o.chunkSize, o.requestTimeout) {
		if err != nil {
			// What has arrived is worth printing even when the rest is missing.
			return errors.Join(printer.finish(), explain(err, config.Host))
		}
		if err := printer.print(namespaces); err != nil {
			return err
		}
	}
	return printer.finish()
}
