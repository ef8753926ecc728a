package testcluster

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// CreatePolicy creates the ValidatingAdmissionPolicy that a file holds, and its
// binding after it. The server enforces it a moment later.
func (c *Cluster) CreatePolicy(t testing.TB, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	first, second, ok := strings.Cut(string(content), "\n---\n")
	require.True(t, ok, "%s has no two documents", path)
	var policy admissionv1.ValidatingAdmissionPolicy
	require.NoError(t, yaml.UnmarshalStrict([]byte(first), &policy))
	var binding admissionv1.ValidatingAdmissionPolicyBinding
	require.NoError(t, yaml.UnmarshalStrict([]byte(second), &binding))

	client := c.Client.AdmissionregistrationV1()
	_, err = client.ValidatingAdmissionPolicies().Create(t.Context(), &policy, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.ValidatingAdmissionPolicyBindings().Create(t.Context(), &binding, metav1.CreateOptions{})
	require.NoError(t, err)
}
