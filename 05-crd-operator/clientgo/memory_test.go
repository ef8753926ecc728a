package clientgo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

func version(v string) *cnat.At {
	at := newAt()
	at.ResourceVersion = v
	return at
}

func TestTheNewestAt(t *testing.T) {
	tests := map[string]struct {
		written, cached string
		fromMemory      bool
	}{
		"nothing was written":             {"", "9", false},
		"the cache is behind":             {"10", "9", true}, // as numbers, not as words
		"the cache has what was written":  {"10", "10", false},
		"the cache has something newer":   {"10", "11", false},
		"the versions cannot be compared": {"ten", "9", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			written, cached := version(tc.written), version(tc.cached)
			if tc.written != "" {
				m.write(written)
			}
			if tc.fromMemory {
				assert.Same(t, written, m.newest(cached))
				assert.Len(t, m.written, 1)
			} else {
				assert.Same(t, cached, m.newest(cached))
				assert.Empty(t, m.written, "what the cache has is not kept twice")
			}
		})
	}
}

func TestTheMemoryOfAWriteIsSlim(t *testing.T) {
	m := newMemory()
	at := version("2")
	at.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	m.write(at)
	assert.Empty(t, m.newest(version("1")).ManagedFields)
}

func TestWhatWasStartedIsRememberedUntilTheAtIsDoneOrGone(t *testing.T) {
	m := newMemory()
	at, namesake := newAt(), newAt()
	namesake.UID = "another"
	assert.False(t, m.hasStarted(at))

	m.start(at)
	assert.True(t, m.hasStarted(at))
	assert.False(t, m.hasStarted(namesake), "it is not the name that was started")

	at.Status.Phase = cnat.Running
	m.catchUp(at)
	assert.True(t, m.hasStarted(at))
	at.Status.Phase = cnat.Done
	m.catchUp(at)
	assert.False(t, m.hasStarted(at))

	m.start(at)
	m.write(version("2"))
	m.forget(theKey)
	assert.Empty(t, m.started)
	assert.Empty(t, m.written)
}
