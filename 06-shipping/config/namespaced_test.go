package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// outside are the objects that are in no namespace.
func outside(all objects) []string {
	var found []string
	for _, o := range all {
		if o.GetNamespace() == "" {
			found = append(found, o.GetKind()+" "+o.GetName())
		}
	}
	return found
}

func TestTheNamespacedOverlayStaysInNamespaces(t *testing.T) {
	assert.Empty(t, outside(build(t, "overlays/namespaced")))
	assert.Contains(t, outside(build(t, "default")), "ClusterRoleBinding cnat-manager", "which is what it must not have")
}

// workplaces are the namespaces in which the manager is to work, and those in
// which it may.
func workplaces(t *testing.T, all objects) (named, allowed []string) {
	t.Helper()
	for _, c := range of[corev1.ConfigMap](t, all, "ConfigMap") {
		named = append(named, strings.Split(c.Data["NAMESPACES"], ",")...)
	}
	for _, b := range of[rbacv1.RoleBinding](t, all, "RoleBinding") {
		if b.RoleRef.Name == "cnat-manager" {
			allowed = append(allowed, b.Namespace)
		}
	}
	return named, allowed
}

func TestTheNamespacedManagerWorksWhereItMay(t *testing.T) {
	named, allowed := workplaces(t, build(t, "overlays/namespaced"))
	assert.Equal(t, []string{"team-a", "team-b"}, named)
	assert.ElementsMatch(t, named, allowed)

	all := build(t, "overlays/namespaced")
	edit(t, all, "ConfigMap", func(c *corev1.ConfigMap) { c.Data["NAMESPACES"] += ",team-c" })
	named, _ = workplaces(t, all)
	assert.NotElementsMatch(t, named, allowed)
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
