package v1alpha1

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
)

// Kept is the annotation of a v1alpha1 Lighthouse whose flash can't express its v1beta1 character: that
// character, as JSON.
const Kept = "coast.example.com/character"

// ConvertTo makes a v1beta1 Lighthouse of this one. No default of a schema is applied to the result, so
// what v1alpha1 doesn't require gets its value here.
func (l *Lighthouse) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta1.Lighthouse)
	if !ok {
		return fmt.Errorf("converting a Lighthouse to its hub: %T is another type", hub)
	}
	from := l.DeepCopy() // the two share nothing
	to.ObjectMeta = from.ObjectMeta
	to.Spec = v1beta1.LighthouseSpec{
		Lamps:     from.Spec.Lamps,
		Character: character(from.Spec.Flash),
		Position:  cmp.Or(from.Spec.Position, v1beta1.Unlisted),
		SecretRef: (*v1beta1.SecretReference)(from.Spec.SecretRef),
	}
	to.Status = v1beta1.LighthouseStatus{
		ObservedGeneration: from.Status.ObservedGeneration,
		Burning:            from.Status.Burning,
		Number:             from.Status.Number,
		Listed:             (*v1beta1.Listing)(from.Status.Listed),
		Conditions:         from.Status.Conditions,
	}
	// What was kept counts until somebody writes another flash.
	var kept v1beta1.Character
	if json.Unmarshal([]byte(l.Annotations[Kept]), &kept) == nil && flash(kept) == l.Spec.Flash {
		to.Spec.Character = kept
	}
	delete(to.Annotations, Kept)
	return nil
}

// ConvertFrom makes this Lighthouse of a v1beta1 one.
func (l *Lighthouse) ConvertFrom(hub conversion.Hub) error {
	original, ok := hub.(*v1beta1.Lighthouse)
	if !ok {
		return fmt.Errorf("converting a Lighthouse from its hub: %T is another type", hub)
	}
	from := original.DeepCopy()
	l.ObjectMeta = from.ObjectMeta
	l.Spec = LighthouseSpec{
		Lamps:     from.Spec.Lamps,
		Flash:     flash(from.Spec.Character),
		SecretRef: (*SecretReference)(from.Spec.SecretRef),
	}
	if from.Spec.Position != v1beta1.Unlisted {
		l.Spec.Position = from.Spec.Position
	}
	l.Status = LighthouseStatus{
		ObservedGeneration: from.Status.ObservedGeneration,
		Burning:            from.Status.Burning,
		Number:             from.Status.Number,
		Listed:             (*Listing)(from.Status.Listed),
		Conditions:         from.Status.Conditions,
	}
	delete(l.Annotations, Kept)
	if equality.Semantic.DeepEqual(character(l.Spec.Flash), from.Spec.Character) {
		return nil
	}
	kept, err := json.Marshal(from.Spec.Character)
	if err != nil {
		return fmt.Errorf("keeping what a flash can't express: %w", err)
	}
	metav1.SetMetaDataAnnotation(&l.ObjectMeta, Kept, string(kept))
	return nil
}

// character is what a flash becomes: one group, with a length for each word.
func character(flash string) (c v1beta1.Character) {
	for word := range strings.FieldsSeq(flash) {
		length := v1beta1.Short
		if word == "long" {
			length = v1beta1.Long
		}
		c.Flashes, c.Count = append(c.Flashes, metav1.Duration{Duration: length}), 1
	}
	return c
}

// flash is what a character becomes: a word for each flash, and long is what takes a second or longer.
func flash(c v1beta1.Character) string {
	var words []string
	for _, length := range c.Lengths() {
		word := "short"
		if length >= time.Second {
			word = "long"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
