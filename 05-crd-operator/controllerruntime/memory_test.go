package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// version is the At in one of its versions.
func version(resourceVersion string, uid types.UID, phase cnat.AtPhase) *cnat.At {
	at := anAt(0)
	at.ResourceVersion, at.UID, at.Status.Phase = resourceVersion, uid, phase
	return at
}

func TestTheNewestOfTheCacheAndWhatWasWritten(t *testing.T) {
	tests := map[string]struct {
		cached     string
		wasWritten bool
	}{
		"the cache is behind":     {"9", true},
		"the cache has caught up": {"10", false},
		"the cache is ahead":      {"11", false},
		"not an ordinary version": {"x", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			written, cached := version("10", "1", cnat.Running), version(tc.cached, "1", "")
			m.write(written)
			if tc.wasWritten {
				assert.Same(t, written, m.newest(cached))
			} else {
				assert.Same(t, cached, m.newest(cached))
				assert.Empty(t, m.written)
			}
		})
	}
}

func TestWhoHasStartedIsKnownByItsUID(t *testing.T) {
	m := newMemory()
	m.start(version("10", "1", cnat.Pending))
	assert.True(t, m.hasStarted(version("10", "1", cnat.Pending)))
	assert.False(t, m.hasStarted(version("10", "2", cnat.Pending)), "another At of the same name")
	m.write(version("11", "1", cnat.Running))
	assert.True(t, m.hasStarted(version("11", "1", cnat.Running)))
	m.write(version("12", "1", cnat.Done))
	assert.Empty(t, m.started)
}

func TestWhoWroteWhichFieldIsNotRemembered(t *testing.T) {
	m := newMemory()
	written := version("10", "1", cnat.Pending)
	written.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	m.write(written)
	assert.Empty(t, m.newest(version("9", "1", "")).ManagedFields)
}
