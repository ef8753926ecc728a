package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

// entry is the Lighthouse in the Light List, with the first number.
func entry() lightlist.Light {
	return lightlist.Light{Token: "1", Position: plymouth, Character: "short short", Number: "A0001"}
}

// mustList requires that the Light List has the Lighthouse, and nothing else.
func (s *shore) mustList(want lightlist.Light, why string) {
	s.Helper()
	lights, _ := s.list.Books()
	require.Len(s, lights, 1, why)
	is := lights[0]
	assert.Equal(s, want, lightlist.Light{Token: is.Token, Position: is.Position, Character: is.Character, Number: is.Number}, why)
}

func TestTheTokenOfARegistrationIsTheUID(t *testing.T) {
	s := newShore(t)
	light, _, err := s.registerNow()
	require.NoError(t, err)
	s.mustList(entry(), "the Light List doesn't have it under its UID")
	assert.Equal(t, "A0001", light.Status.Number)
	assert.Equal(t, &v1alpha1.Listing{Position: plymouth, Character: "short short"}, light.Status.Listed)
}

// failing is an API server that fails each read with the same error.
type failing struct {
	client.Reader
	err error
}

func (f failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return f.err
}

func TestAnAPIServerThatFailsIsNotTheOffice(t *testing.T) {
	for _, err := range []error{
		apierrors.NewInternalError(errors.New("etcd is slow")),
		&url.Error{Op: "Get", URL: "https://127.0.0.1:6443", Err: context.DeadlineExceeded}, // it doesn't answer at all
	} {
		s := newShore(t)
		s.live = failing{err: err}
		require.ErrorIs(t, s.reconcile(), err)
		assert.Equal(t, "Reconciling Failed", s.is())
	}
}

func TestAProxyIsNotTheOffice(t *testing.T) {
	s := newShore(t)
	s.proxy()
	require.ErrorIs(t, s.reconcile(), errNoAnswer)
	assert.Equal(t, "Reconciling OfficeUnavailable", s.is())
}

func TestALighthouseWithoutAPositionIsNotRegistered(t *testing.T) {
	s := newShore(t)
	s.change(func(light *v1alpha1.Lighthouse) { light.Spec.Position, light.Spec.SecretRef = "", nil })
	light, again, err := s.registerNow()
	require.NoError(t, err)
	assert.Zero(t, again, "there is nothing to look at")
	assert.Empty(t, s.calls)
	assert.Empty(t, s.light().Finalizers)
	assert.True(t, isListed(light), "it needn't be")
}

// TestALostAnswerIsPaidForOnce loses the answer to a POST. The office has forgotten its token by the time that the
// operator calls again.
func TestALostAnswerIsPaidForOnce(t *testing.T) {
	s := newShore(t)
	s.before = func(r *http.Request) {
		if r.Method == http.MethodPost && s.bills("registered") == 0 {
			s.next(lightlist.Lose)
		}
	}
	require.ErrorContains(t, s.register(), "OfficeUnavailable")
	require.Equal(t, 1, s.bills("registered"))
	s.clock.Step(2 * lightlist.KeyLife)
	require.NoError(t, s.register())
	assert.Equal(t, 1, s.bills("registered"), "it was registered, and nobody looked before it was registered again")
	s.mustList(entry(), "it's there")
}

func TestWhatAClerkDoesIsFoundWithinAMinute(t *testing.T) {
	for name, position := range map[string]string{"changes the entry": "elsewhere", "strikes it off": ""} {
		t.Run(name, func(t *testing.T) {
			s := newShore(t)
			require.NoError(t, s.reconcile())
			s.list.Edit("1", position, "long")
			require.NoError(t, s.reconcile())
			want := entry()
			want.Number = s.light().Status.Number
			s.mustList(want, "the Light List says what the clerk wants, and not what the spec says")
		})
	}
}

// A stale cache has a Lighthouse that isn't there any more as it was.
func TestALighthouseThatIsGoneIsNotRegistered(t *testing.T) {
	goes := func(s *shore) {
		s.change(func(light *v1alpha1.Lighthouse) { light.Finalizers = nil })
		s.delete(eddystone())
	}
	for name, happens := range map[string]func(*shore){
		"it is gone": goes,
		"another one has its name": func(s *shore) {
			goes(s)
			another := eddystone()
			another.UID, another.Generation, another.Finalizers = "2", 1, []string{finalizer}
			require.NoError(s, s.Create(s.Context(), another))
		},
		"its spec has changed": func(s *shore) {
			s.change(func(light *v1alpha1.Lighthouse) { light.Generation++ })
		},
		"it may go without being withdrawn": func(s *shore) {
			s.change(func(light *v1alpha1.Lighthouse) { light.Finalizers = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShore(t)
			s.change(func(light *v1alpha1.Lighthouse) { light.Finalizers = []string{finalizer} })
			stale := s.light()
			happens(s)
			_, err := s.reconciler.register(s.context(), stale)
			assert.Zero(t, s.registered(), "it's registered, and there is no such Lighthouse")
			require.ErrorIs(t, err, errStale, "Reconcile has to be called again")
		})
	}
}

func TestTheOfficeIsCalledWhenItIsTime(t *testing.T) {
	s := newShore(t)
	s.list.Set(func(o *lightlist.Settings) { o.Takes.Duration = 5 * time.Minute })
	// next requires that nobody calls, however often Reconcile does, and waits.
	next := func(want time.Duration) *v1alpha1.Lighthouse {
		light, again, err := s.registerNow()
		require.NoError(t, err)
		assert.Equal(t, want, again)
		calls := len(s.calls)
		for range 3 {
			_, again, err := s.registerNow()
			require.NoError(t, err)
			assert.Equal(t, want, again)
		}
		require.Len(t, s.calls, calls, "it calls too early")
		s.clock.Step(want)
		return light
	}
	light := next(5 * time.Minute)
	assert.Empty(t, light.Status.Number, "the office works on it, and has said for how long")
	is, reason, _ := summary(light, &appsv1.Deployment{}, nil)
	assert.Equal(t, "Reconciling Registering", is+" "+reason)
	assert.Equal(t, "A0001", next(checkEvery).Status.Number)
	next(checkEvery)
}

func TestRetryAfterHoldsForAllLighthouses(t *testing.T) {
	s := newShore(t)
	s.next(lightlist.TooMany)
	require.ErrorContains(t, s.register(), "OfficeBusy")
	calls := len(s.calls)
	assert.Equal(t, 7*time.Second, s.office.wait("another", ""))
	_, again, err := s.registerNow()
	require.NoError(t, err)
	assert.Equal(t, 7*time.Second+turnEvery, again, "they take turns")
	assert.Len(t, s.calls, calls, "it calls although the office is busy")
}
