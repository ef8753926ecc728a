package clientgo

import (
	"cmp"

	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// Options say where to work, and when.
type Options struct {
	// Namespace is where the Ats are. metav1.NamespaceAll, the default, is
	// everywhere.
	Namespace string
	// Workers is how many Ats to work on at the same time. The default is 8.
	Workers int
	// Clock tells when an At is due. The default is that of this machine; tests
	// bring one that they can turn.
	Clock clock.WithTicker
}

const defaultWorkers = 8

func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(o.Workers, defaultWorkers)
	if o.Clock == nil {
		o.Clock = wallclock.New()
	}
	return o
}
