package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

var configMaps = &meta.RESTMapping{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Scope: meta.RESTScopeNamespace}

// A server may answer a list of version 0 with what it knew a while ago.
func TestAListIsOfThePresent(t *testing.T) {
	client := fake.NewSimpleDynamicClient(scheme.Scheme)
	s := &source{objects: client.Resource(configMaps.Resource).Namespace("ns"), listed: func() {}}
	for asked, want := range map[string]string{"0": "", "7": "7"} {
		client.ClearActions()
		_, err := s.list(t.Context(), metav1.ListOptions{ResourceVersion: asked})
		require.NoError(t, err)
		require.Len(t, client.Actions(), 1)
		assert.Equal(t, want, client.Actions()[0].(clienttesting.ListActionImpl).ListOptions.ResourceVersion)
	}
}
