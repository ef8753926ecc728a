package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// shore is a coast without an API server: its objects are in memory, for a verdict within seconds. Its office
// is a real one.
type shore struct {
	*coast
	*reconciler
	client.Client                       // of a user, as the coast has it
	calls         []string              // to the office
	before        func(*http.Request)   // what happens before a call to the office, if it isn't nil
	answer        func() *http.Response // what the office is said to answer, if it isn't nil
	logged        strings.Builder
}

// newShore has eddystone, the Secret with its token, and what else a test wants.
func newShore(t *testing.T, more ...client.Object) *shore {
	t.Helper()
	types, mapper := kinds(t)
	light := eddystone()
	light.Namespace, light.UID, light.Generation = "coast", "1", 1
	kept := fake.NewClientBuilder().WithScheme(types).WithRESTMapper(mapper).WithReturnManagedFields().
		WithStatusSubresource(light, &appsv1.Deployment{}).WithIndex(light, secretIndex, secretOf).WithObjects(light).WithObjects(more...).
		WithInterceptorFuncs(interceptor.Funcs{Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			err := c.Apply(ctx, object, options...)
			if deployment, is := object.(*appsv1ac.DeploymentApplyConfiguration); is {
				deployment.WithGeneration(1) // as an API server does
			}
			return err
		}}).Build()

	s := &shore{coast: coastOf(t, kept, "coast")}
	s.Client = s.coast.Client
	s.reconciler = &reconciler{kept, kept, newOffice(s.server.URL, s.clock)}
	s.office.client = &http.Client{Transport: testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
		s.calls = append(s.calls, r.Method)
		if s.before != nil {
			s.before(r)
		}
		if s.answer != nil {
			return s.answer(), nil
		}
		return s.server.Client().Transport.RoundTrip(r)
	})}
	return s
}

// register calls what Reconcile calls once the lamps are as they should be.
func (s *shore) register() error {
	s.clock.Step(time.Minute) // so that it's its turn
	_, _, err := s.registerNow()
	return err
}

// registerNow returns the Lighthouse with its status, which it doesn't write, and when to look again.
func (s *shore) registerNow() (light *v1alpha1.Lighthouse, again time.Duration, err error) {
	light = s.light()
	again, err = s.reconciler.register(s.context(), light)
	return light, again, err
}

// reconcile reconciles the Lighthouse once.
func (s *shore) reconcile() error {
	s.clock.Step(time.Minute)
	_, err := s.Reconcile(s.context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "coast", Name: "eddystone"}})
	return err
}

// context has a logger that writes to logged.
func (s *shore) context() context.Context {
	log := funcr.New(func(_, args string) { s.logged.WriteString(args + "\n") }, funcr.Options{Verbosity: 9})
	return ctrl.LoggerInto(s.Context(), log)
}

// answers makes an office of one answer, in JSON.
func (s *shore) answers(code int, retryAfter string, body io.Reader) {
	s.answer = func() *http.Response {
		header := http.Header{"Content-Type": {"application/json"}, "Retry-After": {retryAfter}}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(body)}
	}
}

// proxy is one before the office, which doesn't know where that is.
func (s *shore) proxy() { s.answers(http.StatusNotFound, "", http.NoBody) }

// leaving is a shore whose Lighthouse is registered, and is being deleted.
func leaving(t *testing.T) *shore {
	t.Helper()
	s := newShore(t)
	require.NoError(t, s.register())
	s.calls = nil
	s.delete(eddystone())
	return s
}
