package settings

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

func TestStatus(t *testing.T) {
	all := layers{
		aLayer("top", 9, 0, data{"a": "1", "b": "1"}),
		aLayer("partly", 8, 0, data{"a": "2", "c": "2"}),
		aLayer("not", 7, 0, data{"a": "3", "c": "3"}),
		aLayer("same", 6, 0, data{"a": "1"}),
		aLayer("empty", 5, 0, nil),
		aLayer("bad", 4, 0, data{"a": "4", "/": ""}),
	}
	d := decision{action: leave, merged: merge(all)}
	for name, want := range map[string]struct {
		status, reason, message string
		overridden              []v1alpha1.Override
	}{
		"top":    {"True", "Merged", "the ConfigMap settings has all settings of this layer", nil},
		"partly": {"True", "PartlyOverridden", "the ConfigMap settings has settings of this layer, but not a (that of top has won)", []v1alpha1.Override{{Key: "a", By: "top"}}},
		"not": {"False", "Overridden", "the ConfigMap settings has no setting of this layer, not a (that of top has won), c (that of partly has won)",
			[]v1alpha1.Override{{Key: "a", By: "top"}, {Key: "c", By: "partly"}}},
		"same":  {"True", "Merged", "the ConfigMap settings has all settings of this layer", nil},
		"empty": {"True", "Merged", "the ConfigMap settings has all settings of this layer", nil},
		"bad":   {"False", "InvalidKey", `a ConfigMap cannot have the key "/"; give it another name`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, layer := range all {
				if layer.Name != name {
					continue
				}
				got := statusOf(layer, d, "settings")
				require.Len(t, got.Conditions, 1)
				condition := got.Conditions[0]
				assert.False(t, condition.LastTransitionTime.IsZero())
				condition.LastTransitionTime = metav1.Time{}
				assert.Equal(t, metav1.Condition{
					Type: "InEffect", Status: metav1.ConditionStatus(want.status), Reason: want.reason, Message: want.message, ObservedGeneration: 3,
				}, condition)
				assert.Equal(t, want.overridden, got.Overridden)
				assert.Equal(t, "settings 3", got.ConfigMap+" "+string(rune('0'+got.ObservedGeneration)))

				// The same again is the same, to the time.
				layer.Status = got
				assert.Equal(t, got, statusOf(layer, d, "settings"))
			}
		})
	}
}

// TestARefusalKeepsWhatIsTrue shows that a layer does not forget that there is a
// ConfigMap, and what is in it, while that cannot be changed.
func TestARefusalKeepsWhatIsTrue(t *testing.T) {
	layer := aLayer("defaults", 0, 0, data{"a": "1"})
	layer.Status = v1alpha1.SettingsLayerStatus{ConfigMap: "settings", ObservedGeneration: 2, Overridden: []v1alpha1.Override{{Key: "a", By: "site"}}}
	got := statusOf(layer, decision{action: refuse, refuse: omission{"Blocked", "because"}}, "settings")
	assert.Equal(t, layer.Status.Overridden, got.Overridden)
	assert.Equal(t, "settings", got.ConfigMap)
	assert.EqualValues(t, 2, got.ObservedGeneration)
	require.Len(t, got.Conditions, 1)
	assert.Equal(t, "False Blocked because", string(got.Conditions[0].Status)+" "+got.Conditions[0].Reason+" "+got.Conditions[0].Message)
	assert.EqualValues(t, 3, got.Conditions[0].ObservedGeneration)
}

func TestAnEventHoldsOneKibibyte(t *testing.T) {
	assert.Equal(t, "short", short("short"))
	assert.Len(t, short(text(2000)), 1024)
	cut := short("x" + strings.Repeat("ü", 600))
	assert.True(t, utf8.ValidString(cut))
	assert.Len(t, cut, 1023)
}
