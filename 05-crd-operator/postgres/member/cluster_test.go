package member

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

func TestOlderStatusIsNotSeen(t *testing.T) {
	var terms []int64
	n := &newest{seen: func(s postgres.PostgresClusterStatus) { terms = append(terms, s.Term) }}
	offer := func(version string, term int64) {
		n.offer(&postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}, Status: postgres.PostgresClusterStatus{Term: term}})
	}
	offer("9", 1)
	offer("10", 2)
	offer("9", 1)
	offer("10", 2)
	offer("11", 3)
	assert.Equal(t, []int64{1, 2, 3}, terms)
}
