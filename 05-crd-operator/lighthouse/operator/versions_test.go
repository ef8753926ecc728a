package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
	"example.com/hacking-a-controller/testcluster"
)

// versions is an API server that has both versions, and the program that converts between them.
type versions struct {
	*testing.T
	client.Client
	cluster *testcluster.Cluster
	hooks   webhook.Options
	bundle  []byte // of the certificates that the API server trusts
	stop    func()
}

func TestVersions(t *testing.T) {
	v := &versions{T: t, cluster: testcluster.Start(t)}
	v.Client = client.NewNamespacedClient(newClient(t, v.cluster.Config), "default")
	local := envtest.WebhookInstallOptions{LocalServingHost: "127.0.0.1"}
	require.NoError(t, local.PrepWithoutInstalling()) // a free port, and a certificate
	t.Cleanup(func() { assert.NoError(t, local.Cleanup()) })
	v.hooks = webhook.Options{Host: local.LocalServingHost, Port: local.LocalServingPort, CertDir: local.LocalServingCertDir}
	v.bundle = local.LocalServingCAData

	v.applyCRD("config/crd", nil)
	require.NoError(t, v.Create(t.Context(), lighthouse(v1alpha1.GroupVersion.String(), "old", `{lamps: 1, flash: long short}`)))
	v.applyCRD("config/versions", v.byURL())
	v.stop = start(t, v.cluster.Config, "http://127.0.0.1:1", v.hooks) // no Light List
	v.becomes("converted", v.converts)
	for _, run := range []struct {
		name string
		test func(*versions)
	}{
		{"what one version writes, the other reads", bothWays},
		{"each version has its own rules and defaults", ownRules},
		{"a manifest moves to the new version", aManifestMoves},
		{"the operator reads what either has written", theOperatorReadsBoth},
		{"a certificate is renewed without a restart", aCertificateIsRenewed},
		{"without the program, one reads only what is stored", withoutTheProgram},
	} {
		t.Run(run.name, func(t *testing.T) {
			in := *v
			in.T = t
			run.test(&in)
		})
	}
}

// applyCRD makes the CRD what the file in a folder says, with this conversion.
func (v *versions) applyCRD(folder string, conversion *apiextensionsv1.CustomResourceConversion) {
	v.Helper()
	crd := testcluster.ReadCRDs(v.T, folder)[0]
	crd.Spec.Conversion = conversion
	v.cluster.InstallCRDs(v.T, crd)
}

// byURL is a conversion by the program that runs beside the API server.
func (v *versions) byURL() *apiextensionsv1.CustomResourceConversion {
	url := fmt.Sprintf("https://%s:%d/convert", v.hooks.Host, v.hooks.Port)
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: v.bundle},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

// converts fails unless the API server reaches the program.
func (v *versions) converts() error { return v.read(&v1beta1.Lighthouse{}, "old") }

func (v *versions) read(light client.Object, name string) error {
	return v.Get(v.Context(), client.ObjectKey{Name: name}, light)
}

// change changes a Lighthouse, in the version of this type, as somebody who tries again after a conflict.
func (v *versions) change(light client.Object, name string, change func()) {
	v.Helper()
	require.NoError(v, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := v.read(light, name); err != nil {
			return err
		}
		change()
		return v.Update(v.Context(), light)
	}))
}

// becomes waits until there is no error.
func (v *versions) becomes(what string, check func() error) {
	v.Helper()
	require.EventuallyWithT(v.T, func(tick *assert.CollectT) { assert.NoError(tick, check(), what) }, testcluster.TestTimeout, 20*time.Millisecond)
}

// lighthouse is a manifest, with a spec in YAML.
func lighthouse(version, name, spec string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	content := fmt.Sprintf("{apiVersion: %s, kind: Lighthouse, metadata: {name: %q}, spec: %s}", version, name, spec)
	if err := yaml.Unmarshal([]byte(content), &object.Object); err != nil {
		panic(err)
	}
	return object
}

func character(count int32, lengths ...time.Duration) v1beta1.Character {
	c := v1beta1.Character{Count: count}
	for _, length := range lengths {
		c.Flashes = append(c.Flashes, metav1.Duration{Duration: length})
	}
	return c
}

func bothWays(v *versions) {
	created := &v1beta1.Lighthouse{}
	created.Name = "both"
	created.Spec = v1beta1.LighthouseSpec{Lamps: 1, Position: v1beta1.Unlisted, Character: character(2, 700*time.Millisecond, v1beta1.Long)}
	require.NoError(v, v.Create(v.Context(), created))

	old := &v1alpha1.Lighthouse{}
	v.change(old, "both", func() { old.Spec.Lamps = 3 })
	assert.Equal(v, "short long short long", old.Spec.Flash)
	light := &v1beta1.Lighthouse{}
	require.NoError(v, v.read(light, "both"))
	assert.EqualValues(v, 3, light.Spec.Lamps)
	assert.Equal(v, created.Spec.Character, light.Spec.Character, "an old client that changes something else loses nothing")

	v.change(old, "both", func() { old.Spec.Flash = "long" })
	require.NoError(v, v.read(light, "both"))
	assert.Equal(v, character(1, v1beta1.Long), light.Spec.Character)

	var lights v1beta1.LighthouseList
	require.NoError(v, v.List(v.Context(), &lights))
	assert.Len(v, lights.Items, 2)
}

// ownRules creates a Lighthouse in each version, and reads what the API server would have stored.
func ownRules(v *versions) {
	const old, now = "coast.example.com/v1alpha1", "coast.example.com/v1beta1"
	twelve := strings.Repeat(", 1s", 12)[2:]
	for name, tc := range map[string]struct{ version, spec, want string }{
		"v1alpha1 needs no position":         {old, `{lamps: 1, flash: long}`, ""},
		"v1alpha1 takes twelve words":        {old, `{lamps: 1, flash: ` + strings.Repeat("short ", 12)[:71] + `}`, ""},
		"v1alpha1 has no room for more":      {old, `{lamps: 1, flash: ` + strings.Repeat("long ", 13)[:64] + `}`, "a flash is made of the words"},
		"v1alpha1 has no character":          {old, `{lamps: 1, character: {flashes: [1s]}}`, "spec.flash: Required value"},
		"v1beta1 counts from 1":              {now, `{lamps: 1, position: unlisted, character: {flashes: [1s]}}`, ""},
		"v1beta1 needs a position":           {now, `{lamps: 1, character: {flashes: [1s]}}`, "spec.position: Required value"},
		"v1beta1 has no flash":               {now, `{lamps: 1, position: unlisted, flash: long}`, "spec.character: Required value"},
		"v1beta1 knows a position":           {now, `{lamps: 1, position: off Plymouth, secretRef: {name: a}, character: {flashes: [1s]}}`, "or it is: unlisted"},
		"v1beta1 lists with a secret":        {now, `{lamps: 1, position: 50.18N 4.27W, character: {flashes: [1s]}}`, "a position and a secretRef go together"},
		"v1beta1 needs none if unlisted":     {now, `{lamps: 1, position: unlisted, secretRef: {name: a}, character: {flashes: [1s]}}`, "a position and a secretRef go together"},
		"v1beta1 takes twelve flashes":       {now, `{lamps: 1, position: unlisted, character: {flashes: [` + twelve + `]}}`, ""},
		"v1beta1 has no room for more":       {now, `{lamps: 1, position: unlisted, character: {flashes: [` + twelve + `], count: 2}}`, "at most 12 flashes"},
		"v1beta1 needs a flash":              {now, `{lamps: 1, position: unlisted, character: {flashes: []}}`, "spec.character.flashes"},
		"v1beta1 needs a group":              {now, `{lamps: 1, position: unlisted, character: {flashes: [1s], count: 0}}`, "spec.character.count"},
		"v1beta1 takes a length":             {now, `{lamps: 1, position: unlisted, character: {flashes: [700ms, 2.5s, 59.999s]}}`, ""},
		"v1beta1 takes it only as Go prints": {now, `{lamps: 1, position: unlisted, character: {flashes: [2000ms]}}`, "written such as: 500ms"},
		"v1beta1 takes no darkness":          {now, `{lamps: 1, position: unlisted, character: {flashes: [0s]}}`, "written such as: 500ms"},
		"v1beta1 takes less than a minute":   {now, `{lamps: 1, position: unlisted, character: {flashes: [60s]}}`, "written such as: 500ms"},
	} {
		light := lighthouse(tc.version, "dry", tc.spec)
		err := v.Create(v.Context(), light, client.DryRunAll)
		if tc.want != "" {
			require.ErrorContains(v, err, tc.want, name)
			continue
		}
		require.NoError(v, err, name)
		if tc.version == now {
			count, _, err := unstructured.NestedInt64(light.Object, "spec", "character", "count")
			require.NoError(v, err)
			assert.EqualValues(v, 1, count, name)
		}
	}
}

// aManifestMoves applies a manifest in one version and then in the other, as a user does who has rewritten it.
func aManifestMoves(v *versions) {
	apply := func(manifest *unstructured.Unstructured) {
		v.Helper()
		sent, err := json.Marshal(manifest)
		require.NoError(v, err)
		require.NoError(v, v.Patch(v.Context(), manifest, client.RawPatch(types.ApplyPatchType, sent), client.FieldOwner("kubectl")))
	}
	spec := func() v1beta1.LighthouseSpec {
		light := &v1beta1.Lighthouse{}
		require.NoError(v, v.read(light, "moves"))
		return light.Spec
	}
	want := v1beta1.LighthouseSpec{
		Lamps: 1, Position: plymouth, SecretRef: &v1beta1.SecretReference{Name: "light-list"}, Character: character(1, v1beta1.Long, v1beta1.Short),
	}
	const old = `{lamps: 1, flash: long short, position: 50.18N 4.27W, secretRef: {name: light-list}}`
	const now = `{lamps: 1, character: {flashes: [2s, 500ms]}, position: 50.18N 4.27W, secretRef: {name: light-list}}`
	apply(lighthouse("coast.example.com/v1alpha1", "moves", old))
	assert.Equal(v, want, spec())
	apply(lighthouse("coast.example.com/v1beta1", "moves", now))
	assert.Equal(v, want, spec(), "the same in other words")
	moved := &v1beta1.Lighthouse{}
	require.NoError(v, v.read(moved, "moves"))
	assert.EqualValues(v, 1, moved.Generation, "nothing has changed")
	for _, entry := range moved.ManagedFields {
		if entry.Manager == "kubectl" {
			assert.Equal(v, "coast.example.com/v1beta1", entry.APIVersion, "its fields are those of the new version")
		}
	}
	apply(lighthouse("coast.example.com/v1alpha1", "moves", old))
	assert.Equal(v, want, spec(), "and back")
}

func theOperatorReadsBoth(v *versions) {
	for name, want := range map[string]string{"old": "long short", "both": "long"} {
		v.becomes("the Deployment of "+name, func() error {
			deployment := &appsv1.Deployment{}
			if err := v.Get(v.Context(), client.ObjectKey{Name: name}, deployment); err != nil {
				return err
			}
			if got := deployment.Spec.Template.Spec.Containers[0].Env[0].Value; got != want {
				return fmt.Errorf("its lamps print %q", got)
			}
			return nil
		})
	}
}

// aCertificateIsRenewed first lets the API server trust both certificates. Once it trusts only the new one,
// nothing is converted until the files are replaced: so what is converted then came with the new one.
func aCertificateIsRenewed(v *versions) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(v.hooks.Host, nil, nil)
	require.NoError(v, err)
	v.bundle = append(append([]byte{}, v.bundle...), certificate...)
	v.applyCRD("config/versions", v.byURL())
	v.becomes("converted, as both are trusted", v.converts)
	v.bundle = certificate
	v.applyCRD("config/versions", v.byURL())
	v.becomes("refused, as the files still have the old one", func() error {
		if err := v.converts(); err == nil || !strings.Contains(err.Error(), "x509") {
			return fmt.Errorf("reading, when only the new one is trusted: %w", err)
		}
		return nil
	})
	for name, content := range map[string][]byte{"tls.key": key, "tls.crt": certificate} {
		path := filepath.Join(v.hooks.CertDir, name)
		require.NoError(v, os.WriteFile(path+".new", content, 0o600))
		require.NoError(v, os.Rename(path+".new", path))
	}
	v.becomes("converted with the new one", v.converts)
}

func withoutTheProgram(v *versions) {
	v.stop()
	require.ErrorContains(v, v.converts(), "conversion webhook for coast.example.com/v1alpha1, Kind=Lighthouse failed")
	require.NoError(v, v.read(&v1alpha1.Lighthouse{}, "old"), "it's stored so")
}
