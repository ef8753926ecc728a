// Package verbs holds the commands that run a program behind the proxy of package faults, and that
// make and end its faults.
package verbs

import (
	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/faults"
)

// A Place says where the commands find what they need.
type Place struct {
	Socket     string                 // of the proxy
	Faulty     func() (string, error) // the kubeconfig that leads to the proxy, or why none does
	Kubeconfig string                 // the one that leads to the API server itself
	Context    string                 // in that one; if empty, the current one
	Etcd       faults.Etcd
}

// verbs are the commands of a place, which is asked for when one of them runs.
type verbs struct{ place func() (Place, error) }

// Commands returns them all. The place is asked for when a command runs.
func Commands(place func() (Place, error)) []*cobra.Command {
	v := verbs{place}
	return []*cobra.Command{
		v.newRun(), v.newCut(), v.newFreeze(), v.newSlow(), v.newRefuse(), v.newExpire(), v.newHeal(), v.newThaw(),
	}
}
