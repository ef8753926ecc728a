package observe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTheCacheHasNeitherNullsNorManagedFields(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "creationTimestamp": nil, "managedFields": []any{map[string]any{"manager": "kubectl"}}},
		"spec":     map[string]any{"list": []any{map[string]any{"x": nil, "y": "", "z": int64(0)}, nil, "text"}},
	}}
	slimmed, err := slim(object)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "a"},
		// An item of a list has a place, so it stays.
		"spec": map[string]any{"list": []any{map[string]any{"y": "", "z": int64(0)}, nil, "text"}},
	}, slimmed.(*unstructured.Unstructured).Object)
}
