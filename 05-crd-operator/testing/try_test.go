//go:build try

package layers_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// What the lesson of part 6 asks the reader to write are tests. These here test them: with a right
// operator they pass, and with a wrong one they fail.

func TestTryATableFindsAWrongDeadline(t *testing.T) {
	mistakes := map[string]func(*cnat.At){
		"ignores the deadline":    func(at *cnat.At) { at.Spec.StartingDeadlineSeconds = nil },
		"ends a second too early": func(at *cnat.At) { *at.Spec.StartingDeadlineSeconds-- },
		"ends a second too late":  func(at *cnat.At) { *at.Spec.StartingDeadlineSeconds++ },
	}
	for mistake, make := range mistakes {
		t.Run("a decision that "+mistake, func(t *testing.T) {
			var found []string
			for name, tc := range decisions {
				at := newAt(past)
				at.Spec.StartingDeadlineSeconds = tc.deadline
				require.Equal(t, tc.want, decide(at, tc.late), "the decision is right, and the entry %q isn't", name)
				if tc.deadline == nil {
					continue
				}
				at.Spec.StartingDeadlineSeconds = new(*tc.deadline)
				if make(at); decide(at, tc.late) != tc.want {
					found = append(found, name)
				}
			}
			assert.NotEmpty(t, found, "no entry of decisions finds a decision that %s", mistake)
		})
	}
}

func TestTryAFakeClientRefusesPods(t *testing.T) {
	full := true
	c := interceptor.NewClient(newFakeClient(t), quota(&full))
	err := c.Create(t.Context(), newPod())
	require.True(t, apierrors.IsForbidden(err), "a pod beyond the quota was not forbidden: %v", err)
	createRunningAt(t, c) // a quota of pods is about pods

	result, err := newReconciler(c).Reconcile(t.Context(), request())
	require.NoError(t, err)
	assert.NotZero(t, result.RequeueAfter)
	at := &cnat.At{}
	require.NoError(t, c.Get(t.Context(), request().NamespacedName, at))
	assert.True(t, meta.IsStatusConditionFalse(at.Status.Conditions, cnat.Scheduled), "the At doesn't say that its pod was refused")

	full = false
	require.NoError(t, c.Create(t.Context(), newPod()), "the quota has room again")
}

func TestTryTheTestFindsAWrongRetry(t *testing.T) {
	passed, output := testWith(t, "TestARefusedPodIsTriedAgain", "")
	for mistake := range mistakes {
		t.Run("an operator that "+mistake, func(t *testing.T) {
			require.True(t, passed, "your test fails, although the operator is right:\n%s", output)
			passed, _ := testWith(t, "TestARefusedPodIsTriedAgain", mistake)
			assert.False(t, passed, "your test passes, although the operator %s", mistake)
		})
	}
}

// mistakes are what else an operator may do about a pod that was refused.
var mistakes = map[string]func(time.Duration) time.Duration{
	"never tries again":             func(time.Duration) time.Duration { return 0 },
	"tries again a nanosecond late": func(wait time.Duration) time.Duration { return wait + 1 },
	"tries again too early":         func(wait time.Duration) time.Duration { return wait - 1 },
}

// mistakeVariable names the mistake of the operator that is to be tested.
const mistakeVariable = "AT_MISTAKE"

func init() {
	change, wrong := mistakes[os.Getenv(mistakeVariable)]
	if !wrong {
		return
	}
	around = func(right reconcile.Reconciler) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			result, err := right.Reconcile(ctx, req)
			if result.RequeueAfter > 0 {
				result.RequeueAfter = change(result.RequeueAfter)
			}
			return result, err
		})
	}
}

// testWith runs a test in a process of its own, since it is to fail there.
func testWith(t *testing.T, test, mistake string) (passed bool, output string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v")
	command.Env = append(os.Environ(), mistakeVariable+"="+mistake)
	printed, err := command.CombinedOutput()
	require.Contains(t, string(printed), "=== RUN   "+test+"\n", "it was not run")
	return err == nil, string(printed)
}

func TestTryAGenerationIsADifference(t *testing.T) {
	const name = "generation: the command of an At is changed"
	difference, found := differences[name]
	require.True(t, found, "differences has no entry %q", name)
	for client, want := range map[client.Client]string{newFakeClient(t): difference.fake, newServerClient(t): difference.server} {
		assert.Contains(t, want, "generation")
		assert.Contains(t, difference.do(t.Context(), client), want)
	}
	assert.NotEqual(t, difference.fake, difference.server)
	assert.Contains(t, difference.server, "2", "the second generation")
}
