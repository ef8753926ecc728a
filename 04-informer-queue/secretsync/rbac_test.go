package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// TestRBAC runs the program as the service account of rbac.yaml. With its rules
// all goes well; with any one verb less, the server refuses just that.
func TestRBAC(t *testing.T) {
	c := testcluster.Shared(t)
	role := applyManifest(t, c)
	whole := asServiceAccount(t, c, role.Namespace, role.Name)

	t.Run("with all rules", func(t *testing.T) {
		s, finished := needsEverything(t, c, "whole")
		denied := runAs(s, whole)
		s.becomes(finished)
		eventsOf(s, 1)
		assert.Empty(t, denied())
	})

	for i, rule := range role.rules {
		for _, verb := range rule.Verbs {
			resource := rule.Resources[0]
			t.Run("without "+verb+" "+resource, func(t *testing.T) {
				t.Parallel()
				less := slices.Clone(role.rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				less = slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				s, _ := needsEverything(t, c, verb+"-"+resource)
				denied := runAs(s, withRole(t, c, s.name, less))
				require.Eventually(t, func() bool { return slices.Contains(denied(), verb+" "+resource) }, testcluster.TestTimeout, 20*time.Millisecond)
				assert.Len(t, slices.Compact(slices.Sorted(slices.Values(denied()))), 1, "%s", denied())
			})
		}
	}
}

// needsEverything prepares an env in which a start needs each verb, and
// returns what it must become.
func needsEverything(t *testing.T, c *testcluster.Cluster, name string) (*env, map[string]string) {
	s := newEnv(t, c, name)
	for _, source := range []string{"changed", "gone", "new", "taken"} {
		s.source(source, "old")
	}
	s.createNamespace("harbour")
	s.create("harbour/taken", "mine")
	for _, copied := range []string{"changed", "gone"} {
		source, err := s.client.CoreV1().Secrets(s.rules.sourceNamespace).Get(t.Context(), copied, metav1.GetOptions{})
		require.NoError(t, err)
		made := s.rules.copyOf(source, s.name+"-harbour", nil)
		_, err = s.client.CoreV1().Secrets(made.Namespace).Create(t.Context(), made, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	s.annotateNamespace("harbour", `""`)
	s.set("source/changed", "new")
	s.delete("source/gone")
	return s, map[string]string{"harbour/changed": "key=new", "harbour/new": "key=old", "harbour/taken": "key=mine foreign"}
}

// runAs runs the program, with all that comes after the command line, until the test
// ends. The function that it returns returns what the server refused.
func runAs(s *env, as *rest.Config) (denied func() []string) {
	var mu sync.Mutex
	var list []string
	config := rest.CopyConfig(as)
	config.ContentType = runtime.ContentTypeJSON
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode == http.StatusForbidden {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			response.Body = io.NopCloser(bytes.NewReader(body))
			mu.Lock()
			defer mu.Unlock()
			list = append(list, inVerbs(string(body)))
		}
		return response, err
	})(config)

	s.config = config
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, 2, 0) }()
	s.t.Cleanup(func() {
		cancel()
		// Who may not list is refused at the start, all others go on.
		if err := <-done; err != nil {
			assert.True(s.t, apierrors.IsForbidden(err), "%v", err)
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

var refusal = regexp.MustCompile(`cannot (\w+) resource \\"(\w+)\\"`)

func inVerbs(body string) string {
	if found := refusal.FindStringSubmatch(body); found != nil {
		return found[1] + " " + found[2]
	}
	return body
}

// manifest is what the test needs of rbac.yaml.
type manifest struct {
	Namespace, Name string // of the service account
	rules           []rbacv1.PolicyRule
}

// applyManifest creates all that is in rbac.yaml.
func applyManifest(t *testing.T, c *testcluster.Cluster) manifest {
	t.Helper()
	content, err := os.ReadFile("rbac.yaml")
	require.NoError(t, err)
	var m manifest
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return m
		}
		require.NoError(t, err)
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		require.NoError(t, err)
		switch o := object.(type) {
		case *corev1.Namespace:
			_, err = c.Client.CoreV1().Namespaces().Create(t.Context(), o, metav1.CreateOptions{})
		case *corev1.ServiceAccount:
			m.Namespace, m.Name = o.Namespace, o.Name
			_, err = c.Client.CoreV1().ServiceAccounts(o.Namespace).Create(t.Context(), o, metav1.CreateOptions{})
		case *rbacv1.ClusterRole:
			m.rules = o.Rules
			_, err = c.Client.RbacV1().ClusterRoles().Create(t.Context(), o, metav1.CreateOptions{})
		case *rbacv1.ClusterRoleBinding:
			_, err = c.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), o, metav1.CreateOptions{})
		default:
			require.Fail(t, "the test does not know this kind", "%T", o)
		}
		if !apierrors.IsAlreadyExists(err) { // the test may run several times
			require.NoError(t, err)
		}
	}
}

// withRole makes a service account with these rules.
func withRole(t *testing.T, c *testcluster.Cluster, name string, rules []rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	_, err := c.Client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.Client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return asServiceAccount(t, c, "default", name)
}

// asServiceAccount returns a configuration with a token of the account, once the
// server applies its role.
func asServiceAccount(t *testing.T, c *testcluster.Cluster, namespace, name string) *rest.Config {
	t.Helper()
	token, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(c.Config)
	config.BearerToken = token.Status.Token
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	require.Eventually(t, func() bool {
		_, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		_, other := client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{Limit: 1})
		return err == nil || other == nil
	}, testcluster.TestTimeout, 20*time.Millisecond, fmt.Sprint("the role of ", name))
	return config
}
