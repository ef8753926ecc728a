package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestShutdownGrace(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, deletion *int64
		want           int64
	}{
		"a pod that says nothing":   {nil, nil, 30},
		"a pod that ends soon":      {new(int64(5)), nil, 5},
		"a pod that ends at once":   {new(int64(0)), nil, 0},
		"a pod that takes too long": {new(int64(3600)), nil, 30},
		"a pod that is deleted":     {new(int64(20)), new(int64(1)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := ShutdownGrace(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{DeletionGracePeriodSeconds: tc.deletion},
				Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: tc.spec},
			})
			assert.Equal(t, tc.want, *got)
		})
	}
}
