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
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

var harbour = types.NamespacedName{Namespace: "harbour", Name: "settings"}

// aConfigMap is as the operator made it from the layer defaults, with x=1.
func aConfigMap(change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	o := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "harbour", Name: "settings", UID: "its uid",
			Labels: map[string]string{managedBy: "settings"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "settings.example.com/v1alpha1", Kind: "SettingsLayer", Name: "defaults", UID: "uid of defaults",
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "settings", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:x":{}},"f:metadata":{` +
					`"f:labels":{"f:app.kubernetes.io/managed-by":{}},"f:ownerReferences":{"k:{\"uid\":\"uid of defaults\"}":{}}}}`),
			}},
		},
		Data: map[string]string{"x": "1"},
	}
	for _, f := range change {
		f(o)
	}
	return o
}

// foreign is as somebody else would make it.
func foreign(o *corev1.ConfigMap) { o.Labels, o.OwnerReferences, o.ManagedFields = nil, nil, nil }

func going(o *corev1.ConfigMap) { o.DeletionTimestamp = &metav1.Time{} }

func immutable(o *corev1.ConfigMap) { o.Immutable = new(true) }

func defaults(change ...func(*v1alpha1.SettingsLayer)) *v1alpha1.SettingsLayer {
	layer := aLayer("defaults", 0, 0, data{"x": "1"})
	for _, f := range change {
		f(layer)
	}
	return layer
}

// remembers makes a layer one that was in a ConfigMap of this name.
func remembers(configMap string) func(*v1alpha1.SettingsLayer) {
	return func(layer *v1alpha1.SettingsLayer) { layer.Status.ConfigMap = configMap }
}

// current is a layer whose status has the ConfigMap.
func current(change ...func(*v1alpha1.SettingsLayer)) *v1alpha1.SettingsLayer {
	layer := defaults(append([]func(*v1alpha1.SettingsLayer){remembers("settings")}, change...)...)
	layer.Status.ObservedGeneration = 3
	return layer
}

func TestDecide(t *testing.T) {
	site, forged := aLayer("site", 0, 0, nil), func(o *corev1.ConfigMap) { o.Data["z"] = "" }
	for name, tc := range map[string]struct {
		layers, leaving layers
		have            *corev1.ConfigMap
		want            action
		why             string
		drift           bool
	}{
		"nothing at all":                        {nil, nil, nil, leave, "", false},
		"no layer, and somebody's":              {nil, nil, aConfigMap(foreign), leave, "", false},
		"no layer left":                         {nil, nil, aConfigMap(), remove, "there is no layer left", false},
		"no layer left, and it goes already":    {nil, nil, aConfigMap(going), leave, "", false},
		"the last layer goes":                   {nil, layers{defaults()}, aConfigMap(), leave, "", false},
		"the last layer goes, and it is gone":   {nil, layers{defaults()}, nil, leave, "", false},
		"none yet":                              {layers{defaults()}, nil, nil, apply, "it is missing", false},
		"it is deleted":                         {layers{current()}, nil, nil, apply, "it is missing", true},
		"all is well":                           {layers{current()}, nil, aConfigMap(), leave, "", false},
		"somebody's":                            {layers{defaults()}, nil, aConfigMap(foreign), refuse, "it was not made from layers", false},
		"somebody's, in the place of ours":      {layers{current()}, nil, aConfigMap(foreign), apply, "not as in the layers: x", true},
		"somebody's, and ours had another name": {layers{defaults(remembers("other"))}, nil, aConfigMap(foreign), refuse, "it was not made from layers", false},
		"one layer remembers":                   {layers{defaults(remembers("settings")), site}, nil, aConfigMap(foreign), apply, "not as in the layers: x", false},
		"it goes":                               {layers{defaults()}, nil, aConfigMap(going), refuse, "it is being deleted", false},
		"somebody's, and it goes":               {layers{defaults()}, nil, aConfigMap(foreign, going), refuse, "it was not made from layers", false},
		"it is immutable":                       {layers{current()}, nil, aConfigMap(immutable), replace, "it is immutable", true},
		"a layer is new":                        {layers{current(), site}, nil, aConfigMap(), apply, "its owners differ", false},
		"a layer is new, and a forger":          {layers{current(), site}, nil, aConfigMap(forged), apply, "no layer has z", false},
		"a layer has changed": {layers{current(func(l *v1alpha1.SettingsLayer) { l.Generation++; l.Spec.Data["x"] = "2" })}, nil,
			aConfigMap(), apply, "not as in the layers: x", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(observed{key: harbour, layers: tc.layers, leaving: tc.leaving, have: tc.have})
			assert.Equal(t, tc.want, got.action)
			assert.Equal(t, tc.why, got.why)
			assert.Equal(t, tc.drift, got.drift, "drift is what others do")
			assert.Equal(t, got.action == refuse, got.refuse != omission{})
			switch got.action {
			case remove, replace:
				assert.True(t, got.needsLiveRead)
			case leave, refuse:
				assert.False(t, got.needsLiveRead)
			}
		})
	}
}

// TestCompare says of each difference how it reads, whether it is drift, and whether it needs a
// live read: a stale cache may take nothing away, and give no owner back.
func TestCompare(t *testing.T) {
	const x = "not as in the layers: x"
	want := desired(harbour, layers{defaults()}, data{"x": "1"})
	more := desired(harbour, layers{defaults()}, data{"x": "1", "y": "2"})
	without := desired(harbour, layers{defaults()}, nil)
	for name, tc := range map[string]struct {
		want           *corev1ac.ConfigMapApplyConfiguration
		change         func(*corev1.ConfigMap)
		why            string
		byOthers, live bool
	}{
		"none":                         {want, func(*corev1.ConfigMap) {}, "", false, false},
		"a value of a layer that went": {want, func(o *corev1.ConfigMap) { o.Data["x"] = "2" }, x, false, false},
		"a key less":                   {want, func(o *corev1.ConfigMap) { delete(o.Data, "x") }, x, true, false},
		"a new key":                    {more, func(*corev1.ConfigMap) {}, "not as in the layers: y", true, false},
		"a key that no layer has":      {without, func(*corev1.ConfigMap) {}, x, false, true},
		"a key more":                   {want, func(o *corev1.ConfigMap) { o.Data["y"] = "" }, "no layer has y", true, true},
		"many keys more":               {want, func(o *corev1.ConfigMap) { o.Data = data{"e": "", "d": "", "c": "", "b": "", "a": ""} }, "no layer has a, b, c and 2 more", true, true},
		"a binary key more":            {want, func(o *corev1.ConfigMap) { o.BinaryData = map[string][]byte{"y": nil} }, "no layer has y", true, true},
		"the label":                    {want, func(o *corev1.ConfigMap) { o.Labels[managedBy] = "me" }, "its label differs", true, false},
		"no label":                     {want, func(o *corev1.ConfigMap) { o.Labels = nil }, "its label differs", true, false},
		"another label":                {want, func(o *corev1.ConfigMap) { o.Labels["team"] = "coast" }, "", false, false},
		"an annotation":                {want, func(o *corev1.ConfigMap) { o.Annotations = data{"note": ""} }, "", false, false},
		"another owner": {want, func(o *corev1.ConfigMap) {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: "n"})
		}, "", false, false},
		"no owner":               {want, func(o *corev1.ConfigMap) { o.OwnerReferences = nil }, "its owners differ", true, true},
		"a layer of another UID": {want, func(o *corev1.ConfigMap) { o.OwnerReferences[0].UID = "old" }, "its owners differ", true, true},
		"the owner of a layer that went": {want, func(o *corev1.ConfigMap) {
			gone := o.OwnerReferences[0]
			gone.Name, gone.UID = "site", "gone"
			o.OwnerReferences = append(o.OwnerReferences, gone)
			o.ManagedFields[0].FieldsV1.SetRawString(`{"f:data":{"f:x":{}},"f:metadata":{"f:labels":{"f:app.kubernetes.io/managed-by":{}},` +
				`"f:ownerReferences":{"k:{\"uid\":\"uid of defaults\"}":{},"k:{\"uid\":\"gone\"}":{}}}}`)
		}, "its owners differ", false, true},
		"it is immutable":                  {want, immutable, "it is immutable", true, true},
		"it says that it is not immutable": {want, func(o *corev1.ConfigMap) { o.Immutable = new(false) }, "", false, false},
		"nobody owns any field":            {want, func(o *corev1.ConfigMap) { o.ManagedFields = nil }, x, true, true},
		"others own what we want":          {want, func(o *corev1.ConfigMap) { o.ManagedFields[0].Manager = "me" }, x, true, true},
		"an account that is not legible":   {want, func(o *corev1.ConfigMap) { o.ManagedFields[0].FieldsV1.SetRawString(`{"data":1}`) }, x, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare(aConfigMap(tc.change), tc.want)
			assert.Equal(t, tc.why, got.why)
			assert.Equal(t, tc.byOthers, got.byOthers, "by others")
			assert.Equal(t, tc.live, got.needsLiveRead, "needs a live read")
		})
	}
	assert.Equal(t, delta{why: "it is missing", byOthers: true}, compare(nil, want))
}

func TestWhichChangesOfALayerLeadToAReconcile(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.SettingsLayer)
		want   bool
	}{
		"its spec":            {func(l *v1alpha1.SettingsLayer) { l.Generation++ }, true},
		"another of its name": {func(l *v1alpha1.SettingsLayer) { l.UID = "another" }, true},
		"its status":          {remembers("settings"), false},
		"a label":             {func(l *v1alpha1.SettingsLayer) { l.Labels = data{"team": "coast"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, layerChanged.Update(event.UpdateEvent{ObjectOld: defaults(), ObjectNew: defaults(tc.change)}))
		})
	}
}

// What is tried again is tried by the rate limiter, whose pauses grow: Reconcile returns the error. A conflict
// says nothing to a user, and a refusal does. A layer that is gone, or is about to be, needs no status.
func TestAWriteThatIsRefused(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("any"), "any", nil)
	quota := apierrors.NewForbidden(corev1.Resource("configmaps"), "settings", errors.New("exceeded quota"))
	terminating := apierrors.NewForbidden(corev1.Resource("configmaps"), "settings", nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, tc := range map[string]struct {
		apply, status error
		again         error
		shown         string
	}{
		"a conflict of the ConfigMap":            {apply: conflict, again: conflict},
		"a quota":                                {apply: quota, again: quota, shown: `the server refuses the ConfigMap settings: applying the ConfigMap: configmaps "settings" is forbidden: exceeded quota`},
		"the namespace begins to end":            {apply: terminating},
		"a conflict of a status":                 {status: conflict, again: conflict},
		"the status of a layer that was deleted": {status: apierrors.NewNotFound(corev1.Resource("any"), "any")},
	} {
		t.Run(name, func(t *testing.T) {
			layer := defaults()
			objects := refusing(t, layer, tc.apply, tc.status)
			result, err := (&Reconciler{Client: objects, Recorder: events.NewFakeRecorder(10)}).Reconcile(t.Context(), reconcile.Request{NamespacedName: harbour})
			assert.Equal(t, reconcile.Result{}, result)
			require.ErrorIs(t, err, tc.again)
			require.NoError(t, objects.Get(t.Context(), client.ObjectKeyFromObject(layer), layer))
			if tc.status != nil {
				assert.Empty(t, layer.Status.Conditions, "it was refused")
				return
			}
			shown := ""
			for _, c := range layer.Status.Conditions {
				shown = c.Message
			}
			assert.Equal(t, tc.shown, shown, "what the layer shows")
		})
	}
}

// refusing is an API server in memory, which has this layer. It answers each apply, and each write of a status, with
// these errors.
func refusing(t *testing.T, layer *v1alpha1.SettingsLayer, apply, status error) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(layer).WithStatusSubresource(layer).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return apply
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if status != nil {
				return status
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	}).Build()
}

// The words of a quota change with its use. The status has the new ones.
func TestARefusalInOtherWordsIsNoEvent(t *testing.T) {
	quota := apierrors.NewForbidden(corev1.Resource("configmaps"), "settings", errors.New("exceeded quota"))
	layer, recorder := defaults(), events.NewFakeRecorder(10)
	objects := refusing(t, layer, quota, nil)
	for _, words := range []string{"used: 1", "used: 2"} {
		quota.ErrStatus.Message = words
		_, err := (&Reconciler{Client: objects, Recorder: recorder}).Reconcile(t.Context(), reconcile.Request{NamespacedName: harbour})
		require.ErrorIs(t, err, quota)
		require.NoError(t, objects.Get(t.Context(), client.ObjectKeyFromObject(layer), layer))
		require.Len(t, layer.Status.Conditions, 1)
		assert.Contains(t, layer.Status.Conditions[0].Message, words)
	}
	assert.Len(t, recorder.Events, 1)
}
