package operator

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testrights"
	"example.com/hacking-a-controller/testcluster"
)

// system is the namespace of the installation.
const system = "postgres-system"

// install does what kubectl apply -k config does, and returns the Deployment.
func (e *env) install() *appsv1.Deployment {
	e.Helper()
	for _, folder := range []string{"crd", "manager", "rbac"} { // for Go's test cache
		files, err := filepath.Glob("../config/" + folder + "/*.yaml")
		require.NoError(e, err)
		require.NotEmpty(e, files)
		for _, file := range files {
			_, err := os.ReadFile(file)
			require.NoError(e, err)
		}
	}
	output, err := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kustomize", "../config").Output()
	require.NoError(e, err)
	all, err := client.New(e.server.Config, client.Options{}) // of all kinds
	require.NoError(e, err)
	strict := client.WithFieldValidation(all, metav1.FieldValidationStrict)
	deployment := &appsv1.Deployment{}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(output), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(e, err)
		if object.GetKind() == "Deployment" {
			require.NoError(e, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment))
		}
		require.NoError(e, strict.Apply(e.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl"), client.ForceOwnership))
	}
	for _, rule := range e.rulesOf(system, program) {
		require.Eventually(e, func() bool { return e.accountMay(rule) }, testcluster.TestTimeout, 20*time.Millisecond, "the rule %v", rule)
	}
	return deployment
}

// accountMay reports whether the authorizer knows that the shipped account has a right. It hears of
// a role a moment after it was made, and until then refuses what the role allows.
func (e *env) accountMay(rule rbacv1.PolicyRule) bool {
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	name, _, _ := strings.Cut(strings.Join(rule.ResourceNames, " "), " ")
	review, err := e.server.Client.AuthorizationV1().SubjectAccessReviews().Create(e.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: accountUser, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: system, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Verb: rule.Verbs[0], Name: name,
		}},
	}, metav1.CreateOptions{})
	return err == nil && review.Status.Allowed
}

// accountUser is whom the installation runs as.
const accountUser = "system:serviceaccount:" + system + ":" + program

// account is the configuration of the shipped account.
func (e *env) account() *rest.Config {
	config := rest.CopyConfig(e.server.Config)
	config.Impersonate.UserName = accountUser
	return config
}

// The API server admits all that is shipped, and a pod of the Deployment, too, whose flags the
// program knows.
func TestTheInstallation(t *testing.T) {
	e := newEnv(t)
	deployment := e.install()
	template := deployment.Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, GenerateName: "operator-", Labels: template.Labels}, Spec: template.Spec}
	require.NoError(t, e.Create(t.Context(), pod, client.DryRunAll))
	require.Len(t, template.Spec.Containers, 1)
	container := template.Spec.Containers[0]
	assert.Equal(t, []string{"/agent", program}, container.Command)
	require.NoError(t, Command().ParseFlags(container.Args))

	container.SecurityContext.AllowPrivilegeEscalation = nil
	pod.Spec.Containers = []corev1.Container{container}
	require.ErrorContains(t, e.Create(t.Context(), pod, client.DryRunAll), "violates PodSecurity", "this server refuses others")
}

// leader is who works.
func (e *env) leader() string {
	lease := &coordinationv1.Lease{}
	if err := e.Get(e.Context(), types.NamespacedName{Namespace: system, Name: program}, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// Of two operators one works, and the other one takes over. Both have the shipped rights.
func TestTheOtherOperatorTakesOver(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false) // for which the server of a stage may be too old
	e := newEnv(t)
	e.install()
	o := e.options()
	o.LeaderNamespace = system
	first, stop := e.startOperatorWith(e.account(), o)
	e.eventually(func() bool { return e.leader() != "" })
	leader := e.leader()
	second, _ := e.startOperatorWith(e.account(), o)
	e.create(2)
	e.eventually(e.isWellIn(1))
	assert.Equal(t, leader, e.leader())
	for _, request := range second.All() {
		assert.NotContains(t, []string{"create pods", "update postgres.programming-kubernetes.info/postgresclusters/status"}, request, "the second one stands by")
	}
	stop()
	e.eventually(func() bool { return e.leader() != leader && e.leader() != "" })
	e.kill("db-1")
	e.eventually(e.isWellIn(2))
	for _, request := range append(first.All(), second.All()...) {
		assert.False(t, strings.HasPrefix(request, "refused"), request)
	}
}

// Metrics are for those who may read them.
func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	e := newEnv(t)
	e.install()
	o := e.options()
	o.MetricsAddress, o.HealthAddress = testport.Hold(t, "127.0.0.1"), testport.Hold(t, "127.0.0.1")
	e.startOperatorWith(e.account(), o)
	e.create(1)
	e.eventually(e.isWellIn(1))
	url := "https://" + o.MetricsAddress + "/metrics"
	for _, u := range []string{"http://" + o.HealthAddress + "/readyz", url} {
		e.eventually(func() bool { code, _ := fetch(t, u, ""); return code != 0 }) // each is served by a goroutine of its own
	}

	code, _ := fetch(t, "http://"+o.HealthAddress+"/readyz", "")
	assert.Equal(t, http.StatusOK, code)
	code, _ = fetch(t, url, "")
	assert.Equal(t, http.StatusUnauthorized, code)
	token := e.tokenOf("reader")
	code, _ = fetch(t, url, token)
	assert.Equal(t, http.StatusForbidden, code)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "postgres-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: e.namespace, Name: "reader"}},
	}
	_, err := e.server.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
	var body string
	e.eventually(func() bool { code, body = fetch(t, url, e.tokenOf("reader")); return code == http.StatusOK })
	assert.Contains(t, body, `postgres_cluster_condition{condition="Available",name="db",namespace="`+e.namespace+`"} 1`)
	assert.Equal(t, []string{"get /metrics"}, testrights.Granted(e.rulesOf(e.namespace, "reader")))
}

// tokenOf makes a token of a service account, another one each time: what a token may is cached.
func (e *env) tokenOf(account string) string {
	e.Helper()
	a := &corev1.ServiceAccount{ObjectMeta: e.meta(account)}
	require.NoError(e, client.IgnoreAlreadyExists(e.Create(e.Context(), a)))
	request := &authenticationv1.TokenRequest{}
	require.NoError(e, e.SubResource("token").Create(e.Context(), a, request))
	return request.Status.Token
}

func fetch(t *testing.T, url, token string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // its own certificate, which nobody knows
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}
