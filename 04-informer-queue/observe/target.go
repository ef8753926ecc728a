package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// target is what is observed: a type, in a cluster, in one namespace or in all.
type target struct {
	client  dynamic.Interface
	mapping *meta.RESTMapping
	scope   scope
}

// connect finds the cluster, and the type that the user names: pods, po, deployments.apps or
// the name of a custom resource. kubectl's Builder does it, as in stage 2.
func (o *options) connect() (found target, err error) {
	config, err := o.cluster.ToRESTConfig()
	if err != nil {
		return found, err
	}
	namespace, _, err := o.cluster.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return found, err
	}
	if o.allNamespaces {
		namespace = ""
	}
	// The Builder takes every failure of discovery for an unknown type. So see first whether the
	// API server answers.
	api, err := o.cluster.ToDiscoveryClient()
	if err != nil {
		return found, err
	}
	if _, err := api.ServerGroups(); err != nil {
		return found, err
	}
	mapping, err := resource.NewBuilder(o.cluster).
		Unstructured().
		ResourceTypeOrNameArgs(true, o.resource).
		SingleResourceType().
		Do().ResourceMapping()
	if err != nil {
		return found, err
	}
	config.QPS = -1 // one worker is limit enough
	client, err := dynamic.NewForConfig(config)
	return target{client, mapping, scopeOf(mapping, namespace)}, err
}

// scope is which names are selected.
type scope struct {
	resource   string // for errors: services, deployments.apps
	namespaced bool
	namespace  string // empty: all of them, or none
}

func scopeOf(mapping *meta.RESTMapping, namespace string) scope {
	name := mapping.Resource.GroupResource().String()
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return scope{resource: name}
	}
	return scope{name, true, namespace}
}

// String is for messages: services in namespace default.
func (s scope) String() string {
	if s.namespace == "" {
		return s.resource
	}
	return s.resource + " in namespace " + s.namespace
}

// parseNames reads what --names printed, one name per line, and returns those that are in the
// scope. The others are ignored.
func (s scope) parseNames(printed string) ([]cache.ObjectName, error) {
	var keys []cache.ObjectName
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		k, err := s.parseName(line)
		if err != nil {
			return nil, err
		}
		if s.namespace == "" || k.Namespace == s.namespace {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func (s scope) parseName(line string) (cache.ObjectName, error) {
	namespace, name, both := strings.Cut(line, "/")
	if !both {
		namespace, name = s.namespace, line
	}
	if name == "" || s.namespaced != (namespace != "") || both && !s.namespaced || strings.ContainsAny(namespace, " \t") || strings.ContainsAny(name, "/ \t") {
		return cache.ObjectName{}, fmt.Errorf("--names printed %q; for %s each line must be NAMESPACE/NAME, or NAME where there is one namespace or none", line, s)
	}
	return cache.ObjectName{Namespace: namespace, Name: name}, nil
}
