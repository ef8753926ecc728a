package settings

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// TestAnOperatorThatDoesNotWatchItsOutput runs all cases with an operator that has this
// mistake. The tests of the happy path never notice it, and each test of drift does. Most
// of those wait in vain, so all run at once.
func TestAnOperatorThatDoesNotWatchItsOutput(t *testing.T) {
	w := sharedWorld(t)
	var cases sync.WaitGroup
	defer cases.Wait()
	for name, run := range happyPath {
		cases.Go(func() {
			t.Run(name, func(t *testing.T) { runUnwatched(t, w, name, run) })
		})
	}
	for name, run := range drift {
		cases.Go(func() {
			t.Run(name, func(t *testing.T) {
				tried := &trial{TB: t}
				tried.run(func() { runUnwatched(tried, w, name, run) })
				assert.Contains(t, tried.complaint, undone, "the case is to fail because of that, and of nothing else")
			})
		})
	}
}

func runUnwatched(t testing.TB, w *world, name string, run func(testing.TB, *env)) {
	s := w.newEnv(t, envName(name))
	s.unwatched = true
	run(t, s)
}

// runWithoutWatch is Run without the watch on the ConfigMap.
func runWithoutWatch(ctx context.Context, config *rest.Config, o Options) error {
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return err
	}
	r := NewReconciler(mgr, o)
	if err := ctrl.NewControllerManagedBy(mgr).
		Named(program).
		Watches(&v1alpha1.SettingsLayer{}, handler.EnqueueRequestsFromMapFunc(requestFor), builder.WithPredicates(layerChanged)).
		WithOptions(controller.Options{SkipNameValidation: new(true)}).
		Complete(r); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// trial is a test within a test, which keeps its first complaint to itself.
type trial struct {
	testing.TB
	complaint string
}

func (t *trial) Errorf(format string, args ...any) {
	if t.complaint == "" {
		t.complaint = fmt.Sprintf(format, args...)
	}
}

// FailNow ends what run has begun.
func (t *trial) FailNow() { panic(t) }

func (t *trial) run(test func()) {
	defer func() {
		if r := recover(); r != nil && r != any(t) {
			panic(r)
		}
	}()
	test()
}
