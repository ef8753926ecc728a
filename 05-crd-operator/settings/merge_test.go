package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// aLayer is one that is so many seconds younger than the oldest.
func aLayer(name string, priority int32, seconds int64, d data) *v1alpha1.SettingsLayer {
	return &v1alpha1.SettingsLayer{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "harbour", Name: name, UID: types.UID("uid of " + name), Generation: 3,
			CreationTimestamp: metav1.Unix(1_000_000_000+seconds, 0),
		},
		Spec: v1alpha1.SettingsLayerSpec{Priority: priority, Data: d},
	}
}

type layers []*v1alpha1.SettingsLayer

// most is how many bytes the values of a ConfigMap may have.
const most = 1 << 20

type mergeCase struct {
	layers  layers
	want    data
	from    data
	leftOut map[string]string // the reason, by layer
}

func TestMerge(t *testing.T) {
	runMerge(t, map[string]mergeCase{
		"no layer":                  {nil, data{}, data{}, nil},
		"one layer":                 {layers{aLayer("a", 0, 0, data{"x": "1"})}, data{"x": "1"}, data{"x": "a"}, nil},
		"different keys":            {layers{aLayer("a", 0, 0, data{"x": "1"}), aLayer("b", 0, 0, data{"y": "2"})}, data{"x": "1", "y": "2"}, data{"x": "a", "y": "b"}, nil},
		"the higher priority wins":  {layers{aLayer("a", 1, 0, data{"x": "1"}), aLayer("b", 2, 9, data{"x": "2"})}, data{"x": "2"}, data{"x": "b"}, nil},
		"zero is more than minus 1": {layers{aLayer("a", -1, 0, data{"x": "1"}), aLayer("b", 0, 9, data{"x": "2"})}, data{"x": "2"}, data{"x": "b"}, nil},
		"then the older":            {layers{aLayer("a", 1, 9, data{"x": "1"}), aLayer("b", 1, 0, data{"x": "2"})}, data{"x": "2"}, data{"x": "b"}, nil},
		"then the first name":       {layers{aLayer("b", 1, 0, data{"x": "2"}), aLayer("a", 1, 0, data{"x": "1"})}, data{"x": "1"}, data{"x": "a"}, nil},
		"an empty value is a value": {layers{aLayer("a", 1, 0, data{"x": ""}), aLayer("b", 0, 0, data{"x": "2"})}, data{"x": ""}, data{"x": "a"}, nil},
	})
}

func TestALayerWithABadKeyIsLeftOut(t *testing.T) {
	runMerge(t, map[string]mergeCase{
		"a key that no ConfigMap can have": {
			layers{aLayer("a", 1, 0, data{"x": "1", "no/slash": ""}), aLayer("b", 0, 0, data{"x": "2"})},
			data{"x": "2"}, data{"x": "b"}, map[string]string{"a": v1alpha1.InvalidKey},
		},
		"two layers with one bad key": {
			layers{aLayer("a", 1, 0, data{"..": "1"}), aLayer("b", 0, 0, data{"..": "2", "x": "2"})},
			data{}, data{}, map[string]string{"a": v1alpha1.InvalidKey, "b": v1alpha1.InvalidKey},
		},
	})
}

func TestALayerThatDoesNotFitIsLeftOut(t *testing.T) {
	runMerge(t, map[string]mergeCase{
		"exactly as much as fits": {
			layers{aLayer("a", 1, 0, data{"x": text(most - 1)}), aLayer("b", 0, 0, data{"y": "2"})},
			data{"x": text(most - 1), "y": "2"}, data{"x": "a", "y": "b"}, nil,
		},
		"one byte too much": {
			layers{aLayer("a", 1, 0, data{"x": text(most - 1)}), aLayer("b", 0, 0, data{"y": "22"}), aLayer("c", -1, 0, data{"y": "3"})},
			data{"x": text(most - 1), "y": "3"}, data{"x": "a", "y": "c"}, map[string]string{"b": v1alpha1.TooLarge},
		},
		"what is overridden takes no room": {
			layers{aLayer("a", 1, 0, data{"x": text(most)}), aLayer("b", 0, 0, data{"x": "22"})},
			data{"x": text(most)}, data{"x": "a"}, nil,
		},
		"bytes count, not characters": {
			layers{aLayer("a", 0, 0, data{"x": strings.Repeat("ü", most/2+1)})},
			data{}, data{}, map[string]string{"a": v1alpha1.TooLarge},
		},
	})
}

func runMerge(t *testing.T, cases map[string]mergeCase) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 { // in this order, and in the other
				before := slices.Clone(tc.layers)
				got := merge(tc.layers)
				assert.True(t, slices.Equal(before, tc.layers), "%s: merge has changed the order of its caller's slice", name)
				assert.Equal(t, printable(tc.want), printable(got.data), "%s: the data", name)
				assert.Equal(t, map[string]string(tc.from), got.from)
				assert.Len(t, got.leftOut, len(tc.leftOut))
				for layer, why := range got.leftOut {
					assert.Equal(t, tc.leftOut[layer], why.reason)
				}
				slices.Reverse(tc.layers)
			}
		})
	}
}

// printable has the length of each value that is too long to print.
func printable(d map[string]string) map[string]string {
	p := maps.Clone(d)
	for key, value := range d {
		if len(value) > 9 {
			p[key] = fmt.Sprint(len(value), " bytes")
		}
	}
	return p
}

func TestHeaviestFirstIsAnOrder(t *testing.T) {
	a, b := aLayer("a", 0, 0, nil), aLayer("b", 0, 0, nil)
	assert.Negative(t, heaviestFirst(a, b))
	assert.Positive(t, heaviestFirst(b, a))
	b.CreationTimestamp = metav1.NewTime(a.CreationTimestamp.Add(-time.Second))
	assert.Positive(t, heaviestFirst(a, b))
	a.Spec.Priority = 2147483647
	b.Spec.Priority = -2147483648
	assert.Negative(t, heaviestFirst(a, b), "the difference does not fit into 32 bits")
}

func TestWhyALayerIsLeftOut(t *testing.T) {
	t.Run("a bad key", func(t *testing.T) {
		for range 20 { // it names the same key each time
			got := merge(layers{aLayer("a", 0, 0, data{"no slash/": "", "no space": "", "..": "", "x": "1"})})
			require.Equal(t, omission{"InvalidKey", `a ConfigMap cannot have the key ".."; give it another name`}, got.leftOut["a"])
		}
	})
	t.Run("too large", func(t *testing.T) {
		got := merge(layers{aLayer("a", 1, 0, data{"x": text(most)}), aLayer("b", 0, 0, data{"y": "2"})})
		assert.Equal(t, omission{"TooLarge", "with this layer, and those that weigh more, the ConfigMap would have values of 1048577 bytes, and it can have 1048576; take something out"}, got.leftOut["b"])
	})
}
