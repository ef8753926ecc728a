package operator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestEachRoleHasASecret(t *testing.T) {
	e := newEnv(t)
	requests := e.startOperator(e.server.Config)
	e.create(2)
	e.eventually(e.isWellIn(1))
	passwords := map[string]bool{}
	for role, name := range map[string]string{"postgres": "db", "replication": "db-replication", "app": "db-app"} {
		secret := get(e, name, &corev1.Secret{})
		assert.Equal(t, corev1.SecretTypeBasicAuth, secret.Type)
		assert.Equal(t, role, string(secret.Data[corev1.BasicAuthUsernameKey]))
		password := string(secret.Data[corev1.BasicAuthPasswordKey])
		assert.GreaterOrEqual(t, len(password), 26)
		passwords[password] = true
	}
	assert.Len(t, passwords, 3, "no two are the same")

	secrets := slices.DeleteFunc(requests.All(), func(what string) bool { return what[len(what)-len(" secrets"):] != " secrets" })
	slices.Sort(secrets)
	assert.Equal(t, []string{"create secrets", "get secrets"}, slices.Compact(secrets), "none is listed, and none is changed")
}
