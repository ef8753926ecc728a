package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

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
