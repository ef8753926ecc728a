package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"sync/atomic"
	"testing"
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
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const old, current = "v1alpha1", "v1beta1"

// The manifest of a team, in both versions.
const (
	oldManifest = `{"apiVersion": "coast.example.com/v1alpha1", "kind": "Lighthouse", "metadata": {"name": "eddystone", "namespace": "default"},
		"spec": {"lamps": 1, "flash": "long short"}}`
	newManifest = `{"apiVersion": "coast.example.com/v1beta1", "kind": "Lighthouse", "metadata": {"name": "eddystone", "namespace": "default"},
		"spec": {"lamps": 1, "position": "unlisted", "character": {"flashes": ["2s", "500ms"]}}}`
)

// TestAThousandLighthousesMove goes to the new version, back, and up again, while a client of each version
// writes and a team applies its manifest. What was acknowledged is never lost, and no write fails before its
// version is gone. A short run, as the gate's is, has a hundred.
func TestAThousandLighthousesMove(t *testing.T) {
	m := newMove(t)
	m.cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "../operator/config/crd")...)
	m.phase("created in v1alpha1", m.create)
	stopOld, stopTeam := m.load(m.writeOld), m.load(m.applies(oldManifest))
	m.phase("both are served", func() {
		m.serveBoth()
		m.becomes("converted", func(tick *assert.CollectT) { assert.NoError(tick, m.List(m.Context(), &v1beta1.LighthouseList{})) })
		m.load(m.writeNew)
		m.settle()
	})
	m.phase("up", func() {
		m.store(current)
		m.migrate(current, "")
	})
	m.phase("back", func() {
		m.store(old)
		m.migrate(old, "")
	})
	m.phase("the clients move", func() {
		m.store(current)
		stopOld()
		stopTeam()
		m.load(m.applies(newManifest))
		m.settle()
	})
	m.phase("v1alpha1 isn't served", func() {
		m.serve(false)
		m.serve(true) // for those who were forgotten
		m.serve(false)
		m.settle()
	})
	m.phase("up again", func() { m.migrate(current, old) })
	m.phase("v1alpha1 is gone", func() {
		m.changeCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions, crd.Spec.Conversion = crd.Spec.Versions[1:], nil
		})
		m.becomes("writes without a conversion", func(tick *assert.CollectT) {
			before := m.conversions.Load()
			m.settle()
			assert.Equal(tick, before, m.conversions.Load())
		})
	})
}

// move is an API server whose clients write, and what has come of it.
type move struct {
	*testing.T
	client.Client
	lights      int
	loaders     client.Client // the same, for a few writes in a second
	cluster     *testcluster.Cluster
	types       *runtime.Scheme
	conversions atomic.Int64 // calls of the webhook
	writes      atomic.Int64 // those of the load

	writing      sync.Mutex                   // a client holds it for a write, and a phase for its check
	acknowledged map[string]v1beta1.Character // by the last write of each Lighthouse
	failed       error
}

func newMove(t *testing.T) *move {
	m := &move{T: t, lights: 1000, cluster: testcluster.Start(t), types: runtime.NewScheme(), acknowledged: map[string]v1beta1.Character{}}
	if testing.Short() {
		m.lights = 100
	}
	require.NoError(t, errors.Join(apiextensionsv1.AddToScheme(m.types), v1alpha1.AddToScheme(m.types), v1beta1.AddToScheme(m.types)))
	config := rest.CopyConfig(m.cluster.Config)
	config.Timeout = testcluster.TestTimeout
	var err error
	m.Client, err = client.New(config, client.Options{Scheme: m.types})
	require.NoError(t, err)
	config.QPS, config.Burst = 5, 1 // for each version
	m.loaders, err = client.New(config, client.Options{Scheme: m.types})
	require.NoError(t, err)
	return m
}

// phase runs a part of the move. Then, while nobody writes, it checks that nothing has failed and nothing is lost.
func (m *move) phase(name string, run func()) {
	m.Helper()
	begin, conversions, writes := time.Now(), m.conversions.Load(), m.writes.Load()
	run()
	seconds := time.Since(begin).Seconds()
	conversions, writes = m.conversions.Load()-conversions, m.writes.Load()-writes
	m.writing.Lock()
	defer m.writing.Unlock()
	require.NoError(m, m.failed, name)
	for _, version := range m.crd().Spec.Versions {
		if !version.Served {
			continue
		}
		shown := m.shown(version.Name)
		require.Len(m, shown, len(m.acknowledged), "%s: in %s", name, version.Name)
		for light, character := range m.acknowledged {
			require.Equal(m, character, shown[light], "%s: %s in %s", name, light, version.Name)
		}
	}
	m.Logf("%-22s %5.1f s  %4d writes of the load  %6d conversions  in etcd %v", name, seconds, writes, conversions, m.inEtcd(m))
}

// shown is what a version shows of each Lighthouse, as a character.
func (m *move) shown(version string) map[string]v1beta1.Character {
	m.Helper()
	shown := map[string]v1beta1.Character{}
	if version == old {
		var list v1alpha1.LighthouseList
		require.NoError(m, m.List(m.Context(), &list))
		for i := range list.Items {
			shown[list.Items[i].Name] = character(m.T, &list.Items[i])
		}
		return shown
	}
	var list v1beta1.LighthouseList
	require.NoError(m, m.List(m.Context(), &list))
	for _, light := range list.Items {
		shown[light.Name] = light.Spec.Character
	}
	return shown
}

func character(t *testing.T, light *v1alpha1.Lighthouse) v1beta1.Character {
	hub := &v1beta1.Lighthouse{}
	assert.NoError(t, light.ConvertTo(hub))
	return hub.Spec.Character
}

// inEtcd counts the Lighthouses by the version that their bytes are in.
func (m *move) inEtcd(t require.TestingT) map[string]int {
	const prefix = "/registry/coast.example.com/lighthouses"
	body, err := json.Marshal(map[string][]byte{"key": []byte(prefix + "/"), "range_end": []byte(prefix + "0")}) // 0 comes after /
	require.NoError(t, err)
	etcd := http.Client{Timeout: testcluster.TestTimeout}
	response, err := etcd.Post(m.cluster.ControlPlane.Etcd.URL.JoinPath("v3/kv/range").String(), "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer response.Body.Close()
	var found struct{ KVs []struct{ Value []byte } }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&found))
	count := map[string]int{}
	for _, kv := range found.KVs {
		var object metav1.TypeMeta
		require.NoError(t, json.Unmarshal(kv.Value, &object))
		count[path.Base(object.APIVersion)]++
	}
	return count
}

// A writer writes a Lighthouse, and returns what that shows if there is no error.
type writer func(turn int) (name string, shows v1beta1.Character, err error)

// load is a client that writes until stop.
func (m *move) load(write writer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for turn := 0; ctx.Err() == nil; turn++ {
			m.writing.Lock()
			m.write(write, turn)
			m.writing.Unlock()
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	m.Cleanup(stop)
	return stop
}

func (m *move) write(write writer, turn int) {
	name, shows, err := write(turn)
	m.writes.Add(1)
	if err == nil {
		m.acknowledged[name] = shows
	} else if m.failed == nil {
		m.failed = fmt.Errorf("writing %s: %w", name, err)
	}
}

// settle waits until the clients have written some more.
func (m *move) settle() {
	m.Helper()
	before := m.writes.Load()
	m.becomes("more writes", func(tick *assert.CollectT) { assert.Greater(tick, m.writes.Load(), before+15) })
}

// create creates them all, and one that a team applies and an operator reports about.
func (m *move) create() {
	for n := range m.lights {
		light := &v1alpha1.Lighthouse{ObjectMeta: m.named(n), Spec: v1alpha1.LighthouseSpec{Flash: "long short"}}
		require.NoError(m, m.Create(m.Context(), light))
		m.acknowledged[light.Name] = character(m.T, light)
	}
	m.write(m.applies(oldManifest), 0)
	light := &v1alpha1.Lighthouse{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "eddystone"}}
	require.NoError(m, m.Status().Patch(m.Context(), light, client.RawPatch(types.MergePatchType, []byte(`{"status":{"burning":1}}`))))
}

func (m *move) named(n int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("light-%04d", n%m.lights)}
}

// writeOld changes the Lighthouses with an even number, one after another, as a client of v1alpha1.
func (m *move) writeOld(turn int) (string, v1beta1.Character, error) {
	light := &v1alpha1.Lighthouse{ObjectMeta: m.named(2 * turn)}
	flash := []string{"short", "long", "short long"}[turn%3]
	err := m.loaders.Patch(m.Context(), light, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"flash":%q}}`, flash)))
	return light.Name, character(m.T, &v1alpha1.Lighthouse{Spec: v1alpha1.LighthouseSpec{Flash: flash}}), err
}

// writeNew changes those with an odd number to what v1alpha1 has no word for.
func (m *move) writeNew(turn int) (string, v1beta1.Character, error) {
	light := &v1beta1.Lighthouse{ObjectMeta: m.named(2*turn + 1)}
	length := metav1.Duration{Duration: time.Duration(1+turn%400) * time.Millisecond}
	err := m.loaders.Patch(m.Context(), light, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"character":{"count":2,"flashes":[%q]}}}`, length.Duration)))
	return light.Name, v1beta1.Character{Count: 2, Flashes: []metav1.Duration{length}}, err
}

// applies applies a manifest. Whatever its version, it never changes anything.
func (m *move) applies(manifest string) writer {
	return func(int) (string, v1beta1.Character, error) {
		light := &unstructured.Unstructured{}
		apply := client.RawPatch(types.ApplyPatchType, []byte(manifest))
		err := errors.Join(light.UnmarshalJSON([]byte(manifest)), m.loaders.Patch(m.Context(), light, apply, client.FieldOwner("team")))
		if err == nil && light.GetGeneration() != 1 {
			err = fmt.Errorf("the manifest is what it was, and has changed something: %v", light.Object)
		}
		return light.GetName(), character(m.T, &v1alpha1.Lighthouse{Spec: v1alpha1.LighthouseSpec{Flash: "long short"}}), err
	}
}

// store makes a version the one for storage, and waits until the API server has heard of it. What was written
// before has ended then.
func (m *move) store(version string) {
	m.Helper()
	m.changeCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		for n := range crd.Spec.Versions {
			crd.Spec.Versions[n].Storage = crd.Spec.Versions[n].Name == version
		}
	})
	m.becomes("stored in "+version, func(tick *assert.CollectT) {
		m.writing.Lock()
		defer m.writing.Unlock()
		assert.Positive(tick, m.inEtcd(tick)[version])
	})
}

// migrate moves all to a version. What was written in the one that is gone is nobody's any more.
func (m *move) migrate(version, gone string) {
	m.Helper()
	_, storage, err := migrate(m.Context(), m, crdName, gone)
	require.NoError(m, err)
	require.Equal(m, version, storage)
	require.Equal(m, []string{version}, m.crd().Status.StoredVersions)
	require.Equal(m, map[string]int{version: m.lights + 1}, m.inEtcd(m), "the CRD says that all are stored in it")
	var list v1beta1.LighthouseList
	require.NoError(m, m.List(m.Context(), &list))
	for _, light := range list.Items {
		for _, entry := range light.ManagedFields {
			require.NotEqual(m, "coast.example.com/"+gone, entry.APIVersion, light.Name)
		}
	}
}

// serve serves v1alpha1, or no longer.
func (m *move) serve(served bool) {
	m.Helper()
	m.changeCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = served })
	m.becomes("heard of", func(tick *assert.CollectT) {
		err := m.List(m.Context(), &v1alpha1.LighthouseList{})
		assert.Equal(tick, !served, apierrors.IsNotFound(err), "%v", err)
	})
}

func (m *move) crd() *apiextensionsv1.CustomResourceDefinition {
	m.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(m, m.Get(m.Context(), client.ObjectKey{Name: crdName}, crd))
	return crd
}

func (m *move) changeCRD(change func(*apiextensionsv1.CustomResourceDefinition)) {
	m.Helper()
	require.NoError(m, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd := m.crd()
		change(crd)
		return m.Update(m.Context(), crd)
	}))
}

// serveBoth serves the second version, too, and converts as the operator does.
func (m *move) serveBoth() {
	m.Helper()
	handler := conversion.NewWebhookHandler(m.types, conversion.NewRegistry())
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.conversions.Add(1)
		handler.ServeHTTP(w, r)
	}))
	m.Cleanup(server.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	crd := testcluster.ReadCRDs(m.T, "../operator/config/versions")[0]
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &server.URL, CABundle: bundle},
		ConversionReviewVersions: []string{"v1"},
	}}
	m.cluster.InstallCRDs(m.T, crd)
}

// becomes waits until a check has nothing to say.
func (m *move) becomes(what string, check func(*assert.CollectT)) {
	m.Helper()
	require.EventuallyWithT(m.T, check, testcluster.TestTimeout, 50*time.Millisecond, what)
}
