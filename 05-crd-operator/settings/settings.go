package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cluster"
)

// program is the name under which the operator does all that it does.
const program = "settings"

// Run is the program without its process. It returns the exit code: 0 also when
// the context has ended, because nothing else ends it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if err == nil {
		err = connectAndOperate(ctx, o)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

// connectAndOperate finds the cluster.
func connectAndOperate(ctx context.Context, o options) error {
	config, namespace, err := o.cluster.Config()
	if err != nil {
		return err
	}
	if !o.allNamespaces {
		o.namespace = namespace
	}
	log.SetLogger(klog.FromContext(ctx))
	return cluster.Explain(operate(ctx, config, o), config.Host)
}

// operate works until the context ends.
func operate(ctx context.Context, config *rest.Config, o options) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	if err := knock(ctx, config, scheme, o); err != nil {
		return err
	}
	mgr, err := newManager(config, scheme, o, klog.FromContext(ctx))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// knock asks for a little of what will be watched. A cache that is refused tries
// again for minutes, and only the log tells; at the start, a refusal is an error.
func knock(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, o options) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	server, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	err = server.List(ctx, &v1alpha1.SettingsLayerList{}, client.InNamespace(o.namespace), client.Limit(1))
	if meta.IsNoMatchError(err) {
		return errors.New("the cluster does not know SettingsLayers yet; to teach it: kubectl apply -f config/crd")
	}
	if err != nil {
		return err
	}
	return server.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(o.namespace), client.MatchingFields{"metadata.name": o.configMap})
}
