package main

import (
	"context"
	"net/http"
	"net/http/httptest"
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
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/access"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

var install sync.Once

// coast is a namespace with one Lighthouse, an office that has nothing else to do, and a clock that
// only tests move.
type coast struct {
	*testing.T
	client.Client
	cluster *testcluster.Cluster
	clock   *testclock.FakeClock
	office  *lightlist.Office
	server  *httptest.Server
	space   string // the namespace
}

func newCoast(t *testing.T) *coast {
	t.Helper()
	c := &coast{T: t, cluster: testcluster.Shared(t), clock: testclock.NewFakeClock(time.Unix(0, 0))}
	install.Do(func() { c.cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "config/crd")...) })
	c.Client = newClient(t, c.cluster.Config)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "coast-"}}
	require.NoError(t, c.Create(t.Context(), namespace))
	c.space = namespace.Name
	c.Client = client.NewNamespacedClient(c.Client, c.space)

	c.office = lightlist.New(c.clock, lightlist.Settings{Bearer: "trinity", Takes: metav1.Duration{Duration: 3 * time.Second}})
	c.server = httptest.NewServer(c.office)
	t.Cleanup(c.server.Close)
	t.Cleanup(c.server.Client().CloseIdleConnections)
	c.secret("trinity")
	return c
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	types, err := newScheme()
	require.NoError(t, err)
	mapper, err := access.Mapper(types)(nil, nil)
	require.NoError(t, err)
	mapper.(*meta.DefaultRESTMapper).AddSpecific(corev1.SchemeGroupVersion.WithKind("Namespace"), corev1.SchemeGroupVersion.WithResource("namespaces"), corev1.SchemeGroupVersion.WithResource("namespace"), meta.RESTScopeRoot)
	made, err := client.New(config, client.Options{Scheme: types, Mapper: mapper})
	require.NoError(t, err)
	return made
}

// secret puts the bearer token into the Secret, which it creates at first.
func (c *coast) secret(bearer string) {
	c.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "light-list"}, Data: map[string][]byte{"token": []byte(bearer + "\n"), "other": []byte("x")}}
	err := c.Create(c.Context(), secret)
	if apierrors.IsAlreadyExists(err) {
		err = c.Update(c.Context(), secret)
	}
	require.NoError(c, err)
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
	light := eddystone()
	err := c.Get(c.Context(), client.ObjectKeyFromObject(light), light)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(c, err)
	return light
}

// mustChange changes the Lighthouse as a user.
func (c *coast) mustChange(change func(*v1alpha1.Lighthouse)) {
	c.Helper()
	light := c.light()
	from := client.MergeFrom(light.DeepCopy())
	change(light)
	require.NoError(c, c.Patch(c.Context(), light, from))
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
	lights, _ := c.office.Books()
	light := c.light()
	return len(lights) == 1 && light != nil && lights[0].Token == string(light.UID) && lights[0].Position == position && lights[0].Character == light.Spec.Flash &&
		lights[0].Number == light.Status.Number && light.Status.Listed != nil && *light.Status.Listed == v1alpha1.Listing{Position: position, Character: light.Spec.Flash}
}

// bills counts the lines of the ledger.
func (c *coast) bills(what string) (count int) {
	_, ledger := c.office.Books()
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
	o.cache.tick()
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
		if o.died() {
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

// cached is a cache that can be stale: once it is frozen, it returns what was read last, for a few reconciles.
type cached struct {
	client.Client
	mu   sync.Mutex
	left int // reconciles
	seen map[string]seen
}

type seen struct {
	object client.Object
	err    error
}

func (c *cached) freeze(reconciles int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = reconciles
}

func (c *cached) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = max(0, c.left-1)
}

func (c *cached) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	gvk, err := c.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	name := gvk.Kind + " " + key.String()
	last, known := c.seen[name]
	if c.left == 0 || !known {
		err := c.Client.Get(ctx, key, object, options...)
		if err == nil || apierrors.IsNotFound(err) {
			c.seen[name] = seen{object.DeepCopyObject().(client.Object), err}
		}
		return err
	}
	if last.err != nil {
		return last.err
	}
	switch into := object.(type) {
	case *v1alpha1.Lighthouse:
		last.object.(*v1alpha1.Lighthouse).DeepCopyInto(into)
	case *appsv1.Deployment:
		last.object.(*appsv1.Deployment).DeepCopyInto(into)
	case *corev1.Service:
		last.object.(*corev1.Service).DeepCopyInto(into)
	case *corev1.Secret:
		last.object.(*corev1.Secret).DeepCopyInto(into)
	default:
		panic("the operator reads another kind")
	}
	return nil
}
