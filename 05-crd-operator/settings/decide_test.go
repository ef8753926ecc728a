package settings

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

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

var harbour = types.NamespacedName{Namespace: "harbour", Name: "settings"}

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		layers, leaving layers
		have            *corev1.ConfigMap
		want            action
		why             string
	}{
		"nothing at all":                        {nil, nil, nil, leave, ""},
		"no layer, and somebody's":              {nil, nil, aConfigMap(foreign), leave, ""},
		"no layer left":                         {nil, nil, aConfigMap(), remove, "there is no layer left"},
		"no layer left, and it goes already":    {nil, nil, aConfigMap(going), leave, ""},
		"the last layer goes":                   {nil, layers{defaults()}, aConfigMap(), leave, ""},
		"the last layer goes, and it is gone":   {nil, layers{defaults()}, nil, leave, ""},
		"none yet":                              {layers{defaults()}, nil, nil, apply, "it is missing"},
		"all is well":                           {layers{defaults()}, nil, aConfigMap(), leave, ""},
		"somebody's":                            {layers{defaults()}, nil, aConfigMap(foreign), refuse, "it was not made from layers"},
		"somebody's, in the place of ours":      {layers{defaults(remembers("settings"))}, nil, aConfigMap(foreign), apply, "not as in the layers: x"},
		"somebody's, and ours had another name": {layers{defaults(remembers("other"))}, nil, aConfigMap(foreign), refuse, "it was not made from layers"},
		"one layer remembers":                   {layers{defaults(), aLayer("site", 0, 0, nil), remembering("z")}, nil, aConfigMap(foreign), apply, "not as in the layers: x"},
		"it goes":                               {layers{defaults()}, nil, aConfigMap(going), refuse, "it is being deleted"},
		"somebody's, and it goes":               {layers{defaults()}, nil, aConfigMap(foreign, going), refuse, "it was not made from layers"},
		"it is immutable":                       {layers{defaults()}, nil, aConfigMap(immutable), replace, "it is immutable"},
		"it says that it is not immutable":      {layers{defaults()}, nil, aConfigMap(func(o *corev1.ConfigMap) { o.Immutable = new(false) }), leave, ""},
		"another layer":                         {layers{defaults(), aLayer("site", 0, 0, nil)}, nil, aConfigMap(), apply, "its owners differ"},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(observed{key: harbour, layers: tc.layers, leaving: tc.leaving, have: tc.have})
			assert.Equal(t, tc.want, got.action)
			assert.Equal(t, tc.why, got.why)
			assert.Equal(t, got.action == refuse, got.refuse != omission{})
		})
	}
}

// A stale cache may remove nothing, and give no owner back.
func TestWhichDecisionsNeedALiveRead(t *testing.T) {
	none := func(*corev1.ConfigMap) {}
	for name, tc := range map[string]struct {
		layers layers
		change func(*corev1.ConfigMap)
		want   bool
	}{
		"the ConfigMap":          {nil, none, true},
		"by a new one":           {layers{defaults()}, immutable, true},
		"a key of ours":          {layers{defaults(func(l *v1alpha1.SettingsLayer) { l.Spec.Data = nil })}, none, true},
		"a key of others":        {layers{defaults()}, func(o *corev1.ConfigMap) { o.Data["y"] = "" }, true},
		"a binary key":           {layers{defaults()}, func(o *corev1.ConfigMap) { o.BinaryData = map[string][]byte{"y": nil} }, true},
		"an owner":               {layers{aLayer("site", 0, 0, data{"x": "1"})}, none, true},
		"an owner more":          {layers{defaults(), aLayer("site", 0, 0, data{"y": "2"})}, none, true},
		"an owner taken off":     {layers{current()}, func(o *corev1.ConfigMap) { o.OwnerReferences = nil }, true},
		"nothing":                {layers{defaults()}, none, false},
		"nothing but a value":    {layers{defaults(func(l *v1alpha1.SettingsLayer) { l.Spec.Data["x"] = "2" })}, none, false},
		"nothing, it adds a key": {layers{defaults(func(l *v1alpha1.SettingsLayer) { l.Spec.Data["y"] = "2" })}, none, false},
		"nothing, it is refused": {layers{defaults()}, foreign, false},
		"not the owner of others": {layers{defaults(func(l *v1alpha1.SettingsLayer) { l.Spec.Data["x"] = "2" })}, func(o *corev1.ConfigMap) {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: "n"})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			have := aConfigMap(tc.change)
			assert.Equal(t, tc.want, decide(observed{key: harbour, layers: tc.layers, have: have}).needsLiveRead)
		})
	}
	assert.False(t, decide(observed{key: harbour, layers: layers{defaults()}}).needsLiveRead, "it is created")
}

// current is a layer whose status has the ConfigMap.
func current(change ...func(*v1alpha1.SettingsLayer)) *v1alpha1.SettingsLayer {
	layer := defaults(append([]func(*v1alpha1.SettingsLayer){remembers("settings")}, change...)...)
	layer.Status.ObservedGeneration = 3
	return layer
}

func TestDriftIsWhatOthersDo(t *testing.T) {
	none := func(*corev1.ConfigMap) {}
	for name, tc := range map[string]struct {
		layers layers
		change func(*corev1.ConfigMap)
		want   bool
	}{
		"all is well":   {layers{current()}, none, false},
		"an annotation": {layers{current()}, func(o *corev1.ConfigMap) { o.Annotations = data{"note": ""} }, false},
		"a key more":    {layers{current()}, func(o *corev1.ConfigMap) { o.Data["y"] = "" }, true},
		"others own a key": {layers{current()}, func(o *corev1.ConfigMap) {
			o.ManagedFields[0].FieldsV1.SetRawString(`{"f:metadata":{"f:labels":{"f:app.kubernetes.io/managed-by":{}},"f:ownerReferences":{"k:{\"uid\":\"uid of defaults\"}":{}}}}`)
		}, true},
		"the label":               {layers{current()}, func(o *corev1.ConfigMap) { o.Labels = nil }, true},
		"the owners":              {layers{current()}, func(o *corev1.ConfigMap) { o.OwnerReferences = nil }, true},
		"it is immutable":         {layers{current()}, immutable, true},
		"somebody's in its place": {layers{current()}, foreign, true},
		"a layer has changed":     {layers{current(func(l *v1alpha1.SettingsLayer) { l.Generation++; l.Spec.Data["x"] = "2" })}, none, false},
		"a layer is new":          {layers{current(), aLayer("site", 0, 0, data{"y": "2"})}, none, false},
		"a layer has gone": {layers{current()}, func(o *corev1.ConfigMap) {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{APIVersion: "settings.example.com/v1alpha1", Kind: "SettingsLayer", Name: "site", UID: "gone"})
			o.Data["y"] = "2"
			o.ManagedFields[0].FieldsV1.SetRawString(`{"f:data":{"f:x":{},"f:y":{}},"f:metadata":{"f:labels":{"f:app.kubernetes.io/managed-by":{}},` +
				`"f:ownerReferences":{"k:{\"uid\":\"uid of defaults\"}":{},"k:{\"uid\":\"gone\"}":{}}}}`)
		}, false},
		"a value of one that went":  {layers{current()}, func(o *corev1.ConfigMap) { o.Data["x"] = "of the heavier" }, false},
		"a new layer, and a forger": {layers{current(), aLayer("site", 0, 0, data{"y": "2"})}, func(o *corev1.ConfigMap) { o.Data["z"] = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(observed{key: harbour, layers: tc.layers, have: aConfigMap(tc.change)})
			assert.Equal(t, tc.want, got.drift)
		})
	}
	assert.True(t, decide(observed{key: harbour, layers: layers{current()}}).drift, "it is deleted")
	assert.False(t, decide(observed{key: harbour, layers: layers{defaults()}}).drift, "there was none yet")
}

func TestARepairIsCounted(t *testing.T) {
	before := repairs(t)
	for _, d := range []decision{{action: leave}, {action: apply}, {action: refuse}, {action: apply, drift: true}} {
		report(logr.NewContext(t.Context(), logr.Discard()), d)
	}
	assert.InDelta(t, 1, repairs(t)-before, 0)
}

// repairs reads the metric where a manager serves it.
func repairs(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "settings_drift_repairs_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "there is no such metric")
	return 0
}

func remembering(name string) *v1alpha1.SettingsLayer {
	layer := aLayer(name, 0, 0, nil)
	layer.Status.ConfigMap = "settings"
	return layer
}

func TestDifference(t *testing.T) {
	want := desired(harbour, layers{defaults()}, data{"x": "1"})
	for name, tc := range map[string]struct {
		change func(*corev1.ConfigMap)
		want   string
	}{
		"none":              {func(*corev1.ConfigMap) {}, ""},
		"a value":           {func(o *corev1.ConfigMap) { o.Data["x"] = "2" }, "not as in the layers: x"},
		"a key less":        {func(o *corev1.ConfigMap) { delete(o.Data, "x") }, "not as in the layers: x"},
		"a key more":        {func(o *corev1.ConfigMap) { o.Data["y"] = "" }, "no layer has y"},
		"many keys more":    {func(o *corev1.ConfigMap) { o.Data = data{"e": "", "d": "", "c": "", "b": "", "a": ""} }, "no layer has a, b, c and 2 more"},
		"a binary key more": {func(o *corev1.ConfigMap) { o.BinaryData = map[string][]byte{"y": nil} }, "no layer has y"},
		"the label":         {func(o *corev1.ConfigMap) { o.Labels[managedBy] = "me" }, "its label differs"},
		"no label":          {func(o *corev1.ConfigMap) { o.Labels = nil }, "its label differs"},
		"another label":     {func(o *corev1.ConfigMap) { o.Labels["team"] = "coast" }, ""},
		"an annotation":     {func(o *corev1.ConfigMap) { o.Annotations = map[string]string{"note": ""} }, ""},
		"another owner": {func(o *corev1.ConfigMap) {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: "n"})
		}, ""},
		"no owner":                       {func(o *corev1.ConfigMap) { o.OwnerReferences = nil }, "its owners differ"},
		"a layer of another UID":         {func(o *corev1.ConfigMap) { o.OwnerReferences[0].UID = types.UID("old") }, "its owners differ"},
		"nobody owns any field":          {func(o *corev1.ConfigMap) { o.ManagedFields = nil }, "not as in the layers: x"},
		"others own what we want":        {func(o *corev1.ConfigMap) { o.ManagedFields[0].Manager = "me" }, "not as in the layers: x"},
		"an account that is not legible": {func(o *corev1.ConfigMap) { o.ManagedFields[0].FieldsV1.SetRawString(`{"data":1}`) }, "not as in the layers: x"},
	} {
		t.Run(name, func(t *testing.T) {
			have := aConfigMap(tc.change)
			assert.Equal(t, tc.want, compare(have, want).why)
		})
	}
}
