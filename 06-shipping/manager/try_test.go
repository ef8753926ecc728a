//go:build try

package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// What the lesson of part 1 asks the reader to write: a manager that fails early, and reads little.

func TestTryTheRegionIsAName(t *testing.T) {
	for region, want := range map[string]bool{"": true, "coast": true, "eu-west-1": true, "the coast": false, "Coast": false, `"}`: false} {
		_, _, stderr := environment{"REGION": region}.parse(t, "--leader-elect=false")
		if want {
			assert.Empty(t, stderr, "%q is a name", region)
		} else {
			assert.Contains(t, stderr, "--region", "the manager accepts the region %q", region)
		}
	}
}

func TestTryNothingOfKubeSystemIsCached(t *testing.T) {
	selector := cacheOptions(nil).DefaultFieldSelector
	require.NotNil(t, selector, "the cache takes the objects of each namespace")
	assert.False(t, selector.Matches(fields.Set{"metadata.namespace": "kube-system"}), "the cache takes the objects of kube-system")
	assert.True(t, selector.Matches(fields.Set{"metadata.namespace": "team-a"}), "the cache leaves out those of team-a")
}

func TestTryAPortThatIsRefusedIsExplained(t *testing.T) {
	o := Options{MetricsAddress: ":443", HealthAddress: ":8081"}
	refused := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}
	got := explain(fmt.Errorf("failed to create listener: %w", refused), &rest.Config{}, o)
	require.ErrorIs(t, got, syscall.EACCES, "what the kernel said is lost")
	for _, part := range []string{"--metrics-bind-address", ":443", "--health-bind-address", ":8081"} {
		assert.Contains(t, got.Error(), part, "the error does not say what to change")
	}
	file := &fs.PathError{Op: "open", Path: "/token", Err: syscall.EACCES}
	assert.NotContains(t, explain(file, &rest.Config{}, o).Error(), "bind-address", "a file that may not be read is no port")
}

// What the lesson of part 2 asks for: more about the one that leads.

func TestTryTheLeaseNamesTheVersion(t *testing.T) {
	Version = "v0.6.1"
	t.Cleanup(func() { Version = "devel" })
	assert.Regexp(t, regexp.MustCompile(`^manager-1_v0\.6\.1_[0-9a-f-]{36}$`), election(t, "manager-1").LeaderElectionResourceLockInterface.Identity(),
		"the holder of the Lease does not say which version it is")
}

func TestTryALeaderThatIsCutOffEndsFirst(t *testing.T) {
	o := election(t, "manager-1")
	lease, deadline, retry := *o.LeaseDuration, *o.RenewDeadline, *o.RetryPeriod
	assert.Greater(t, lease, retry+deadline+deadline/2, "another may lead before the one that is cut off has ended")
	assert.LessOrEqual(t, lease+2*retry*22/10, 30*time.Second, "a dead leader is replaced too late")
	assert.Greater(t, deadline, retry*22/10, "the leader has no time to try twice")
}

func TestTryAPauseIsNoStandstill(t *testing.T) {
	f, clock := newFactory(), testclock.NewFakePassiveClock(time.Unix(0, 0))
	w := newWatchdog(f, clock)
	after := func(pause time.Duration) error {
		clock.SetTime(clock.Now().Add(pause))
		return w.alive(nil)
	}
	f.depth.WithLabelValues("ats", "").Set(9)
	require.NoError(t, after(0))
	require.NoError(t, after(5*time.Minute), "it is killed for the time in which it was paused")
	var err error
	for range 20 { // ten minutes in which it runs, and does nothing
		if err = after(30 * time.Second); err != nil {
			break
		}
	}
	assert.Error(t, err, "a queue that stands still is no reason any more")
}

// What the lesson of part 3 asks for: an old version that meets the objects of a new one.

func TestTryAPhaseOfALaterVersionIsUnknown(t *testing.T) {
	later := func(at *cnat.At) { at.Status.Phase = "FAILED" }
	got := map[string]float64{}
	for _, m := range gather(t, &atCollector{reader(t, newAt("a"), newAt("b", later), newAt("c", later)), testclock.NewFakePassiveClock(ten)})["cnat_ats"] {
		got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	assert.NotContains(t, got, "FAILED", "the metric has a label that this version does not know")
	assert.InDelta(t, 2, got["unknown"], 0, "the two are not counted as unknown")
	assert.InDelta(t, 1, got["PENDING"], 0)
}

// What the lesson of part 4 asks for: a manager that knows what rights are worth.

func TestTryKubeSystemIsRefused(t *testing.T) {
	_, _, stderr := environment{"NAMESPACES": "team-a,kube-system"}.parse(t, "--leader-elect=false")
	assert.Contains(t, stderr, "kube-system", "the manager works in kube-system")
	_, _, stderr = environment{"NAMESPACES": "team-a,team-b"}.parse(t, "--leader-elect=false")
	assert.Empty(t, stderr)
}

func TestTryAShortTokenIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	for token, want := range map[string]bool{"0123456789abcdef": true, " 0123456789abcdef\n": true, "0123456789abcde\n\n\n": false, "s3cret": false} {
		require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
		_, err := readToken(file)
		assert.Equal(t, want, err == nil, "a token of %d characters", len(strings.TrimSpace(token)))
		if err != nil {
			assert.NotContains(t, err.Error(), strings.TrimSpace(token), "the error has the token in it")
		}
	}
}

func TestTryARightInTheWholeClusterMayNotBeNeeded(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "ats"}, "", errors.New(`cannot list resource "ats" at the cluster scope`))
	got := explain(forbidden, &rest.Config{}, Options{})
	assert.Contains(t, got.Error(), "--namespaces", "the error does not name the flag")
	assert.True(t, apierrors.IsForbidden(got), "what the API server said is lost")
	assert.NotContains(t, explain(forbidden, &rest.Config{}, Options{Namespaces: []string{"team-a"}}).Error(), "--namespaces", "some are named already")
	assert.NotContains(t, explain(errors.New("no"), &rest.Config{}, Options{}).Error(), "--namespaces", "it is about something else")
}

// What the lesson of part 5 asks for: signals that lead to each other.

// once reconciles once, with a log, and returns what was logged at level info.
func once(ctx context.Context, tracing *tracing, work reconcile.Func) string {
	var lines bytes.Buffer
	ctx = ctrllog.IntoContext(ctx, newLogger(&lines, Options{LogLevel: "info"}))
	_, _ = tracing.traceReconciles("reconcile", work).Reconcile(ctx, reconcile.Request{})
	return lines.String()
}

func TestTryASpanHasThePause(t *testing.T) {
	tracing, recorder := recordedTracing()
	once(t.Context(), tracing, func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: 10 * time.Second}, nil
	})
	require.Len(t, recorder.Ended(), 1)
	attributes := map[string]string{}
	for _, a := range recorder.Ended()[0].Attributes() {
		attributes[string(a.Key)] = a.Value.Emit()
	}
	assert.Equal(t, "10s", attributes["requeueAfter"], "the span does not say when the At is looked at again")
}

func TestTryALogLineNamesItsTrace(t *testing.T) {
	tracing, recorder := recordedTracing()
	line := once(t.Context(), tracing, func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		ctrllog.FromContext(ctx).Info("wrote the status")
		return reconcile.Result{}, nil
	})
	require.Len(t, recorder.Ended(), 1)
	assert.Contains(t, line, `"traceID":"`+recorder.Ended()[0].SpanContext().TraceID().String()+`"`, "the log has no traceID")
}

func TestTryASlowReconcileIsLogged(t *testing.T) {
	for name, tc := range map[string]struct {
		took time.Duration
		err  error
		want bool
	}{
		"one of two seconds":            {2 * time.Second, nil, true},
		"one of two seconds that fails": {2 * time.Second, errors.New("no"), true},
		"one of half a second":          {time.Second / 2, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tracing, _ := recordedTracing()
				line := once(t.Context(), tracing, func(context.Context, reconcile.Request) (reconcile.Result, error) {
					time.Sleep(tc.took)
					return reconcile.Result{}, tc.err
				})
				if tc.want {
					assert.Contains(t, line, `"msg":"slow reconcile"`, "the log has no line of a slow reconcile")
				} else {
					assert.NotContains(t, line, "slow reconcile", "a quick one needs no line")
				}
			})
		})
	}
}
