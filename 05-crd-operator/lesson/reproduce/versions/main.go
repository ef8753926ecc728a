// Versions shows what two teams do to a Lighthouse, each in its version of the API.
package main

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
)

func main() {
	two := v1beta1.Character{Count: 2, Flashes: []metav1.Duration{{Duration: v1beta1.Long}, {Duration: v1beta1.Short}}}
	report("the harbour writes", two)
	report("a pilot changes the lamps, and the harbour reads", change(two, func(l *v1alpha1.Lighthouse) { l.Spec.Lamps = 2 }))

	odd := v1beta1.Character{Count: 1, Flashes: []metav1.Duration{{Duration: 700 * time.Millisecond}}}
	report("the harbour writes", odd)
	report("a pilot writes", "long")
	is := change(odd, func(l *v1alpha1.Lighthouse) { l.Spec.Flash = "long" })
	report("the harbour reads", is)
	change(is, func(l *v1alpha1.Lighthouse) { report("the pilot reads", l.Spec.Flash) })
}

// change converts a character for a client of v1alpha1, which changes something, and back.
func change(character v1beta1.Character, change func(*v1alpha1.Lighthouse)) v1beta1.Character {
	var old v1alpha1.Lighthouse
	var hub v1beta1.Lighthouse
	if err := old.ConvertFrom(&v1beta1.Lighthouse{Spec: v1beta1.LighthouseSpec{Character: character}}); err != nil {
		panic(err)
	}
	change(&old)
	if err := old.ConvertTo(&hub); err != nil {
		panic(err)
	}
	return hub.Spec.Character
}

func report(who string, what any) {
	if text, ok := what.(string); ok {
		fmt.Printf("%-50s%s\n", who, text)
		return
	}
	content, err := json.Marshal(what)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%-50s%s\n", who, content)
}
