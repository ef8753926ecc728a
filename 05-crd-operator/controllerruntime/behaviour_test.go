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
	run := func(ctx context.Context, config *rest.Config, namespace string, workers int, clock clock.WithTicker) error {
		return Run(ctx, config, Options{Namespace: namespace, Workers: workers, Clock: clock, SkipNameValidation: true})
	}
	behaviour.Test(t, run, "../config", "controllerruntime")
}
