// Package e2e migrates a thousand Lighthouses in a lab, up and back and up again, while two clients keep
// changing them: nothing that was acknowledged is lost, and no write fails before its version is gone.
package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const (
	objects = 1000
	crdName = "lighthouses.coast.example.com"
	old     = "v1alpha1"
	current = "v1beta1"
)

func TestAThousandLighthouses(t *testing.T) {
	l := startLab(t)
	l.applyCRD("../../operator/config/crd")
	release1 := l.startOperator("operator")
	m := newMigration(t, l)

	m.phase("create them in v1alpha1", func() {
		for n := range objects {
			m.create(n)
		}
		m.writes(old, 0)
	})
	m.phase("serve v1beta1, too", func() {
		l.applyCRD("../../operator/config/versions")
		m.informs(current)
		m.writes(current, 1)
		m.settle()
	})
	m.phase("store v1beta1, and migrate", func() {
		l.store(current)
		m.migrate("up")
	})
	m.phase("back to v1alpha1, by hand", func() {
		l.store(old)
		l.run("migration")
		assert.Equal(t, []string{old}, l.stored())
	})
	m.phase("and up again", func() {
		l.store(current)
		m.migrate("up-again")
	})
	m.phase("the next release takes over", func() {
		l.startOperator("next")
		l.owners(current)
		release1()
		m.settle()
	})
	m.phase("the old client moves", func() {
		m.stopWriting(old)
		m.writes(current, 0)
		m.settle()
	})
	m.phase("don't serve v1alpha1", func() {
		m.stopInforming(old)
		l.change(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = false })
		l.becomes("not served", func() error { return wantNotFound(l.lights(old).list()) })
		m.settle()
	})
	m.phase("and take it out of the CRD", func() {
		l.change(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions = crd.Spec.Versions[1:]
			crd.Spec.Conversion = nil
		})
		m.settle()
	})
	m.stopWriting(current)
	m.report()

	light := m.name(7)
	require.NoError(t, l.lights(current).Delete(t.Context(), light, metav1.DeleteOptions{}))
	l.becomes("collected", func() error {
		_, err := l.client.AppsV1().Deployments(space).Get(t.Context(), light, metav1.GetOptions{})
		return wantNotFound(nil, err)
	})
}

func wantNotFound[T any](_ T, err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("it's still there: %v", err)
}

// migrate lets Kubernetes rewrite all objects in the version for storage.
func (m *migration) migrate(name string) {
	m.Helper()
	migrations := m.client.StoragemigrationV1().StorageVersionMigrations()
	_, err := migrations.Create(m.Context(), &storagev1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       storagev1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "coast.example.com", Resource: "lighthouses"}},
	}, metav1.CreateOptions{})
	require.NoError(m, err)
	m.becomes("migrated", func() error {
		got, err := migrations.Get(m.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(got.Status.Conditions, string(storagev1.MigrationSucceeded)) {
			return fmt.Errorf("the migration: %+v", got.Status.Conditions)
		}
		if stored := m.stored(); !slices.Equal(stored, []string{current}) {
			return fmt.Errorf("stored versions: %v", stored)
		}
		return nil
	})
}

// create creates a Lighthouse without lamps: what's migrated is the API, and not the pods.
func (m *migration) create(n int) {
	m.Helper()
	light := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coast.example.com/" + old, "kind": "Lighthouse", "metadata": map[string]any{"name": m.name(n)},
		"spec": map[string]any{"lamps": int64(0), "flash": "long short"},
	}}
	_, err := m.lights(old).Create(m.Context(), light, metav1.CreateOptions{})
	require.NoError(m, err)
	m.acknowledged[m.name(n)] = "long short"
}

func (*migration) name(n int) string { return fmt.Sprintf("light-%04d", n) }

// writes lets a client of a version change every second Lighthouse, over and over, until stopWriting.
func (m *migration) writes(version string, first int) {
	m.start(version, func(turn int) {
		n := (2*turn + first) % objects
		flash := "short" + strings.Repeat(" long", 1+2*turn/objects%3)
		patch := fmt.Sprintf(`{"spec":{"flash":%q}}`, flash)
		if version == current {
			flash = fmt.Sprintf("long %dms", 1+turn%400) // not 500, which is short
			patch = fmt.Sprintf(`{"spec":{"character":{"flashes":["2s","%dms"],"count":1}}}`, 1+turn%400)
		}
		_, err := m.lights(version).Patch(m.Context(), m.name(n), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		m.count(version, m.name(n), flash, err)
	})
}

// check compares all that can be read with all that was acknowledged, while nobody writes.
func (m *migration) check() {
	m.Helper()
	for _, version := range m.served() {
		lights, err := m.lights(version).list()
		require.NoError(m, err)
		got := map[string]string{}
		for _, light := range lights.Items {
			got[light.GetName()] = flashOf(m.T, light)
		}
		if !maps.Equal(want(m.acknowledged, version), got) {
			assert.Equal(m, want(m.acknowledged, version), got, "in %s", version)
		}
	}
}

// store makes a version the one in which the API server stores.
func (l *lab) store(version string) {
	l.Helper()
	l.change(func(crd *apiextensionsv1.CustomResourceDefinition) {
		for n := range crd.Spec.Versions {
			crd.Spec.Versions[n].Storage = crd.Spec.Versions[n].Name == version
		}
	})
}

func (l *lab) change(change func(*apiextensionsv1.CustomResourceDefinition)) {
	l.Helper()
	require.NoError(l, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd, err := l.crds.Get(l.Context(), crdName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(crd)
		_, err = l.crds.Update(l.Context(), crd, metav1.UpdateOptions{})
		return err
	}))
}

func (l *lab) stored() []string {
	l.Helper()
	crd, err := l.crds.Get(l.Context(), crdName, metav1.GetOptions{})
	require.NoError(l, err)
	return crd.Status.StoredVersions
}

func (l *lab) served() (versions []string) {
	l.Helper()
	crd, err := l.crds.Get(l.Context(), crdName, metav1.GetOptions{})
	require.NoError(l, err)
	for _, version := range crd.Spec.Versions {
		if version.Served {
			versions = append(versions, version.Name)
		}
	}
	return versions
}

// owners waits until what the Lighthouses own names them in this version: the garbage collector reads an
// owner in the version that its reference names.
func (l *lab) owners(version string) {
	l.Helper()
	l.becomes("owned in "+version, func() error {
		deployments, err := l.client.AppsV1().Deployments(space).List(l.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, deployment := range deployments.Items {
			if owner := metav1.GetControllerOf(&deployment); owner == nil || owner.APIVersion != "coast.example.com/"+version {
				return fmt.Errorf("%s is owned by %+v", deployment.Name, owner)
			}
		}
		if len(deployments.Items) != objects {
			return fmt.Errorf("there are %d Deployments", len(deployments.Items))
		}
		return nil
	})
}

// becomes waits until there is no error.
func (l *lab) becomes(what string, check func() error) {
	l.Helper()
	require.EventuallyWithT(l.T, func(tick *assert.CollectT) { assert.NoError(tick, check(), what) }, max(testcluster.TestTimeout, 5*time.Minute), 200*time.Millisecond)
}
