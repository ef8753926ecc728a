package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const crdName = "lighthouses.coast.example.com"

var resource = schema.GroupResource{Group: "coast.example.com", Resource: "lighthouses"}

// server is a fake one with a CRD, and some Lighthouses in three pages.
type server struct {
	client.Client
	read    []string                // the version of each list
	patched []string                // the name of each patch
	refuses func(next string) error // a list that goes on there
}

func newServer(t *testing.T, answer func(s *server, name string) error) *server {
	t.Helper()
	types := runtime.NewScheme()
	require.NoError(t, apiextensionsv1.AddToScheme(types))
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crdName}}
	crd.Spec.Group, crd.Spec.Names.Kind = resource.Group, "Lighthouse"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1", Served: true}, {Name: "v1beta1", Served: true, Storage: true}}
	crd.Status.StoredVersions = []string{"v1alpha1", "v1beta1"}
	s := &server{refuses: func(string) error { return nil }}
	s.Client = fake.NewClientBuilder().WithScheme(types).WithObjects(crd).WithStatusSubresource(crd).WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			list := into.(*metav1.PartialObjectMetadataList)
			asked := (&client.ListOptions{}).ApplyOptions(options)
			if err := s.refuses(asked.Continue); err != nil {
				return err
			}
			s.read = append(s.read, list.GroupVersionKind().Version)
			next := map[string]string{"": "a", "a": "b", "b": ""}
			list.Continue = next[asked.Continue]
			list.Items = nil
			for n := range 2 {
				list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("light-", asked.Continue, n), ResourceVersion: "7"}})
			}
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(object)
			require.NoError(t, err)
			assert.JSONEq(t, `{"metadata":{"resourceVersion":"7"}}`, string(data), "it writes over nothing that it hasn't read")
			s.patched = append(s.patched, object.GetName())
			if answer == nil {
				return nil
			}
			return answer(s, object.GetName())
		},
	}).Build()
	return s
}

func (s *server) stored(t *testing.T) []string {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, s.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
	return crd.Status.StoredVersions
}

func TestEachObjectOfEachPageIsRewritten(t *testing.T) {
	s := newServer(t, nil)
	rewritten, storage, err := migrate(t.Context(), s, crdName, "")
	require.NoError(t, err)
	assert.Equal(t, 6, rewritten)
	assert.Equal(t, "v1beta1", storage)
	assert.Equal(t, []string{"v1beta1", "v1beta1", "v1beta1"}, s.read)
	assert.Equal(t, []string{"light-0", "light-1", "light-a0", "light-a1", "light-b0", "light-b1"}, s.patched)
	assert.Equal(t, []string{"v1beta1"}, s.stored(t))
}

func TestWhatOthersHaveWrittenOrDeletedIsLeftAlone(t *testing.T) {
	s := newServer(t, func(_ *server, name string) error {
		switch name {
		case "light-1":
			return apierrors.NewConflict(resource, name, nil)
		case "light-a0":
			return apierrors.NewNotFound(resource, name)
		}
		return nil
	})
	rewritten, _, err := migrate(t.Context(), s, crdName, "")
	require.NoError(t, err)
	assert.Equal(t, 4, rewritten)
	assert.Len(t, s.patched, 6)
	assert.Equal(t, []string{"v1beta1"}, s.stored(t))
}

func TestIfOneObjectFailsTheOldVersionStays(t *testing.T) {
	s := newServer(t, func(_ *server, name string) error {
		if name == "light-b1" {
			return errors.New("the webhook is down")
		}
		return nil
	})
	_, _, err := migrate(t.Context(), s, crdName, "")
	require.EqualError(t, err, "rewriting in v1beta1: /light-b1: the webhook is down")
	assert.Equal(t, []string{"v1alpha1", "v1beta1"}, s.stored(t), "an object may be stored in it")
}

// Somebody goes back to the old version while the objects are rewritten in the new one.
func TestIfTheCRDChangesMeanwhileTheOldVersionStays(t *testing.T) {
	s := newServer(t, func(s *server, name string) error {
		if name != "light-a0" {
			return nil
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, s.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
		crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = true, false
		return s.Update(t.Context(), crd)
	})
	_, _, err := migrate(t.Context(), s, crdName, "")
	require.ErrorContains(t, err, "the CRD has changed meanwhile; run this again")
	assert.Equal(t, []string{"v1alpha1", "v1beta1"}, s.stored(t))
}

func TestAVersionThatIsServedIsNotDisowned(t *testing.T) {
	s := newServer(t, nil)
	_, _, err := migrate(t.Context(), s, crdName, "v1alpha1")
	require.EqualError(t, err, "disowning what was written in v1alpha1: it's still served; stop that first")
	assert.Empty(t, s.patched)
}

// Somebody writes one of the objects between its read and its patch.
func TestWhatWasWrittenInAVersionIsDisowned(t *testing.T) {
	before, now := metav1.ManagedFieldsEntry{APIVersion: "coast.example.com/v1alpha1"}, metav1.ManagedFieldsEntry{APIVersion: "coast.example.com/v1beta1"}
	stored := map[string][]metav1.ManagedFieldsEntry{"both": {before, now}, "new": {now}, "old": {before, before}}
	patches, conflicts := map[string][]string{}, 1
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
			for name, fields := range stored {
				list := into.(*metav1.PartialObjectMetadataList)
				list.Items = append(list.Items, metav1.PartialObjectMetadata{
					ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7", ManagedFields: slices.Clone(fields)},
				})
			}
			return nil
		},
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
			object.SetResourceVersion("8")
			object.SetManagedFields(slices.Clone(stored[key.Name]))
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(object)
			require.NoError(t, err)
			patches[object.GetName()] = append(patches[object.GetName()], string(data))
			if object.GetName() == "both" && conflicts > 0 {
				conflicts--
				return apierrors.NewConflict(resource, "both", nil)
			}
			return nil
		},
	}).Build()
	require.NoError(t, disown(t.Context(), c, schema.GroupVersionKind{Group: "coast.example.com", Version: "v1beta1", Kind: "Lighthouse"}, "v1alpha1"))
	left := `{"metadata":{"managedFields":[{"apiVersion":"coast.example.com/v1beta1"}],"resourceVersion":"%s"}}`
	assert.Equal(t, map[string][]string{
		"both": {fmt.Sprintf(left, "7"), fmt.Sprintf(left, "8")}, "old": {`{"metadata":{"managedFields":[{}],"resourceVersion":"7"}}`},
	}, patches)
}
