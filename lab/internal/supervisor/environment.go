package supervisor

import (
	"slices"
	"strings"
)

// forComponents leaves out the variables that send an HTTP client through a proxy. What a
// component calls is on this machine, and not all of it looks so: the API server calls a
// webhook by the name of its Service. It also leaves out those that etcd takes for flags: it dies
// of one that has both. Where etcd asks for ETCD_UNSUPPORTED_ARCH, no flag says the same.
func forComponents(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
		return name == "HTTP_PROXY" || name == "HTTPS_PROXY" || strings.HasPrefix(name, "ETCD_") && name != "ETCD_UNSUPPORTED_ARCH"
	})
}
