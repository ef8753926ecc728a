package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
)

// fuzzed is how many objects of each version go there and back.
const fuzzed = 1000

func TestNothingOfV1alpha1IsLost(t *testing.T) {
	for seed := range int64(fuzzed) {
		before, hub, after := &Lighthouse{}, &v1beta1.Lighthouse{}, &Lighthouse{}
		fill(seed, before)
		require.NoError(t, before.ConvertTo(hub))
		require.NoError(t, after.ConvertFrom(overTheWire(t, hub)))
		mustEqual(t, seed, before, after)
	}
}

func TestNothingOfV1beta1IsLost(t *testing.T) {
	for seed := range int64(fuzzed) {
		before, spoke, after := &v1beta1.Lighthouse{}, &Lighthouse{}, &v1beta1.Lighthouse{}
		fill(seed, before)
		require.NoError(t, spoke.ConvertFrom(before))
		require.NoError(t, overTheWire(t, spoke).ConvertTo(after))
		mustEqual(t, seed, before, after)
	}
}

// fill makes an object of random values, the same for the same seed. Only what has a form gets one: a
// flash has words, and a position is one or there is none.
func fill(seed int64, object any) {
	pick := func(c randfill.Continue, from ...string) string { return from[c.Intn(len(from))] }
	randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 14).Funcs(
		func(meta *metav1.TypeMeta, _ randfill.Continue) { *meta = metav1.TypeMeta{} },
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(c.Int63n(1<<32), 0) },
		func(fields *metav1.FieldsV1, _ randfill.Continue) { fields.SetRawBytes([]byte(`{"f:spec":{}}`)) },
		func(spec *LighthouseSpec, c randfill.Continue) {
			c.FillNoCustom(spec)
			words := make([]string, c.Intn(15))
			for n := range words {
				words[n] = pick(c, "long", "short")
			}
			spec.Flash = strings.Join(words, " ")
			spec.Position = pick(c, "", "50.18N 4.27W")
		},
		func(spec *v1beta1.LighthouseSpec, c randfill.Continue) {
			c.FillNoCustom(spec)
			spec.Position = pick(c, v1beta1.Unlisted, "50.18N 4.27W")
		},
		func(character *v1beta1.Character, c randfill.Continue) {
			size := c.Intn(13)
			*character = v1beta1.Character{Count: c.Int31n(int32(12/max(size, 1)) + 1)}
			for range size {
				lengths := []time.Duration{v1beta1.Short, v1beta1.Long, time.Duration(1+c.Intn(59_999)) * time.Millisecond}
				character.Flashes = append(character.Flashes, metav1.Duration{Duration: lengths[c.Intn(len(lengths))]})
			}
		},
	).Fill(object)
}

// overTheWire returns the object as the other side decodes it.
func overTheWire[T any](t *testing.T, object *T) *T {
	t.Helper()
	sent, err := json.Marshal(object)
	require.NoError(t, err)
	got := new(T)
	require.NoError(t, json.Unmarshal(sent, got))
	return got
}

func mustEqual(t *testing.T, seed int64, before, after any) {
	t.Helper()
	if !equality.Semantic.DeepEqual(before, after) {
		require.Equal(t, before, after, "seed %d: something was lost on the way there and back", seed)
	}
}

func TestAnOldLighthouseInV1beta1(t *testing.T) {
	ready := []metav1.Condition{{Type: Ready, Status: metav1.ConditionTrue}}
	old := &Lighthouse{
		ObjectMeta: metav1.ObjectMeta{Name: "eddystone", UID: "1", Labels: map[string]string{"a": "b"}},
		Spec:       LighthouseSpec{Lamps: 3, Flash: "long short"},
		Status:     LighthouseStatus{ObservedGeneration: 2, Burning: 3, Number: "7", Listed: &Listing{Position: "here", Character: "long"}, Conditions: ready},
	}
	hub := &v1beta1.Lighthouse{}
	require.NoError(t, old.ConvertTo(hub))
	assert.Equal(t, &v1beta1.Lighthouse{
		ObjectMeta: old.ObjectMeta,
		Spec:       v1beta1.LighthouseSpec{Lamps: 3, Character: of(1, v1beta1.Long, v1beta1.Short), Position: v1beta1.Unlisted},
		Status:     v1beta1.LighthouseStatus{ObservedGeneration: 2, Burning: 3, Number: "7", Listed: &v1beta1.Listing{Position: "here", Character: "long"}, Conditions: ready},
	}, hub, "it's unlisted, and all else is the same")
}

func TestWhatAFlashBecomes(t *testing.T) {
	for flash, want := range map[string]v1beta1.Character{
		"long short":        of(1, v1beta1.Long, v1beta1.Short),
		"short short short": of(1, v1beta1.Short, v1beta1.Short, v1beta1.Short),
		"":                  {}, // of an object that lacks it: the API server converts some before it validates them
	} {
		assert.Equal(t, want, character(flash), "a word has the length that lamps have always shown: %s", flash)
	}
}

// characters are some, with the flash of each, and what's kept because that flash can't express it.
var characters = map[string]struct {
	character   v1beta1.Character
	flash, kept string
}{
	"words stay as they are":    {of(1, v1beta1.Long, v1beta1.Short), "long short", ""},
	"groups follow one another": {of(2, v1beta1.Long, v1beta1.Short), "long short long short", `{"flashes":["2s","500ms"],"count":2}`},
	"a length becomes a word":   {of(1, 700*time.Millisecond, 3*time.Second), "short long", `{"flashes":["700ms","3s"],"count":1}`},
	"a second is long":          {of(1, time.Second), "long", `{"flashes":["1s"],"count":1}`},
	"no count makes it endless": {of(1<<30, v1beta1.Short), strings.TrimSpace(strings.Repeat("short ", 12)), `{"flashes":["500ms"],"count":1073741824}`},
}

func TestTheWordsOfACharacter(t *testing.T) {
	for name, tc := range characters {
		assert.Equal(t, tc.flash, flash(tc.character), "the nearest words: %s", name)
	}
}

func TestWhatAFlashCantExpressIsKept(t *testing.T) {
	for name, tc := range characters {
		light := &Lighthouse{}
		require.NoError(t, light.ConvertFrom(&v1beta1.Lighthouse{Spec: v1beta1.LighthouseSpec{Character: tc.character}}))
		assert.Equal(t, tc.flash, light.Spec.Flash, name)
		assert.Equal(t, tc.kept, light.Annotations[Kept], name)
	}
}

func of(count int32, lengths ...time.Duration) v1beta1.Character {
	c := v1beta1.Character{Count: count}
	for _, length := range lengths {
		c.Flashes = append(c.Flashes, metav1.Duration{Duration: length})
	}
	return c
}

// A v1alpha1 client reads and writes what was kept, and knows nothing of it.
func TestWhatWasKeptCountsUntilTheFlashChanges(t *testing.T) {
	character := of(1, 700*time.Millisecond)
	for name, tc := range map[string]struct {
		change func(*Lighthouse)
		want   v1beta1.Character
	}{
		"the lamps change":                 {func(l *Lighthouse) { l.Spec.Lamps = 9 }, character},
		"the flash changes":                {func(l *Lighthouse) { l.Spec.Flash = "long" }, of(1, v1beta1.Long)},
		"the annotation is removed":        {func(l *Lighthouse) { l.Annotations = nil }, of(1, v1beta1.Short)},
		"somebody has made nonsense of it": {func(l *Lighthouse) { l.Annotations = map[string]string{Kept: "{"} }, of(1, v1beta1.Short)},
	} {
		light, hub := &Lighthouse{}, &v1beta1.Lighthouse{}
		require.NoError(t, light.ConvertFrom(&v1beta1.Lighthouse{Spec: v1beta1.LighthouseSpec{Character: character}}))
		tc.change(light)
		require.NoError(t, light.ConvertTo(hub))
		assert.Equal(t, tc.want, hub.Spec.Character, name)
		assert.NotContains(t, hub.Annotations, Kept, "v1beta1 has a field for it")
	}
}

func TestAnObjectAndItsConversionShareNothing(t *testing.T) {
	light := &Lighthouse{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{Kept: "{"}},
		Spec:       LighthouseSpec{SecretRef: &SecretReference{Name: "a"}},
	}
	hub := &v1beta1.Lighthouse{}
	require.NoError(t, light.ConvertTo(hub))
	hub.Labels["a"], hub.Spec.SecretRef.Name = "c", "c"
	assert.Equal(t, "b", light.Labels["a"])
	assert.Equal(t, "a", light.Spec.SecretRef.Name)
	assert.Contains(t, light.Annotations, Kept)
}
