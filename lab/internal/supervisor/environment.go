package supervisor

import (
	"slices"
	"strings"
)

// withoutProxies leaves out the variables that send an HTTP client through a proxy. What a
// component calls is on this machine, and not all of it looks so: the API server calls a
// webhook by the name of its Service.
func withoutProxies(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
		return name == "HTTP_PROXY" || name == "HTTPS_PROXY"
	})
}
