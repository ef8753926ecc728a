package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const (
	lights       = 1000
	old, current = "v1alpha1", "v1beta1"
)

// The manifest of a team, in both versions.
const (
	oldManifest = `{apiVersion: coast.example.com/v1alpha1, kind: Lighthouse, metadata: {name: eddystone, namespace: default}, spec: {lamps: 1, flash: long short}}`
	newManifest = `{apiVersion: coast.example.com/v1beta1, kind: Lighthouse, metadata: {name: eddystone, namespace: default},
		spec: {lamps: 1, position: unlisted, character: {flashes: [2s, 500ms], count: 1}}}`
)

// TestAThousandLighthousesMove goes to the new version, back, and up again, while a client of each version
// writes and a team applies its manifest. What was acknowledged is never lost, and no write fails
// before its version is gone.
func TestAThousandLighthousesMove(t *testing.T) {
	m := newMove(t)
	var stopOld, stopTeam, stopNew func()
	m.phase("create them in v1alpha1", func() {
		m.applyCRD("../operator/config/crd", nil)
		for n := range lights {
			m.create(n)
		}
		require.NoError(t, m.apply(oldManifest))
		m.listen(old, &v1alpha1.Lighthouse{})
		stopOld, stopTeam = m.load(m.writeOld), m.load(m.applyOld)
	})
	m.phase("serve v1beta1, too", func() {
		m.applyCRD("../operator/config/versions", m.conversion())
		m.listen(current, &v1beta1.Lighthouse{})
		stopNew = m.load(m.writeNew)
		m.settle()
	})
	for _, step := range []struct{ name, version string }{
		{"store v1beta1, rewrite", current}, {"back to v1alpha1, rewrite", old}, {"and up again", current},
	} {
		m.phase(step.name, func() { m.migrate(step.version) })
	}
	m.phase("the clients move", func() {
		stopTeam()
		require.NoError(t, m.apply(newManifest), "the same in other words")
		stopOld()
		m.mute(old)
		m.settle()
	})
	m.phase("don't serve v1alpha1", func() {
		m.serve(old, false)
		m.becomes("gone", func() error { return wantGone(m.apply(oldManifest)) })
		m.serve(old, true)
		m.becomes("there again, for those who were forgotten", func() error { return m.apply(oldManifest) })
		require.NoError(t, m.apply(newManifest))
		m.serve(old, false)
		m.settle()
	})
	m.phase("take it out of the CRD", func() {
		m.changeCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions, crd.Spec.Conversion = crd.Spec.Versions[1:], nil
		})
		m.settle()
	})
	stopNew()
	require.NoError(t, wantGone(m.apply(oldManifest)))
	m.report()
}

func wantGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("this should not be found: %w", err)
}

// move is an API server whose clients write, and what has come of it.
type move struct {
	*testing.T
	client.Client
	loaders client.Client // the same, for a few writes in a second
	cluster *testcluster.Cluster
	types   *runtime.Scheme
	table   strings.Builder

	writing sync.RWMutex // a client holds it for a write, and a phase for its check

	mu           sync.Mutex
	acknowledged map[string]v1beta1.Character // by the last write of each Lighthouse
	count        map[string]int               // in this phase
	failed       []error
	muted        map[string]func()
}

func newMove(t *testing.T) *move {
	m := &move{
		T: t, cluster: testcluster.Start(t), types: runtime.NewScheme(),
		acknowledged: map[string]v1beta1.Character{}, count: map[string]int{}, muted: map[string]func(){},
	}
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		require.NoError(t, add(m.types))
	}
	var err error
	m.Client, err = client.New(m.cluster.Config, client.Options{Scheme: m.types})
	require.NoError(t, err)
	limited := rest.CopyConfig(m.cluster.Config)
	limited.QPS, limited.Burst = 30, 1
	m.loaders, err = client.New(limited, client.Options{Scheme: m.types})
	require.NoError(t, err)
	fmt.Fprint(&m.table, "phase\tseconds\twrites v1alpha1\tv1beta1\tapplied\trewritten\theard v1alpha1\tv1beta1\tin etcd v1alpha1\tv1beta1\n")
	return m
}

// phase runs a part of the move, and checks that nothing has failed and nothing is lost.
func (m *move) phase(name string, run func()) {
	m.Helper()
	begin := time.Now()
	run()
	seconds := time.Since(begin).Seconds()
	m.writing.Lock() // nobody writes
	defer m.writing.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Empty(m, m.failed, name)
	m.check()
	stored := m.inEtcd()
	fmt.Fprintf(&m.table, "%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, seconds, m.count["write "+old], m.count["write "+current], m.count["apply"],
		m.count["rewritten"], m.count["heard "+old], m.count["heard "+current], stored[old], stored[current])
	m.Logf("%s: %.1f s", name, seconds)
	clear(m.count)
}

func (m *move) report() {
	m.Helper()
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprint(w, m.table.String())
	require.NoError(m, err)
	require.NoError(m, w.Flush())
	m.Logf("%d Lighthouses\n%s", lights, aligned.String())
}

// check compares what each served version shows with what was acknowledged.
func (m *move) check() {
	m.Helper()
	wantNew, wantOld := map[string]string{}, map[string]string{}
	for name, character := range m.acknowledged {
		wantNew[name], wantOld[name] = fmt.Sprint(character), flash(m.T, character)
	}
	served, _ := m.versions()
	got := map[string]string{}
	if served[old] {
		var lights v1alpha1.LighthouseList
		require.NoError(m, m.List(m.Context(), &lights))
		for _, light := range lights.Items {
			got[light.Name] = light.Spec.Flash
		}
		require.Equal(m, wantOld, got, "in %s", old)
	}
	if served[current] {
		var lights v1beta1.LighthouseList
		require.NoError(m, m.List(m.Context(), &lights))
		for _, light := range lights.Items {
			got[light.Name] = fmt.Sprint(light.Spec.Character)
		}
		require.Equal(m, wantNew, got, "in %s", current)
	}
}

// inEtcd counts the Lighthouses by the version that their bytes are in.
func (m *move) inEtcd() map[string]int {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), testcluster.TestTimeout)
	defer cancel()
	const prefix = "/registry/coast.example.com/lighthouses"
	body, err := json.Marshal(map[string][]byte{"key": []byte(prefix + "/"), "range_end": []byte(prefix + "0")}) // what comes after /
	require.NoError(m, err)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.cluster.ControlPlane.Etcd.URL.JoinPath("v3/kv/range").String(), bytes.NewReader(body))
	require.NoError(m, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(m, err)
	defer response.Body.Close()
	var found struct{ KVs []struct{ Value []byte } }
	require.NoError(m, json.NewDecoder(response.Body).Decode(&found))
	count := map[string]int{}
	for _, kv := range found.KVs {
		var object metav1.TypeMeta
		require.NoError(m, json.Unmarshal(kv.Value, &object))
		count[path.Base(object.APIVersion)]++
	}
	return count
}

// load is a client that writes until stop.
func (m *move) load(write func(turn int) error) (stop func()) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for turn := 0; ; turn++ {
			select {
			case <-stopped:
				return
			default:
			}
			m.writing.RLock()
			if err := write(turn); err != nil {
				m.mu.Lock()
				m.failed = append(m.failed, err)
				m.mu.Unlock()
			}
			m.writing.RUnlock()
		}
	}()
	stop = sync.OnceFunc(func() {
		close(stopped)
		<-ended
	})
	m.Cleanup(stop)
	return stop
}

// settle waits until the client of the new version has written some more.
func (m *move) settle() {
	m.Helper()
	written := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.count["write "+current]
	}
	before := written()
	m.becomes("more writes", func() error {
		if more := written() - before; more < 30 {
			return fmt.Errorf("%d writes", more)
		}
		return nil
	})
}

func name(n int) string { return fmt.Sprintf("light-%04d", n) }

func (m *move) create(n int) {
	m.Helper()
	light := &v1alpha1.Lighthouse{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name(n)}, Spec: v1alpha1.LighthouseSpec{Flash: "long short"}}
	require.NoError(m, m.Create(m.Context(), light))
	m.acknowledge("create", light.Name, character(m.T, light.Spec.Flash))
}

// writeOld changes the Lighthouses with an even number, one after another, as a client of v1alpha1.
func (m *move) writeOld(turn int) error {
	flash := []string{"short", "long", "short long"}[turn%3]
	light := &v1alpha1.Lighthouse{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name(2 * turn % lights)}}
	if err := m.merge(light, fmt.Sprintf(`{"spec":{"flash":%q}}`, flash)); err != nil {
		return err
	}
	m.acknowledge("write "+old, light.Name, character(m.T, flash))
	return nil
}

// writeNew changes those with an odd number to what v1alpha1 has no word for.
func (m *move) writeNew(turn int) error {
	to := v1beta1.Character{Count: 2, Flashes: []metav1.Duration{{Duration: v1beta1.Long}, {Duration: time.Duration(1+turn%400) * time.Millisecond}}}
	content, err := json.Marshal(to)
	if err != nil {
		return err
	}
	light := &v1beta1.Lighthouse{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name((2*turn + 1) % lights)}}
	if err := m.merge(light, fmt.Sprintf(`{"spec":{"character":%s}}`, content)); err != nil {
		return err
	}
	m.acknowledge("write "+current, light.Name, to)
	return nil
}

func (m *move) merge(light client.Object, patch string) error {
	return m.loaders.Patch(m.Context(), light, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func (m *move) applyOld(int) error { return m.apply(oldManifest) }

// apply applies a manifest. Whatever its version, it has never changed anything.
func (m *move) apply(manifest string) error {
	light := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		return err
	}
	if err := light.UnmarshalJSON(content); err != nil {
		return err
	}
	if err := m.loaders.Patch(m.Context(), light, client.RawPatch(types.ApplyPatchType, content), client.FieldOwner("team")); err != nil {
		return err
	}
	if light.GetGeneration() != 1 {
		return fmt.Errorf("the manifest is what it was, and has changed something: %v", light.Object)
	}
	m.acknowledge("apply", light.GetName(), character(m.T, "long short"))
	return nil
}

func (m *move) acknowledge(what, name string, is v1beta1.Character) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acknowledged[name] = is
	m.count[what]++
}

// listen counts what an informer hears, as that of a controller.
func (m *move) listen(version string, light client.Object) {
	m.Helper()
	informers, err := cache.New(m.cluster.Config, cache.Options{Scheme: m.types})
	require.NoError(m, err)
	ctx, cancel := context.WithCancel(m.Context())
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(ctx) }()
	m.muted[version] = sync.OnceFunc(func() {
		cancel()
		assert.NoError(m, <-ended)
	})
	m.Cleanup(m.muted[version])
	informer, err := informers.GetInformer(ctx, light)
	require.NoError(m, err)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.count["heard "+version]++
	}})
	require.NoError(m, err)
}

func (m *move) mute(version string) { m.muted[version]() }

// migrate makes a version the one for storage, and rewrites what's there as soon as the API server has heard of it.
func (m *move) migrate(version string) {
	m.Helper()
	m.changeCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		for n := range crd.Spec.Versions {
			crd.Spec.Versions[n].Storage = crd.Spec.Versions[n].Name == version
		}
	})
	m.becomes("stored in "+version, func() error {
		m.writing.Lock() // what was written when the API server hadn't heard of it has ended
		defer m.writing.Unlock()
		if stored := m.inEtcd(); stored[version] == 0 {
			return fmt.Errorf("%v", stored)
		}
		return nil
	})
	rewritten, storage, err := migrate(m.Context(), m, crdName)
	require.NoError(m, err)
	m.mu.Lock()
	m.count["rewritten"] += rewritten
	m.mu.Unlock()
	_, names := m.versions()
	assert.Equal(m, version, storage)
	assert.Equal(m, []string{version}, names)
	assert.Equal(m, map[string]int{version: lights + 1}, m.inEtcd(), "the CRD says that all are stored in it")
}

// versions returns which versions are served, and in which an object may be stored.
func (m *move) versions() (served map[string]bool, stored []string) {
	m.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(m, m.Get(m.Context(), client.ObjectKey{Name: crdName}, crd))
	served = map[string]bool{}
	for _, version := range crd.Spec.Versions {
		served[version.Name] = version.Served
	}
	return served, crd.Status.StoredVersions
}

func (m *move) serve(version string, served bool) {
	m.Helper()
	m.changeCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		for n := range crd.Spec.Versions {
			if crd.Spec.Versions[n].Name == version {
				crd.Spec.Versions[n].Served = served
			}
		}
	})
}

func (m *move) changeCRD(change func(*apiextensionsv1.CustomResourceDefinition)) {
	m.Helper()
	require.NoError(m, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := m.Get(m.Context(), client.ObjectKey{Name: crdName}, crd); err != nil {
			return err
		}
		change(crd)
		return m.Update(m.Context(), crd)
	}))
}

func (m *move) applyCRD(folder string, conversion *apiextensionsv1.CustomResourceConversion) {
	m.Helper()
	crd := testcluster.ReadCRDs(m.T, folder)[0]
	crd.Spec.Conversion = conversion
	m.cluster.InstallCRDs(m.T, crd)
}

// conversion serves the webhook of the operator, and returns how to call it.
func (m *move) conversion() *apiextensionsv1.CustomResourceConversion {
	m.Helper()
	local := envtest.WebhookInstallOptions{LocalServingHost: "127.0.0.1"}
	require.NoError(m, local.PrepWithoutInstalling()) // a free port, and a certificate
	m.Cleanup(func() { assert.NoError(m, local.Cleanup()) })
	manager, err := ctrl.NewManager(m.cluster.Config, ctrl.Options{
		Scheme: m.types, Metrics: metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: local.LocalServingHost, Port: local.LocalServingPort, CertDir: local.LocalServingCertDir}),
	})
	require.NoError(m, err)
	require.NoError(m, ctrl.NewWebhookManagedBy(manager, &v1beta1.Lighthouse{}).Complete())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	m.Cleanup(func() { // after the clients have stopped
		cancel()
		assert.NoError(m, <-ended)
	})
	m.becomes("served", func() error { return manager.GetWebhookServer().StartedChecker()(nil) })
	url := fmt.Sprintf("https://%s:%d/convert", local.LocalServingHost, local.LocalServingPort)
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: local.LocalServingCAData},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

// becomes waits until there is no error.
func (m *move) becomes(what string, check func() error) {
	m.Helper()
	require.EventuallyWithT(m.T, func(tick *assert.CollectT) { assert.NoError(tick, check(), what) }, max(testcluster.TestTimeout, time.Minute), 50*time.Millisecond)
}

// character is what a flash is in v1beta1, and flash is what a character is in v1alpha1.
func character(t *testing.T, flash string) v1beta1.Character {
	hub := &v1beta1.Lighthouse{}
	assert.NoError(t, (&v1alpha1.Lighthouse{Spec: v1alpha1.LighthouseSpec{Flash: flash}}).ConvertTo(hub))
	return hub.Spec.Character
}

func flash(t *testing.T, character v1beta1.Character) string {
	spoke := &v1alpha1.Lighthouse{}
	assert.NoError(t, spoke.ConvertFrom(&v1beta1.Lighthouse{Spec: v1beta1.LighthouseSpec{Character: character}}))
	return spoke.Spec.Flash
}
