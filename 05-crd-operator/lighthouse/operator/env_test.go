package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/hacking-a-controller/05-crd-operator/access"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

var install sync.Once

// coast is a namespace with a Secret, an office that has nothing else to do, and a clock that only tests move.
type coast struct {
	*testing.T
	client.Client
	cluster *testcluster.Cluster // nil if its objects are in memory
	clock   *testclock.FakeClock
	list    *lightlist.Office
	server  *httptest.Server // of the office
	space   string           // the namespace
}

func newCoast(t *testing.T) *coast {
	t.Helper()
	cluster := testcluster.Shared(t)
	install.Do(func() { cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "config/crd")...) })
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "coast-"}}
	created, err := cluster.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(t, err)
	c := coastOf(t, newClient(t, cluster.Config), created.Name)
	c.cluster = cluster
	c.list.Set(func(s *lightlist.Settings) { s.Takes.Duration = 3 * time.Second })
	return c
}

// coastOf is a coast of these objects.
func coastOf(t *testing.T, objects client.Client, space string) *coast {
	t.Helper()
	c := &coast{T: t, Client: client.NewNamespacedClient(objects, space), clock: testclock.NewFakeClock(time.Unix(0, 0)), space: space}
	c.list = lightlist.New(c.clock, lightlist.Settings{Bearer: "trinity"})
	c.server = httptest.NewServer(c.list)
	t.Cleanup(c.server.Close)
	t.Cleanup(c.server.Client().CloseIdleConnections)
	c.secret("trinity\n")
	return c
}

// kinds are those of the operator, and where they are.
func kinds(t *testing.T) (*runtime.Scheme, meta.RESTMapper) {
	t.Helper()
	types, err := newScheme()
	require.NoError(t, err)
	mapper, err := access.Mapper(types)(nil, nil)
	require.NoError(t, err)
	return types, mapper
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	types, mapper := kinds(t)
	made, err := client.New(config, client.Options{Scheme: types, Mapper: mapper})
	require.NoError(t, err)
	return made
}

// secret puts the bearer token into the Secret, which it creates at first.
func (c *coast) secret(bearer string) {
	c.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.space, Name: "light-list"}}
	_, err := controllerutil.CreateOrUpdate(c.Context(), c, secret, func() error {
		secret.Data = map[string][]byte{tokenKey: []byte(bearer), "other": []byte("x")}
		return nil
	})
	require.NoError(c, err)
}

func (c *coast) deleteSecret() {
	c.Helper()
	c.delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "light-list"}})
}

func (c *coast) delete(object client.Object) {
	c.Helper()
	require.NoError(c, c.Delete(c.Context(), object))
}

const plymouth, rame = "50.18N 4.27W", "50.31N 4.22W"

func eddystone() *v1alpha1.Lighthouse {
	return &v1alpha1.Lighthouse{
		ObjectMeta: metav1.ObjectMeta{Name: "eddystone"},
		Spec:       v1alpha1.LighthouseSpec{Lamps: 3, Flash: "short short", Position: plymouth, SecretRef: &v1alpha1.SecretReference{Name: "light-list"}},
	}
}

// light reads the Lighthouse from the server; nil if there is none.
func (c *coast) light() *v1alpha1.Lighthouse {
	c.Helper()
	light := &v1alpha1.Lighthouse{}
	err := c.Get(c.Context(), client.ObjectKey{Name: "eddystone"}, light)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(c, err)
	return light
}

// change changes the Lighthouse as a user.
func (c *coast) change(change func(*v1alpha1.Lighthouse)) {
	c.Helper()
	light := c.light()
	change(light)
	require.NoError(c, c.Update(c.Context(), light))
}

// is returns the condition that is True, and its reason, such as "Ready Burning".
func (c *coast) is() string {
	c.Helper()
	light := c.light()
	if light == nil {
		return "gone"
	}
	var is []string
	for _, condition := range light.Status.Conditions {
		if condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == light.Generation {
			is = append(is, condition.Type, condition.Reason)
		}
	}
	return strings.Join(is, " ")
}

// listed reports whether the Light List has the Lighthouse once, at this position, and the status says so.
func (c *coast) listed(position string) bool {
	lights, _ := c.list.Books()
	light := c.light()
	return len(lights) == 1 && light != nil && lights[0].Token == string(light.UID) && lights[0].Position == position && lights[0].Character == light.Spec.Flash &&
		lights[0].Number == light.Status.Number && light.Status.Listed != nil && *light.Status.Listed == v1alpha1.Listing{Position: position, Character: light.Spec.Flash}
}

// next sets what happens to the next calls of the office, one after the other.
func (c *coast) next(faults ...lightlist.Fault) {
	c.list.Set(func(s *lightlist.Settings) { s.Next = faults })
}

// registered is how many lights the office has.
func (c *coast) registered() int {
	lights, _ := c.list.Books()
	return len(lights)
}

// bills counts the lines of the ledger.
func (c *coast) bills(what string) (count int) {
	_, ledger := c.list.Books()
	for _, entry := range ledger {
		if entry.What == what {
			count++
		}
	}
	return count
}

// mustBurn gives the Deployment the status that its controller would give it, as there is none here.
func (c *coast) mustBurn() {
	c.Helper()
	deployment := &appsv1.Deployment{}
	err := c.Get(c.Context(), client.ObjectKey{Name: "eddystone"}, deployment)
	if apierrors.IsNotFound(err) || err == nil && (deployment.OwnerReferences == nil || deployment.Status.ObservedGeneration == deployment.Generation) {
		return
	}
	require.NoError(c, err)
	lamps := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: lamps, UpdatedReplicas: lamps, ReadyReplicas: lamps}
	require.NoError(c, c.Status().Update(c.Context(), deployment))
}

// operator is one, without a manager: the test calls Reconcile, and moves the clock as the result says.
type operator struct {
	*coast
	*wire
	*reconciler
	cache   *cached
	backoff time.Duration
}

func (c *coast) operator(w *wire) *operator {
	c.Helper()
	config := rest.CopyConfig(c.cluster.Config)
	config.Wrap(w.wrap)
	live := newClient(c.T, config)
	office := newOffice(c.server.URL, c.clock)
	office.client = &http.Client{Transport: w.wrap(c.server.Client().Transport)} // a time-out would be real time
	cache := &cached{Client: live, seen: map[string]seen{}}
	return &operator{c, w, &reconciler{cache, live, office}, cache, 0}
}

// reconcile reconciles once, and returns when to do that again.
func (o *operator) reconcile(ctx context.Context) (time.Duration, error) {
	o.cache.left = max(0, o.cache.left-1)
	result, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: o.space, Name: "eddystone"}})
	if err != nil { // in a program, the queue chooses this
		o.backoff = min(max(time.Second, 2*o.backoff), time.Minute)
		return o.backoff, err
	}
	o.backoff = 0
	return result.RequeueAfter, nil
}

// drive reconciles until the condition holds. An operator that dies is followed by another one, so
// much later that the office has forgotten what it had recognized.
func (o *operator) drive(until func() bool) *operator {
	o.Helper()
	for range 100 {
		o.mustBurn()
		again, err := o.reconcile(o.Context())
		if o.dead {
			o = o.operator(&wire{})
			again = 2 * lightlist.KeyLife
		} else if err == nil && until() {
			return o
		}
		o.clock.Step(again)
	}
	light := o.light()
	o.Fatalf("it does not end: %s, %+v", o.is(), light)
	return nil
}

// cached is a cache that can be stale: for the reconciles that are left, it returns what was read last.
type cached struct {
	client.Client
	left int // reconciles
	seen map[string]seen
}

type seen struct {
	object client.Object
	err    error
}

func (c *cached) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	name := fmt.Sprintf("%T %s", object, key)
	last, known := c.seen[name]
	if c.left == 0 || !known {
		err := c.Client.Get(ctx, key, object, options...)
		if err == nil || apierrors.IsNotFound(err) {
			c.seen[name] = seen{object.DeepCopyObject().(client.Object), err}
		}
		return err
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(last.object.DeepCopyObject()).Elem())
	return last.err
}
