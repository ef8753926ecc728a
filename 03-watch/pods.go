package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/03-watch/cli"
)

func podsCommand(o *options) *cobra.Command {
	var output, typ string
	command := &cobra.Command{
		Use:   "pods",
		Short: "Print every change to the pods, whatever happens to the connection",
		RunE: o.with(func(command *cobra.Command, config *rest.Config, namespace string) error {
			if output != "" && output != "json" {
				return cli.UsageError(command, fmt.Errorf("unknown output %q, only json is known", output))
			}
			source, kind, err := o.source(command.Context(), config, namespace, typ)
			if err != nil {
				return err
			}
			report := printText(command.OutOrStdout(), kind.Kind)
			if output == "json" {
				report = printJSON(command.OutOrStdout(), kind)
			}
			return newFollower(source, report, notesOf(command), o.requestTimeout).run(command.Context())
		}),
	}
	command.Flags().StringVarP(&output, "output", "o", "", "the `format`: json prints one line per change, with the whole object")
	command.Flags().StringVar(&typ, "any", "", "watch this `type` and not pods: deployments, nodes, a custom resource")
	return command
}

// source is where to list and watch objects of the type, which is pods if it is
// empty, and of what kind they are.
func (o *options) source(ctx context.Context, config *rest.Config, namespace, typ string) (cache.ListerWatcherWithContext, schema.GroupVersionKind, error) {
	if typ == "" {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, schema.GroupVersionKind{}, err
		}
		return podSource(client, namespace, o.selector), corev1.SchemeGroupVersion.WithKind("Pod"), nil
	}

	ctx, cancel := context.WithTimeout(ctx, o.requestTimeout)
	defer cancel()
	mapper, err := newMapper(ctx, config)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	mapping, err := mappingFor(ctx, mapper, typ)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	return anySource(client, mapping, namespace, o.selector), mapping.GroupVersionKind, nil
}
