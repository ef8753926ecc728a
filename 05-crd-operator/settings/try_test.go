//go:build try

package settings

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// What the lessons of parts 5.1 and 5.2 ask the reader to write. Until then, these tests fail.

const layersAnnotation = "settings.example.com/layers"

func TestTryTheNumberOfLayersIsApplied(t *testing.T) {
	one := desired(harbour, layers{defaults()}, data{"x": "1"})
	require.Equal(t, "1", one.Annotations[layersAnnotation], "the annotation is not applied")
	two := desired(harbour, layers{defaults(), aLayer("site", 0, 0, nil)}, nil)
	assert.Equal(t, data{layersAnnotation: "2"}, data(two.Annotations))
}

func TestTryAnAnnotationOfOursIsCompared(t *testing.T) {
	want := desired(harbour, layers{defaults()}, data{"x": "1"})
	have := aConfigMap()
	have.Annotations = map[string]string{layersAnnotation: "1", "note": "mine"}
	have.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:data":{"f:x":{}},"f:metadata":{"f:annotations":{"f:settings.example.com/layers":{}},` +
		`"f:labels":{"f:app.kubernetes.io/managed-by":{}},"f:ownerReferences":{"k:{\"uid\":\"uid of defaults\"}":{}}}}`)
	require.Empty(t, compare(have, want).why, "it is as it should be, and the annotation of somebody else does no harm")

	have.ManagedFields[0].FieldsV1 = aConfigMap().ManagedFields[0].FieldsV1 // somebody else has set it
	have.Annotations[layersAnnotation] = "7"
	d := compare(have, want)
	require.Equal(t, "its annotation differs", d.why, "somebody has changed the annotation")
	assert.True(t, d.byOthers, "it is drift")
	assert.False(t, d.needsLiveRead, "a stale cache does no harm here")
}

func TestTryAConflictOfFieldsIsShown(t *testing.T) {
	stale := apierrors.NewConflict(corev1.Resource("configmaps"), "settings", errors.New("the object has been modified"))
	fields := apierrors.NewConflict(corev1.Resource("configmaps"), "settings", errors.New(`conflict with "me": .data.x`))
	fields.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "me"`, Field: ".data.x"}}
	for name, refused := range map[string]*apierrors.StatusError{"a conflict of fields": fields, "a stale version": stale} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			require.NoError(t, AddToScheme(scheme))
			layer, force := defaults(), false
			objects := fake.NewClientBuilder().WithScheme(scheme).WithObjects(layer).WithStatusSubresource(layer).WithInterceptorFuncs(interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
					options := (&client.ApplyOptions{}).ApplyOptions(opts)
					force = ptr.Deref(options.Force, false)
					return refused
				},
			}).Build()
			r := &Reconciler{Client: objects, APIReader: objects, Recorder: events.NewFakeRecorder(10)}
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: harbour})
			require.True(t, apierrors.IsConflict(err), "it is tried again")
			require.False(t, force, "the apply is forced")
			require.NoError(t, objects.Get(t.Context(), client.ObjectKeyFromObject(layer), layer))
			if refused == stale {
				require.Empty(t, layer.Status.Conditions, "a stale version is over by the next try, and says nothing to a user")
				return
			}
			require.Len(t, layer.Status.Conditions, 1, "the layers do not show the conflict")
			assert.Equal(t, v1alpha1.Blocked, layer.Status.Conditions[0].Reason)
			assert.Contains(t, layer.Status.Conditions[0].Message, `conflict with "me"`)
		})
	}
}

func TestTryALayerWaitsForItsConfigMap(t *testing.T) {
	want := desired(harbour, layers{defaults(), aLayer("site", 0, 0, nil)}, nil)
	require.Len(t, want.OwnerReferences, 2)
	for _, owner := range want.OwnerReferences {
		require.True(t, ptr.Deref(owner.BlockOwnerDeletion, false), "the layer does not wait for its dependent")
		assert.Nil(t, owner.Controller, "and no layer controls it")
	}
}

func TestTryAnOrphanOfOursIsAdopted(t *testing.T) {
	noOwners := func(o *corev1.ConfigMap) { o.OwnerReferences = nil }
	adopted := decide(observed{key: harbour, layers: layers{defaults()}, have: aConfigMap(noOwners)})
	require.Equal(t, apply, adopted.action, "it is exactly what the layers come to, and settings has set all of it")
	assert.True(t, adopted.needsLiveRead, "a stale cache may have a layer that is being deleted")

	empty := defaults(func(l *v1alpha1.SettingsLayer) { l.Spec.Data = nil })
	for name, tc := range map[string]struct {
		layer  *v1alpha1.SettingsLayer
		change func(*corev1.ConfigMap)
	}{
		"it has another value":                          {defaults(), func(o *corev1.ConfigMap) { o.Data["x"] = "2" }},
		"it has lost a key":                             {defaults(), func(o *corev1.ConfigMap) { o.Data = nil }},
		"its label is another":                          {defaults(), func(o *corev1.ConfigMap) { o.Labels[managedBy] = "me" }},
		"somebody else set it":                          {defaults(), func(o *corev1.ConfigMap) { o.ManagedFields[0].Manager = "me" }},
		"it is a user's own, and the layer has no data": {empty, func(o *corev1.ConfigMap) { o.Labels, o.ManagedFields = nil, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(observed{key: harbour, layers: layers{tc.layer}, have: aConfigMap(noOwners, tc.change)})
			assert.Equal(t, v1alpha1.NameTaken, got.refuse.reason, "it may be somebody's data")
		})
	}
}

func TestTryAPausedConfigMapIsLeftAsItIs(t *testing.T) {
	paused := func(o *corev1.ConfigMap) { o.Annotations = data{"settings.example.com/paused": ""} }
	forged := func(o *corev1.ConfigMap) { o.Data["x"] = "2"; o.ManagedFields = nil }
	got := decide(observed{key: harbour, layers: layers{current()}, have: aConfigMap(paused, forged)})
	require.Equal(t, refuse, got.action, "it undoes what somebody changes while it is paused")
	assert.Equal(t, "Paused", got.refuse.reason)
	assert.NotEmpty(t, got.refuse.message)
	assert.NotEmpty(t, got.why, "the log says why")

	assert.Equal(t, apply, decide(observed{key: harbour, layers: layers{current()}, have: aConfigMap(forged)}).action, "without the annotation it goes on")
	assert.Equal(t, remove, decide(observed{key: harbour, have: aConfigMap(paused)}).action, "with the last layer it goes")
	assert.Equal(t, v1alpha1.NameTaken, decide(observed{key: harbour, layers: layers{defaults()}, have: aConfigMap(paused, foreign)}).refuse.reason,
		"what is not ours is not paused")
}
