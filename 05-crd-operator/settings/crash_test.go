package settings

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// TestACrashAfterEveryWrite runs one sequence of changes undisturbed and counts the writes
// of the operator. Then it runs the sequence once for each of them: this write reaches the
// server, the operator dies before it has the answer, and a new one takes over. The
// cluster must come to the same state, to the last label.
func TestACrashAfterEveryWrite(t *testing.T) {
	w := sharedWorld(t)
	want, writes, crashes := sequence(t, w, "calm", -1)
	require.Equal(t, 0, crashes)
	assert.GreaterOrEqual(t, writes, fewest, "the sequence is not the one that its comments describe")

	for n := 1; n <= fewest; n++ {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			t.Parallel()
			got, _, crashes := sequence(t, w, fmt.Sprintf("crash%d", n), n)
			assert.Equal(t, 1, crashes)
			assert.Equal(t, want, got)
		})
	}
}

// fewest is how many writes there are in the sequence. There are two more each time
// that the operator is faster than the one who replaces the ConfigMap: it makes a new
// one in between, and that is deleted as well.
const fewest = 20

// sequence makes all changes, with a crash after so many writes, and returns what is
// in the cluster after each step.
func sequence(t *testing.T, w *world, name string, crashAfter int) (steps [][]string, writes, crashes int) {
	s := w.newEnv(t, name)
	requests := &ledger{}
	died := restarting(s, crashAfter, requests)
	step := func(want state) {
		s.becomes(want)
		steps = append(steps, everything(s))
	}

	s.layer("defaults", 0, data{"colour": "blue", "size": "7"}) // an apply and a status: 2
	step(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})

	s.layer("site", 10, data{"colour": "green"}) // a conflict: an apply and two statuses
	good := state{
		"settings": "colour=green size=7; of defaults, site",
		"defaults": "True PartlyOverridden 1, colour by site", "site": "True Merged 1",
	}
	step(good)

	s.edit(`{"data":{"colour":"forged"}}`) // drift: an apply
	step(good)
	s.edit(`{"data":{"forged":"x"},"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}`) // a patch and an apply
	step(good)
	s.edit(`{"immutable":true}`) // a deletion and an apply
	step(good)
	s.replace(data{"theirs": "yes"}) // a patch and an apply
	step(good)
	s.delete() // an apply
	step(good)

	s.patchLayer("site", `{"spec":{"data":{"colour":"red","shape":"round"}}}`) // an apply and a status
	good["settings"], good["site"] = "colour=red shape=round size=7; of defaults, site", "True Merged 2"
	step(good)

	s.patchLayer("defaults", `{"spec":{"priority":20}}`) // an apply and two statuses
	step(state{
		"settings": "colour=blue shape=round size=7; of defaults, site",
		"defaults": "True Merged 2", "site": "True PartlyOverridden 2, colour by defaults",
	})

	s.deleteLayer("site") // an apply
	step(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 2"})

	s.deleteLayer("defaults") // and a deletion
	step(state{})

	crashes = died()
	return steps, len(requests.accepted()), crashes
}

// everything is the ConfigMap and the layers of the env, with all that the
// operator writes and its field managers, but without times, versions and UIDs.
func everything(s *env) []string {
	var all []string
	have := s.settings()
	err := s.admin.Get(s.t.Context(), client.ObjectKeyFromObject(have), have)
	if !apierrors.IsNotFound(err) {
		require.NoError(s.t, err)
		var owners, managers []string
		for _, owner := range have.OwnerReferences {
			owners = append(owners, owner.APIVersion+" "+owner.Kind+" "+owner.Name)
		}
		slices.Sort(owners) // the order of their UIDs is another each time
		for _, manager := range have.ManagedFields {
			managers = append(managers, manager.Manager+" "+string(manager.Operation))
		}
		all = append(all, fmt.Sprintln(have.Labels, have.Annotations, have.Data, have.BinaryData, have.Immutable != nil, owners, managers))
	}
	var layers v1alpha1.SettingsLayerList
	require.NoError(s.t, s.admin.List(s.t.Context(), &layers, client.InNamespace(s.name)))
	for _, layer := range layers.Items {
		for i := range layer.Status.Conditions {
			layer.Status.Conditions[i].LastTransitionTime.Reset()
		}
		all = append(all, fmt.Sprintln(layer.Name, layer.Spec, layer.Status, layer.OwnerReferences, layer.Finalizers, layer.Labels))
	}
	return all
}

// restarting runs the operator as a cluster would: when it dies, it is started
// again, without the fault. The function that it returns ends that, and returns how
// often it died.
func restarting(s *env, crashAfter int, requests *ledger) (died func() int) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), s.log))
	var deaths atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			life, die := context.WithCancel(ctx)
			config := rest.CopyConfig(s.config)
			requests.watch(config)
			if deaths.Load() == 0 {
				crash(crashAfter, func() { deaths.Add(1); die() })(config)
			}
			err := Run(life, config, Options{Namespace: s.name, Workers: 2, SkipNameValidation: true})
			if life.Err() == nil {
				assert.NoError(s.t, err)
			}
			die()
		}
	}()
	s.t.Cleanup(func() { cancel(); <-done })
	return func() int {
		cancel()
		<-done
		return int(deaths.Load())
	}
}
