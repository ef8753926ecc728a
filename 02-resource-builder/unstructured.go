package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// describeUnstructured describes an object of any kind. By convention, its state is in status.phase or
// status.conditions, so a path through nested maps is enough.
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

// conditionsOf returns the conditions in the form of kubectl wait: Ready=True. A path that leads nowhere isn't an
// error, since another kind may use these words for something else.
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
