package permissions

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/testcluster"
)

const pause = 50 * time.Millisecond

// server is a real API server that keeps an audit log.
type server struct {
	*testcluster.Cluster
	log    string
	adding sync.Mutex
}

func startServer(t *testing.T) *server {
	t.Helper()
	policy, err := filepath.Abs("../../../lab/internal/component/audit-policy.yaml")
	require.NoError(t, err)
	s := &server{log: filepath.Join(t.TempDir(), "audit.log")}
	s.Cluster = testcluster.Start(t, "audit-log-path="+s.log, "audit-policy-file="+policy)
	s.InstallCRDs(t, testcluster.ReadCRDs(t, "../../../05-crd-operator/config/crd")...)
	// A CRD's first requests are put off.
	require.Eventually(t, func() bool {
		return s.Client.CoreV1().RESTClient().Get().AbsPath("/apis/cnat.programming-kubernetes.info/v1alpha1/ats").Do(t.Context()).Error() == nil
	}, testcluster.TestTimeout, pause)
	return s
}

// account is a service account that makes requests, in a namespace of its own.
type account struct {
	*server
	t *testing.T
	Account
	as    rest.Interface // the account's client
	rules Rules
}

// account installs the rules of a service account. NS is its namespace. The API server takes a user with the name
// and the groups of an account for the account, so it gets a certificate in place of a token.
func (s *server) account(t *testing.T, namespace, manifests string) *account {
	t.Helper()
	a := &account{server: s, t: t, Account: Account{namespace, "operator"}}
	s.adding.Lock() // envtest adds one user at a time
	user, err := s.AddUser(envtest.User{Name: a.user(), Groups: a.groups()}, nil)
	s.adding.Unlock()
	require.NoError(t, err)
	a.as = kubernetes.NewForConfigOrDie(user.Config()).CoreV1().RESTClient()

	s.create(t, fmt.Sprintf("{kind: Namespace, apiVersion: v1, metadata: {name: %s}}", namespace))
	manifests = strings.ReplaceAll(manifests, "NS", namespace)
	require.NoError(t, a.rules.Read(strings.NewReader(manifests)))
	for manifest := range strings.SplitSeq(manifests, "---\n") {
		if strings.TrimSpace(manifest) != "" {
			s.create(t, manifest)
		}
	}
	// The authorizer hears of a role a moment after it was made.
	grants, err := a.rules.Of(a.Account)
	require.NoError(t, err)
	require.NotEmpty(t, grants)
	require.Eventually(t, func() bool { return s.may(t.Context(), a.Account, grants[0]) }, testcluster.TestTimeout, pause)
	return a
}

func (s *server) create(t *testing.T, manifest string) {
	t.Helper()
	var object metav1.PartialObjectMetadata
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &object))
	client := s.Client.RbacV1().RESTClient()
	if object.Kind == "Namespace" {
		client = s.Client.CoreV1().RESTClient()
	}
	request := client.Post().Resource(strings.ToLower(object.Kind)+"s").SetHeader("Content-Type", "application/yaml").Body([]byte(manifest))
	if object.Namespace != "" {
		request.Namespace(object.Namespace)
	}
	require.NoError(t, request.Do(t.Context()).Error())
}

func (s *server) may(ctx context.Context, who Account, g Grant) bool {
	resource, subresource, _ := strings.Cut(g.Rule.Resources[0], "/")
	attributes := &authorizationv1.ResourceAttributes{
		Verb: g.Rule.Verbs[0], Group: g.Rule.APIGroups[0], Resource: resource, Subresource: subresource,
		Namespace: g.Namespace, Name: strings.Join(g.Rule.ResourceNames, ""),
	}
	review, err := s.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: who.user(), Groups: who.groups(), ResourceAttributes: attributes},
	}, metav1.CreateOptions{})
	return err == nil && review.Status.Allowed
}

// asks makes a request, which has to be answered with the code. A watch stays
// open until the test ends, so the log has only its beginning.
func (a *account) asks(code int, method, path, body string) {
	a.t.Helper()
	request := a.as.Verb(method).RequestURI(strings.ReplaceAll(path, "NS", a.Namespace)).Body([]byte(body))
	if method == http.MethodPatch {
		request.SetHeader("Content-Type", "application/apply-patch+yaml")
	}
	if strings.Contains(path, "watch=") {
		stream, err := request.Stream(a.t.Context())
		require.NoError(a.t, err)
		a.t.Cleanup(func() { stream.Close() })
		return
	}
	var got int
	result := request.Do(a.t.Context()).StatusCode(&got)
	require.Equal(a.t, code, got, "%s %s: %v", method, path, result.Error())
}

// reports waits until the report says that, of the rules and of the log so far.
func (a *account) reports(want ...string) {
	a.t.Helper()
	grants, err := a.rules.Of(a.Account)
	require.NoError(a.t, err)
	require.EventuallyWithT(a.t, func(c *assert.CollectT) {
		events := NewLog(a.Account)
		if assert.NoError(c, open(a.log, nil, events.Read)) {
			assert.ElementsMatch(c, want, findings(Compare(grants, events.Uses)))
		}
	}, testcluster.TestTimeout, pause)
}
