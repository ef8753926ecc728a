package permissions

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/testcluster"
)

const pause = 50 * time.Millisecond

// server is a real API server that keeps an audit log.
type server struct {
	config *rest.Config // the administrator
	client kubernetes.Interface
	log    string
}

func startServer(t *testing.T) *server {
	t.Helper()
	policy, err := filepath.Abs("../../../lab/internal/component/audit-policy.yaml")
	require.NoError(t, err)
	s := &server{log: filepath.Join(t.TempDir(), "audit.log")}
	cluster := testcluster.Start(t, "audit-log-path="+s.log, "audit-policy-file="+policy)
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "../../../05-crd-operator/config/crd")...)
	s.config = cluster.Config
	s.client = kubernetes.NewForConfigOrDie(s.config)
	// A CRD's first requests are put off.
	require.Eventually(t, func() bool {
		return s.client.CoreV1().RESTClient().Get().AbsPath("/apis/cnat.programming-kubernetes.info/v1alpha1/ats").Do(t.Context()).Error() == nil
	}, testcluster.TestTimeout, pause)
	return s
}

// account is a service account that makes requests, in a namespace of its own.
type account struct {
	*server
	t *testing.T
	Account
	http  *http.Client
	rules Rules
}

// account makes a service account and installs its rules. NS is its namespace.
func (s *server) account(t *testing.T, namespace, manifests string) *account {
	t.Helper()
	ctx := t.Context()
	_, err := s.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	a := &account{server: s, t: t, Account: Account{namespace, "operator"}}
	_, err = s.client.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := s.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, a.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(s.config)
	config.BearerToken = token.Status.Token
	a.http, err = rest.HTTPClientFor(config)
	require.NoError(t, err)

	manifests = strings.ReplaceAll(manifests, "NS", namespace)
	require.NoError(t, a.rules.Read(strings.NewReader(manifests)))
	for manifest := range strings.SplitSeq(manifests, "---\n") {
		if strings.TrimSpace(manifest) != "" {
			s.install(t, manifest)
		}
	}
	// The authorizer hears of a role a moment after it was made.
	grants, err := a.rules.Of(a.Account)
	require.NoError(t, err)
	require.NotEmpty(t, grants)
	require.Eventually(t, func() bool { return s.may(ctx, a.Account, grants[0]) }, testcluster.TestTimeout, pause)
	return a
}

func (s *server) install(t *testing.T, manifest string) {
	t.Helper()
	var object metav1.PartialObjectMetadata
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &object))
	body, err := yaml.YAMLToJSON([]byte(manifest))
	require.NoError(t, err)
	request := s.client.RbacV1().RESTClient().Post().Resource(strings.ToLower(object.Kind) + "s").Body(body)
	if object.Namespace != "" {
		request.Namespace(object.Namespace)
	}
	require.NoError(t, request.SetHeader("Content-Type", "application/json").Do(t.Context()).Error())
}

func (s *server) may(ctx context.Context, who Account, g Grant) bool {
	resource, subresource, _ := strings.Cut(g.Rule.Resources[0], "/")
	attributes := &authorizationv1.ResourceAttributes{
		Verb: g.Rule.Verbs[0], Group: g.Rule.APIGroups[0], Resource: resource, Subresource: subresource,
		Namespace: g.Namespace, Name: strings.Join(g.Rule.ResourceNames, ""),
	}
	review, err := s.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: who.user(), Groups: who.groups(), ResourceAttributes: attributes},
	}, metav1.CreateOptions{})
	return err == nil && review.Status.Allowed
}

// asks makes a request, which has to be answered with the code. A watch stays
// open until the test ends, so the log has only its beginning.
func (a *account) asks(code int, method, path, body string) {
	a.t.Helper()
	request, err := http.NewRequestWithContext(a.t.Context(), method, strings.TrimSuffix(a.config.Host, "/")+strings.ReplaceAll(path, "NS", a.Namespace), strings.NewReader(body))
	require.NoError(a.t, err)
	request.Header.Set("Content-Type", map[string]string{
		http.MethodPost: "application/json", http.MethodPatch: "application/apply-patch+yaml",
	}[method])
	response, err := a.http.Do(request)
	require.NoError(a.t, err)
	if strings.Contains(path, "watch=") {
		a.t.Cleanup(func() { response.Body.Close() })
	} else {
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		require.NoError(a.t, err)
		body = string(answer)
	}
	require.Equal(a.t, code, response.StatusCode, "%s %s: %s", method, path, body)
}

// reports waits until the report says that, of the rules and of the log so far.
func (a *account) reports(used, unused, missing []string) {
	a.t.Helper()
	grants, err := a.rules.Of(a.Account)
	require.NoError(a.t, err)
	require.EventuallyWithT(a.t, func(c *assert.CollectT) {
		events := NewLog(a.Account)
		if !assert.NoError(c, open(a.log, nil, events.Read)) {
			return
		}
		report := Compare(grants, events.Uses)
		assert.ElementsMatch(c, used, targets(report.Used), "used")
		assert.ElementsMatch(c, unused, targets(report.Unused), "not used")
		var lacking []string
		for _, m := range report.Missing {
			lacking = append(lacking, strings.TrimSpace(m.Verb+" "+m.what()+" "+m.Name))
		}
		assert.ElementsMatch(c, missing, lacking, "missing")
	}, testcluster.TestTimeout, pause)
}
