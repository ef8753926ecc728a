package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDescribeUnstructured(t *testing.T) {
	conditions := []any{
		map[string]any{"type": "Painted", "status": "True"},
		map[string]any{"type": "Afloat", "status": "Unknown"},
	}
	both := withField(t, boat("gull"), "Moored", "status", "phase")
	tests := map[string]struct {
		object runtime.Object
		want   string
	}{
		"neither phase nor conditions": {boat("gull"), "Boat gull in namespace default has neither phase nor conditions"},
		"an empty phase":               {withField(t, boat("gull"), "", "status", "phase"), "Boat gull in namespace default has neither phase nor conditions"},
		"a phase":                      {withField(t, boat("gull"), "Moored", "status", "phase"), "Boat gull in namespace default is currently Moored"},
		"conditions":                   {withField(t, boat("gull"), conditions, "status", "conditions"), "Boat gull in namespace default: Painted=True, Afloat=Unknown"},
		"both":                         {withField(t, both, conditions, "status", "conditions"), "Boat gull in namespace default is currently Moored: Painted=True, Afloat=Unknown"},
		"a kind that has a Go type":    {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}, "Namespace old is currently Active"},
		"one that is being deleted":    {&corev1.Pod{ObjectMeta: leaving, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, "Pod web in namespace demo is currently Terminating"},
		"a phase that is no text":      {withField(t, boat("gull"), int64(3), "status", "phase"), "Boat gull in namespace default has neither phase nor conditions"},
		"a status that is no object":   {withField(t, boat("gull"), "fine", "status"), "Boat gull in namespace default has neither phase nor conditions"},
		"conditions that are no list":  {withField(t, boat("gull"), "fine", "status", "conditions"), "Boat gull in namespace default has neither phase nor conditions"},
		"conditions of another kind":   {withField(t, boat("gull"), []any{"fine"}, "status", "conditions"), "Boat gull in namespace default has neither phase nor conditions"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := describeUnstructured(toUnstructured(t, tc.object))
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
