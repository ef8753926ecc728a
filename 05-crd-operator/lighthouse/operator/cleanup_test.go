package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

func TestAFinalizerIsAPatchThatLeavesTheRest(t *testing.T) {
	s := newShore(t)
	s.change(func(light *v1alpha1.Lighthouse) { light.Finalizers = []string{"example.com/rope"} })
	stale := s.light()
	s.change(func(light *v1alpha1.Lighthouse) { light.Finalizers = append(light.Finalizers, "example.com/anchor") })
	require.True(t, apierrors.IsConflict(s.patch(t.Context(), stale, controllerutil.AddFinalizer)), "it takes away what others have added meanwhile")

	require.NoError(t, s.patch(t.Context(), s.light(), controllerutil.AddFinalizer))
	assert.Equal(t, []string{"example.com/rope", "example.com/anchor", finalizer}, s.light().Finalizers)
	require.NoError(t, s.patch(t.Context(), s.light(), controllerutil.RemoveFinalizer))
	assert.Equal(t, []string{"example.com/rope", "example.com/anchor"}, s.light().Finalizers, "it takes away those of others")
}

func TestAPatchOfAFinalizerSendsNothingElse(t *testing.T) {
	s := newShore(t)
	light := s.light()
	light.Spec.Flash = "long" // as an older version of the type would have it, that doesn't know all fields
	require.NoError(t, s.patch(t.Context(), light, controllerutil.AddFinalizer))
	assert.Equal(t, "short short", s.light().Spec.Flash, "it writes more than the finalizer")
}

func TestTheFinalizerIsThereBeforeTheRegistration(t *testing.T) {
	s := newShore(t)
	s.before = func(*http.Request) {
		assert.Contains(t, s.light().Finalizers, finalizer, "the office is called for a Lighthouse without a finalizer")
	}
	require.NoError(t, s.register())
	assert.Contains(t, s.calls, http.MethodPost)
}

func TestALighthouseThatWasNeverRegisteredMayGo(t *testing.T) {
	s := newShore(t)
	s.deleteSecret()
	require.ErrorContains(t, s.register(), "NoToken")
	s.delete(eddystone())
	assert.Nil(t, s.light(), "it's kept for a registration that it never had")
}

func TestALighthouseGoesAfterItsRegistration(t *testing.T) {
	s := leaving(t)
	s.before = func(*http.Request) {
		assert.NotNil(t, s.light(), "the finalizer went before the registration")
	}
	require.NoError(t, s.reconcile())
	assert.Equal(t, []string{http.MethodDelete}, s.calls)
	assert.Nil(t, s.light())
	assert.Zero(t, s.registered(), "the registration was forgotten")
}

func TestALighthouseStaysWhileItsRegistrationMay(t *testing.T) {
	for name, trouble := range map[string]func(*shore){
		"the office is down":     func(s *shore) { s.list.Set(func(o *lightlist.Settings) { o.Down = true }) },
		"the office is busy":     func(s *shore) { s.next(lightlist.TooMany) },
		"the office is broken":   func(s *shore) { s.next(lightlist.Broken) },
		"the token was replaced": func(s *shore) { s.list.Set(func(o *lightlist.Settings) { o.Bearer = "ulysses" }) },
		"a proxy answers 404":    (*shore).proxy,
		"the Secret is gone":     (*shore).deleteSecret,
		"the annotation is not it": func(s *shore) {
			s.list.Set(func(o *lightlist.Settings) { o.Down = true })
			s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = map[string]string{"abandon-registration": "yes"} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := leaving(t)
			trouble(s)
			_ = s.reconcile() // some are errors
			require.NotNil(t, s.light(), "the registration was forgotten")
			assert.Equal(t, 1, s.registered())
			assert.Contains(t, s.light().Status.Conditions[0].Message, "annotate it with "+abandon, "it says what the way out is")
		})
	}
}

func TestWhatIsWithdrawnAlreadyMayGo(t *testing.T) {
	for name, happens := range map[string]func(*shore){
		"the answer was lost":       func(s *shore) { s.next(lightlist.Lose) },
		"a clerk has struck it off": func(s *shore) { s.list.Edit("1", "", "") },
	} {
		t.Run(name, func(t *testing.T) {
			s := leaving(t)
			happens(s)
			for range 3 {
				if s.light() != nil {
					_ = s.reconcile() // the first one may be an error
				}
			}
			assert.Nil(t, s.light(), "it's Terminating, although there is nothing left to withdraw")
		})
	}
}

func TestAPersonLetsALighthouseGo(t *testing.T) {
	for name, trouble := range map[string]func(*shore){
		"although the office is down": func(s *shore) { s.list.Set(func(o *lightlist.Settings) { o.Down = true }) },
		"although the Secret is gone": (*shore).deleteSecret,
	} {
		t.Run(name, func(t *testing.T) {
			s := leaving(t)
			trouble(s)
			s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = map[string]string{abandon: "yes"} })
			require.NoError(t, s.reconcile())
			assert.Nil(t, s.light(), "the annotation has no effect")
			assert.Empty(t, s.calls, "nobody needs to answer")
			assert.Equal(t, 1, s.registered(), "the registration stays, as the annotation says")
		})
	}
}

func TestTheAnnotationAloneChangesNothing(t *testing.T) {
	s := newShore(t)
	s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = map[string]string{abandon: "yes"} })
	require.NoError(t, s.register())
	assert.Contains(t, s.light().Finalizers, finalizer)
	assert.Equal(t, 1, s.registered())
}

func TestTheOfficeRemembersLongerThanACallLasts(t *testing.T) {
	assert.Less(t, 10*callTimeout, lightlist.KeyLife, "a registration may come after the office has forgotten that it was withdrawn")
}
