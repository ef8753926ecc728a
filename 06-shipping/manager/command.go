package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// Options are the flags of the manager, checked. Each flag is an environment
// variable, too: LOG_LEVEL is --log-level. An installation sets variables, and
// leaves the command line alone.
type Options struct {
	Cluster cli.ConfigFlags

	// LeaderElect is whether to work only while it holds the Lease.
	LeaderElect bool
	// LeaderNamespace is where the Lease is that the managers share.
	LeaderNamespace string
	// Identity is the name of this manager among its replicas.
	Identity string

	// Namespaces are where to work. None is everywhere.
	Namespaces []string
	// Concurrency is how many objects of a kind to work on at the same time.
	Concurrency int
	// CommandImage is what the commands of Ats run in.
	CommandImage string

	LogLevel  string // debug, info, warn or error
	LogFormat string // json or text
	// Region is an example of a value that is known only when the manager is
	// installed. It is in each line of the log, and a label of cnat_manager_info.
	Region string

	// MetricsAddress is where metrics are served over HTTPS; 0 is nowhere.
	MetricsAddress string
	// MetricsCertDir holds tls.crt and tls.key. Without it, they are made at each
	// start, and nobody can verify them.
	MetricsCertDir string
	// MetricsTokenFile holds the token of those who may read the metrics. Without
	// it, the API server reviews who may.
	MetricsTokenFile string
	// HealthAddress is where /healthz and /readyz are served.
	HealthAddress string

	// TraceEndpoint is where traces are sent to, as OTLP over HTTP. Without it,
	// there are none. It has no flag: the variable is that of OpenTelemetry.
	TraceEndpoint string
}

// Command returns the program. It calls run with the options of its command line; those
// that are not there come from the environment.
func Command(getenv func(string) string, run func(context.Context, Options) error) *cobra.Command {
	o := Options{Identity: getenv("POD_NAME"), TraceEndpoint: getenv("OTEL_EXPORTER_OTLP_ENDPOINT")}
	command := &cobra.Command{
		Use:   "manager",
		Short: "Run the commands of Ats when their time has come, and keep settings merged",
		Long:  "Run the commands of Ats when their time has come, and keep settings merged.\n\nEach flag is an environment variable, too: LOG_LEVEL is --log-level.",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			err := fromEnvironment(command.Flags(), getenv)
			if err == nil {
				err = o.validate()
			}
			if err != nil {
				return cli.UsageError(command, err)
			}
			log := newLogger(command.OutOrStdout(), o)
			return run(klog.NewContext(command.Context(), log), o)
		},
	}
	o.addFlags(command.Flags(), getenv)
	return command
}

func (o *Options) addFlags(flags *pflag.FlagSet, getenv func(string) string) {
	flags.SortFlags = false
	o.Cluster.AddFlags(flags)
	flags.StringSliceVar(&o.Namespaces, "namespaces", nil, "the `names` of the namespaces to work in, with commas between them; without it all")
	flags.IntVar(&o.Concurrency, "concurrency", 8, "how `many` objects of a kind to work on at the same time")
	flags.StringVar(&o.CommandImage, "command-image", lifecycle.DefaultImage, "the `image` that commands run in, with a sh")
	flags.BoolVar(&o.LeaderElect, "leader-elect", true, "work only while it holds the Lease")
	flags.StringVar(&o.LeaderNamespace, "leader-election-namespace", getenv("POD_NAMESPACE"), "the `namespace` of the Lease that the managers share; without it $POD_NAMESPACE")
	flags.StringVar(&o.LogLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&o.LogFormat, "log-format", "json", "json or text")
	flags.StringVar(&o.Region, "region", "", "a `name` that stands in each line of the log, and in the metrics")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8443", "the `address` at which metrics are served over HTTPS; 0 for none")
	flags.StringVar(&o.MetricsCertDir, "metrics-cert-dir", "", "the `folder` of tls.crt and tls.key; without it they are made at each start")
	flags.StringVar(&o.MetricsTokenFile, "metrics-token-file", "", "the `file` with the token of those who may read metrics; without it the API server reviews who may")
	flags.StringVar(&o.HealthAddress, "health-bind-address", ":8081", "the `address` of /healthz and /readyz")
}

// fromEnvironment sets each flag whose variable is set, but for those that were on
// the command line.
func fromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var problems []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		// KUBECONFIG may be a list, and clientcmd reads it.
		if value := getenv(name); value != "" && !f.Changed && f.Name != "kubeconfig" {
			if err := flags.Set(f.Name, value); err != nil {
				problems = append(problems, fmt.Errorf("the variable %s: %w", name, err))
			}
		}
	})
	return errors.Join(problems...)
}

func (o *Options) validate() error {
	for _, namespace := range o.Namespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			return fmt.Errorf("--namespaces has %q, which is not the name of a namespace", namespace)
		}
	}
	switch {
	case o.Concurrency < 1:
		return fmt.Errorf("--concurrency is %d, it must be at least 1", o.Concurrency)
	case o.LeaderElect && o.LeaderNamespace == "":
		return errors.New("--leader-elect needs a namespace for its Lease: name it with --leader-election-namespace, or --leader-elect=false if there is one manager only")
	case !slices.Contains([]string{"debug", "info", "warn", "error"}, o.LogLevel):
		return fmt.Errorf("--log-level is %q, it can be debug, info, warn or error", o.LogLevel)
	case !slices.Contains([]string{"json", "text"}, o.LogFormat):
		return fmt.Errorf("--log-format is %q, it can be json or text", o.LogFormat)
	case !isAddress(o.MetricsAddress) && o.MetricsAddress != "0":
		return fmt.Errorf("--metrics-bind-address is %q, it must be like :8443, or 0 for no metrics", o.MetricsAddress)
	case !isAddress(o.HealthAddress):
		return fmt.Errorf("--health-bind-address is %q, it must be like :8081", o.HealthAddress)
	case o.TraceEndpoint != "" && !isURL(o.TraceEndpoint):
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is %q, it must be like http://collector:4318", o.TraceEndpoint)
	}
	return nil
}

func isAddress(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

func isURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
