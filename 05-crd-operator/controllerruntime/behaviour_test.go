package controllerruntime

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/internal/behaviour"
)

// TestBehaviour runs the cases that both forms of the operator pass.
func TestBehaviour(t *testing.T) {
	behaviour.Test(t, runWith(Options{}), "../config", "controllerruntime")
}

// TestReadYourWrites runs the cases of stale caches with reads that wait for the operator's
// own writes. In one of them the operator never gets to its live read: see own-writes.md.
func TestReadYourWrites(t *testing.T) {
	behaviour.TestStale(t, runWith(Options{ReadYourWrites: true}), "../config", "controllerruntime",
		"the cache of pods is stale, and it is too late to start")
}

func runWith(o Options) behaviour.Operator {
	return func(ctx context.Context, config *rest.Config, namespace string, workers int, clock clock.WithTicker) error {
		o := o
		o.Namespace, o.Workers, o.Clock, o.SkipNameValidation = namespace, workers, clock, true
		return Run(ctx, config, o)
	}
}
