package operator

import (
	"fmt"
	"net"
	"regexp"

	"github.com/distribution/reference"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

const program = "postgres-operator" // under this name it does all that it does

// Command returns the program.
func Command() *cobra.Command {
	var (
		flags         cli.ConfigFlags
		allNamespaces bool
		serviceType   string
		o             Options
	)
	command := &cobra.Command{
		Use:   program,
		Short: "Run PostgresClusters: PostgreSQL on one or more members, which fails over",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if o.Version, err = versionOf(o.Image); err != nil {
				return cli.UsageError(command, err)
			}
			o.ServiceType = corev1.ServiceType(serviceType)
			if o.ServiceType != corev1.ServiceTypeClusterIP && o.ServiceType != corev1.ServiceTypeNodePort {
				return cli.UsageError(command, fmt.Errorf("--service-type %q is neither ClusterIP nor NodePort", serviceType))
			}
			if _, _, err := net.ParseCIDR(o.OperatorNetwork); err != nil && o.OperatorNetwork != "" {
				return cli.UsageError(command, fmt.Errorf("--operator-network: %w", err))
			}
			config, namespace, err := flags.Load()
			if err != nil {
				return err
			}
			if !allNamespaces {
				o.Namespace = namespace
			}
			ctrl.SetLogger(klog.FromContext(command.Context()))
			return Run(command.Context(), config, o)
		},
	}
	flags.AddFlags(command.Flags())
	flags.AddNamespaceFlag(command.Flags())
	command.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	command.Flags().StringVar(&o.Image, "image", "", "the `image` of the members, as make postgres names it; its tag is the version of PostgreSQL")
	command.Flags().StringVar(&serviceType, "service-type", string(corev1.ServiceTypeClusterIP), "the `type` of the Services: ClusterIP or NodePort. In the lab, only NodePort can be reached")
	command.Flags().StringVar(&o.LeaderNamespace, "leader-namespace", "", "the `namespace` of the Lease by which one of several operators works; without it, this one works in any case")
	command.Flags().StringVar(&o.MetricsAddress, "metrics-address", "", "the `host:port` of /metrics, over HTTPS and for those who may get it; without it, there are no metrics")
	command.Flags().StringVar(&o.HealthAddress, "health-address", "", "the `host:port` of /healthz and /readyz; without it, there are none")
	command.Flags().StringVar(&o.OperatorNetwork, "operator-network", "", "the `CIDR` of the operator, if it is in no pod: from there members' /status can be reached, where a NetworkPolicy has an effect")
	return command
}

// versionTag is a tag such as 17 or 17.6.
var versionTag = regexp.MustCompile(`^[1-9][0-9](\.[0-9]+)?$`)

// versionOf is the major version of PostgreSQL in an image. Its tag is that, or a minor version.
func versionOf(image string) (string, error) {
	if image == "" {
		return "", fmt.Errorf("--image is missing; make postgres makes one and prints its name")
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", fmt.Errorf("--image %q is no name of an image: %w", image, err)
	}
	if tagged, ok := named.(reference.Tagged); ok && versionTag.MatchString(tagged.Tag()) {
		return plan.Major(tagged.Tag()), nil
	}
	return "", fmt.Errorf("--image %q does not say which PostgreSQL is in it; give it a version as its tag, such as postgres-member:17 or postgres-member:17.6", image)
}
