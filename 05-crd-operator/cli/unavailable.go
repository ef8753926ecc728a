package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/discovery"
)

// Unavailable is for a type that was not found. Discovery leaves out the types of an
// API that does not answer, such as one that an APIService leads to. discovered is the
// error of discovery, which names those APIs.
func Unavailable(err, discovered error) error {
	down, _ := discovery.GroupDiscoveryFailedErrorGroups(discovered)
	if len(down) == 0 {
		return err
	}
	var names []string
	for version := range maps.Keys(down) {
		names = append(names, version.String())
	}
	slices.Sort(names)
	return fmt.Errorf("%w; but of %s there was no answer, so its types are unavailable, not unknown: kubectl get apiservices says why", err, strings.Join(names, ", "))
}
