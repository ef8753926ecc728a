package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

var policyKinds = []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}

// The right to patch pods is not to be installed without its limit. In the namespaced
// overlay there is nothing of the whole cluster.
func TestTheRightToPatchPodsHasItsLimit(t *testing.T) {
	for _, folder := range installations {
		all := build(t, folder)
		mayPatch := slices.ContainsFunc(rights(t, all), func(r right) bool { return r.resource == "pods" && r.verb == "patch" })
		assert.True(t, mayPatch, folder)
		for _, kind := range policyKinds {
			want := ofKind(build(t, "admission"), kind)
			if folder == "overlays/namespaced" {
				want = objects{}
			}
			assert.Equal(t, want, ofKind(all, kind), folder)
		}
	}
}

// grant applies of these folders what says who may do what, and nothing that runs.
func (s *server) grant(t *testing.T, folders ...string) {
	t.Helper()
	kinds := append([]string{"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}, policyKinds...)
	for _, folder := range folders {
		for _, o := range build(t, folder) {
			if slices.Contains(kinds, o.GetKind()) {
				require.NoError(t, s.apply(t, o))
			}
		}
	}
}

// asManager is a client with the rights of the manager's ServiceAccount.
func (s *server) asManager(t *testing.T) client.Client {
	t.Helper()
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:cnat-system:cnat-manager", Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	return s.newClient(t, config)
}

// A rule that names its objects is too narrow for a create: there is no name in its URL. Where the Lease
// is already, nobody notices.
func TestTheManagerMakesItsLeaseAndChangesNoOther(t *testing.T) {
	s := startServer(t)
	s.grant(t, "rbac")
	manager := s.asManager(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "cnat-system", Name: "cnat-manager"}}
	require.Eventually(t, func() bool { // the role takes effect a moment after it was created
		return apierrors.IsNotFound(manager.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	}, testcluster.TestTimeout, pause)

	require.NoError(t, manager.Create(t.Context(), lease), "nobody can make the Lease")
	require.NoError(t, manager.Update(t.Context(), lease))
	lease.Name = "another"
	err := manager.Update(t.Context(), lease)
	assert.True(t, apierrors.IsForbidden(err), "it may change the Lease of another controller: %v", err)
}

// TestOfAPodTheManagerMayChangeNothingButItsFinalizer installs what a user would, and is
// the manager's ServiceAccount.
func TestOfAPodTheManagerMayChangeNothingButItsFinalizer(t *testing.T) {
	for name, tc := range map[string]struct {
		folders   []string
		namespace string
	}{
		"in the whole cluster": {[]string{"default"}, "default"},
		"in a namespace":       {[]string{"admission", "overlays/namespaced"}, "team-a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			s.grant(t, tc.folders...)
			manager := s.asManager(t)

			at := &cnat.At{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Name: "kettle", UID: "1"}, Spec: cnat.AtSpec{Command: "echo YAY"}}
			pod := lifecycle.DesiredPod(at, lifecycle.DefaultImage)
			require.NoError(t, s.Create(t.Context(), pod))
			patch := func(patch string, options ...client.PatchOption) error {
				return manager.Patch(t.Context(), pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(patch)), options...)
			}
			for _, change := range []string{
				`{"metadata":{"labels":{"app":"pot"}}}`,
				`{"metadata":{"finalizers":["example.com/new"]}}`,
				`{"spec":{"containers":[{"name":"command","image":"nginx"}]}}`,
			} {
				var err error
				require.Eventually(t, func() bool { // the policy takes effect a moment after it was created
					err = patch(change, client.DryRunAll)
					return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "an operator of Ats may")
				}, testcluster.TestTimeout, pause, "%s: %v", change, err)
			}
			require.NoError(t, patch(string(lifecycle.FinalizerPatch(pod))))
			require.NoError(t, s.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
			assert.Empty(t, pod.Finalizers)
		})
	}
}
