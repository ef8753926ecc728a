package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestTheNamespacedOverlayStaysInNamespaces(t *testing.T) {
	for _, o := range build(t, "overlays/namespaced") {
		assert.NotEmpty(t, o.GetNamespace(), "%s %s", o.GetKind(), o.GetName())
	}
}

func TestTheNamespacedManagerWorksWhereItMay(t *testing.T) {
	all := build(t, "overlays/namespaced")
	var allowed []string
	for _, b := range of[rbacv1.RoleBinding](t, all, "RoleBinding") {
		if b.RoleRef.Name == "cnat-manager" {
			allowed = append(allowed, b.Namespace)
		}
	}
	assert.ElementsMatch(t, options(t, all).Namespaces, allowed)
}

// The two scopes differ in where, not in what.
func TestInANamespaceTheManagerMayDoWhatItMayInTheCluster(t *testing.T) {
	var everywhere []rbacv1.PolicyRule
	for _, role := range of[rbacv1.ClusterRole](t, build(t, "default"), "ClusterRole") {
		if role.Name == "cnat-manager" {
			everywhere = role.Rules
		}
	}
	require.NotEmpty(t, everywhere)
	n := 0
	for _, role := range of[rbacv1.Role](t, build(t, "overlays/namespaced"), "Role") {
		if role.Name == "cnat-manager" {
			n++
			assert.Equal(t, everywhere, role.Rules, role.Namespace)
		}
	}
	assert.Equal(t, 2, n)
}

// The user who installs the overlay makes the Secret, or the cluster does: nobody ships a
// token.
func TestTheTokenForMetricsIsNotShipped(t *testing.T) {
	for _, folder := range kustomizations(t) {
		for _, secret := range of[corev1.Secret](t, build(t, folder), "Secret") {
			assert.Empty(t, secret.Data, folder)
			assert.Empty(t, secret.StringData, folder)
		}
	}
	assert.Empty(t, ofKind(build(t, "overlays/namespaced"), "Secret"))
	deployment := deploymentOf(t, build(t, "overlays/namespaced"))
	volume := deployment.Spec.Template.Spec.Volumes[0]
	assert.Equal(t, "cnat-metrics-token", volume.Secret.SecretName)
	assert.Equal(t, deployment.Spec.Template.Spec.Containers[0].VolumeMounts[0].Name, volume.Name)
}
