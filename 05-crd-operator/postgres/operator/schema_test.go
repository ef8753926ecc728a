package operator

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

const (
	badStorage = "storage is the size of a disk, at least 224Mi"
	badCluster = "cluster is the name of a PostgresCluster in the same namespace"
	badTimeout = "archiveTimeout is a duration from 1s to 5m"
)

// What a person may write, as kubectl sends it.
func TestTheSchemaRefusesWhatCannotBeHad(t *testing.T) {
	e := newEnv(t)
	for spec, want := range map[string]string{
		`{"size":1}`:                                                       "",
		`{"size":1,"storage":"224Mi"}`:                                     "",
		`{"size":1,"storage":1000000000}`:                                  "",
		`{"size":1,"storage":"223Mi"}`:                                     badStorage,
		`{"size":1,"storage":"1"}`:                                         badStorage,
		`{"size":1,"storage":"0"}`:                                         badStorage,
		`{"size":1,"storage":0}`:                                           badStorage,
		`{"size":1,"storage":"-1Gi"}`:                                      badStorage,
		`{"size":1,"storage":"much"}`:                                      "spec.storage",
		`{"size":1,"backup":{"schedule":"@daily"}}`:                        "",
		`{"size":1,"backup":{"schedule":"@daily","storage":"1"}}`:          badStorage,
		`{"size":1,"backup":{"schedule":"@daily","archiveTimeout":""}}`:    badTimeout,
		`{"size":1,"backup":{"schedule":"@daily","archiveTimeout":"a"}}`:   badTimeout,
		`{"size":1,"backup":{"schedule":"@daily","archiveTimeout":"-1m"}}`: badTimeout,
		`{"size":1,"restoreFrom":{"cluster":"other.one-2"}}`:               "",
		`{"size":1,"restoreFrom":{"cluster":"a/b"}}`:                       badCluster,
		`{"size":1,"restoreFrom":{"cluster":""}}`:                          badCluster,
		`{"size":1,"restoreFrom":{"cluster":".."}}`:                        badCluster,
	} {
		t.Run(spec, func(t *testing.T) {
			cluster := &unstructured.Unstructured{}
			require.NoError(t, cluster.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":%q,"kind":"PostgresCluster","metadata":{"name":"db","namespace":%q},"spec":%s}`, postgres.SchemeGroupVersion, e.namespace, spec)))
			err := e.Create(t.Context(), cluster, client.DryRunAll)
			if want == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), "evaluat", "a sentence, and not that of the language of the rules")
		})
	}
}

// A rule that comes later is not about what is there. A person who changes something else need not
// correct it, and the operator can write the status.
func TestWhatWasAcceptedOnceCanBeChanged(t *testing.T) {
	const group = "ratcheting.example.com"
	e := newEnv(t)
	crd := testcluster.ReadCRDs(t, "../config/crd")[0]
	crd.Name, crd.Spec.Group = crd.Spec.Names.Plural+"."+group, group
	crd.Spec.Names.ShortNames, crd.Spec.Names.Categories = nil, nil
	loose := crd.DeepCopy()
	loosen(loose.Spec.Versions[0].Schema.OpenAPIV3Schema)
	e.server.InstallCRDs(t, loose)

	clusters, err := dynamic.NewForConfig(e.server.Config)
	require.NoError(t, err)
	server := clusters.Resource(schema.GroupVersionResource{Group: group, Version: crd.Spec.Versions[0].Name, Resource: crd.Spec.Names.Plural}).Namespace(e.namespace)
	cluster := &unstructured.Unstructured{}
	require.NoError(t, cluster.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"%s/%s","kind":"PostgresCluster","metadata":{"name":"my.db"},
		"spec":{"size":1,"storage":"1","backup":{"schedule":"@every 1s","storage":"1","archiveTimeout":"1m"},"restoreFrom":{"cluster":"a/b"}}}`, group, crd.Spec.Versions[0].Name)))
	old, err := server.Create(t.Context(), cluster, metav1.CreateOptions{})
	require.NoError(t, err)
	e.server.InstallCRDs(t, crd)
	cluster.SetName("another")
	require.Eventually(t, func() bool { // the server has the rules
		_, err := server.Create(t.Context(), cluster, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	}, testcluster.TestTimeout, 50*time.Millisecond)

	require.NoError(t, unstructured.SetNestedField(old.Object, int64(2), "spec", "size"))
	old, err = server.Update(t.Context(), old, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(old.Object, "Running", "status", "phase"))
	_, err = server.UpdateStatus(t.Context(), old, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// loosen takes all rules from a schema.
func loosen(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations = nil
	for name, property := range s.Properties {
		loosen(&property)
		s.Properties[name] = property
	}
}

// What is refused at once cannot make trouble later.
func TestTheSchemaRefuses(t *testing.T) {
	e := newEnv(t)
	timeout := func(d time.Duration) *postgres.Backup {
		return &postgres.Backup{Schedule: "@every 1h", ArchiveTimeout: metav1.Duration{Duration: d}}
	}
	for name, tc := range map[string]struct {
		name   string
		backup *postgres.Backup
		want   string // empty if it is accepted
	}{
		"nothing that is right":                   {"db", timeout(5 * time.Minute), ""},
		"the default":                             {"db", timeout(0), ""},
		"the name of another cluster's Secret":    {"db-app", nil, "does not end with -app"},
		"that of its second certificate":          {"db-tls-2", nil, "does not end with -app"},
		"a name that no Service can have":         {"my.db", nil, "has no dot"},
		"but a digit may come first":              {"1db", nil, ""},
		"but no name that only begins like one":   {"db-app-2", nil, ""},
		"an archive that closes segments all day": {"db", timeout(time.Millisecond), "archiveTimeout is a duration from 1s to 5m"},
		"one that always lags, by its own alert":  {"db", timeout(time.Hour), "archiveTimeout is a duration from 1s to 5m"},
	} {
		t.Run(name, func(t *testing.T) {
			meta := metav1.ObjectMeta{Namespace: e.namespace, Name: tc.name}
			err := e.Create(t.Context(), &postgres.PostgresCluster{ObjectMeta: meta, Spec: postgres.PostgresClusterSpec{Size: 1, Backup: tc.backup}}, client.DryRunAll)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, apierrors.IsInvalid(err), "%v", err)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}
