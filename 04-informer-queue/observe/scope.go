package observe

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
)

// scope is which names are selected.
type scope struct {
	resource   string // for errors: services, deployments.apps
	namespaced bool
	namespace  string // empty: all of them, or none
}

func scopeOf(mapping *meta.RESTMapping, namespace string) scope {
	s := scope{
		resource:   mapping.Resource.GroupResource().String(),
		namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace,
	}
	if s.namespaced {
		s.namespace = namespace
	}
	return s
}

// String is for messages: services in namespace default.
func (s scope) String() string {
	if s.namespace == "" {
		return s.resource
	}
	return s.resource + " in namespace " + s.namespace
}

// parseNames reads what --names printed, one name per line, and returns those
// that are in the scope. The others are ignored.
func (s scope) parseNames(printed string) ([]key, error) {
	var keys []key
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		k, err := s.parseName(line)
		if err != nil {
			return nil, err
		}
		if s.namespace == "" || k.namespace == s.namespace {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func (s scope) parseName(line string) (key, error) {
	namespace, name, both := strings.Cut(line, "/")
	if !both {
		namespace, name = s.namespace, line
	}
	want := "NAMESPACE/NAME"
	if !s.namespaced {
		want = "NAME"
	} else if s.namespace != "" {
		want = "NAMESPACE/NAME or NAME"
	}
	if name == "" || s.namespaced != (namespace != "") || both && !s.namespaced || strings.ContainsAny(name, "/ \t") || strings.ContainsAny(namespace, " \t") {
		return key{}, fmt.Errorf("--names printed %q; for %s each line must be %s", line, s, want)
	}
	return key{namespace: namespace, name: name}, nil
}
