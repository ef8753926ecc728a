package pods

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

func TestTheAuditLogHasWhatServiceAccountsAskedForAndNoSecret(t *testing.T) {
	namespace := newNamespace(t)
	value := "hunter-" + rand.String(10)
	secret := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"password": value}}
	}
	_, err := lab.Client(t).CoreV1().Secrets(namespace).Create(t.Context(), secret("by-admin"), metav1.CreateOptions{})
	require.NoError(t, err)
	allow(t, namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "create"}})

	account := as(t, namespace, "default")
	labtest.Eventually(t, "the role works", func(ctx context.Context) error {
		_, err := account.CoreV1().Secrets(namespace).Get(ctx, "by-admin", metav1.GetOptions{})
		return err
	})
	_, err = account.CoreV1().Secrets(namespace).Create(t.Context(), secret("by-account"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = account.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	var log string
	labtest.Eventually(t, "the audit log has all three", func(ctx context.Context) (err error) {
		if log, err = lab.Command(ctx, "logs", "audit"); err != nil {
			return err
		}
		said := told(t, log, namespace)
		for _, line := range []string{"get secrets by-admin 200", "create secrets by-account 201", "list configmaps  403"} {
			if !strings.Contains(said, line) {
				return fmt.Errorf("%q is not in\n%s", line, said)
			}
		}
		return nil
	})
	assert.NotContains(t, log, value)
	assert.NotContains(t, log, base64.StdEncoding.EncodeToString([]byte(value)))
}

// allow gives the namespace's default service account a right.
func allow(t *testing.T, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	client := lab.Client(t).RbacV1()
	meta := metav1.ObjectMeta{Name: "allowed"}
	_, err := client.Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// as returns a client with the service account's token.
func as(t *testing.T, namespace, name string) kubernetes.Interface {
	t.Helper()
	token, err := lab.Client(t).CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	admin, err := lab.Config()
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token.Status.Token
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// told returns a line for each request that the log has from the namespace's
// service accounts. It fails when somebody is in the log who should not be: the
// administrator, or one of the controllers in kube-system, which all had to do
// with the namespace.
func told(t *testing.T, log, namespace string) string {
	t.Helper()
	var lines strings.Builder
	for events := bufio.NewScanner(strings.NewReader(log)); events.Scan(); {
		var e auditv1.Event
		require.NoError(t, json.Unmarshal(events.Bytes(), &e), events.Text())
		assert.Contains(t, e.User.Username, "system:serviceaccount:")
		assert.NotContains(t, e.User.Username, ":kube-system:")
		assert.Equal(t, auditv1.LevelMetadata, e.Level)
		if strings.HasPrefix(e.User.Username, "system:serviceaccount:"+namespace+":") && e.ObjectRef != nil {
			fmt.Fprintln(&lines, e.Verb, e.ObjectRef.Resource, e.ObjectRef.Name, e.ResponseStatus.Code)
		}
	}
	return lines.String()
}
