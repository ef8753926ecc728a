package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// describeUnstructured describes what any object has. Its kind, name and
// namespace are where the API wants them, and by convention a kind that has a
// state puts it into status.phase or status.conditions. So no Go type is
// needed, only a path through nested maps.
func describeUnstructured(object *unstructured.Unstructured) (string, error) {
	text := object.GetKind() + " " + nameOf(object)

	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	conditions := conditionsOf(object)
	switch {
	case phase != "":
		text += " is currently " + phaseOf(object, phase)
	case len(conditions) == 0:
		text += " has neither phase nor conditions"
	}
	if len(conditions) > 0 {
		text += ": " + strings.Join(conditions, ", ")
	}
	return text, nil
}

// conditionsOf returns the conditions as kubectl wait has them: Ready=True. A
// path that leads nowhere, or to something else, is no error here: what another
// kind means by the word does not concern us.
func conditionsOf(object *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var conditions []string
	for _, item := range list {
		if condition, ok := item.(map[string]any); ok {
			conditions = append(conditions, fmt.Sprintf("%v=%v", condition["type"], condition["status"]))
		}
	}
	return conditions
}
