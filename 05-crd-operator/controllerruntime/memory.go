package controllerruntime

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// memory is what this process has done and its caches may not have heard of
// yet. They are a moment behind, each a moment of its own. It may be lost at any
// time: then a write is refused, and nothing worse.
type memory struct {
	mu      sync.Mutex
	started map[types.NamespacedName]types.UID // Ats whose pod was created
	written map[types.NamespacedName]*cnat.At  // Ats as they were after a write
}

func newMemory() *memory {
	return &memory{started: map[types.NamespacedName]types.UID{}, written: map[types.NamespacedName]*cnat.At{}}
}

// start notes that the pod of the At was created.
func (m *memory) start(at *cnat.At) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started[client.ObjectKeyFromObject(at)] = at.UID
}

func (m *memory) hasStarted(at *cnat.At) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.started[client.ObjectKeyFromObject(at)] == at.UID
}

// write notes the At as the server returned it.
func (m *memory) write(at *cnat.At) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(at)
	at.ManagedFields = nil // as in the cache
	m.written[key] = at
	if at.Status.Phase == cnat.Done {
		delete(m.started, key)
	}
}

// newest returns the At as this process last wrote it, or as the cache has it,
// whichever is newer.
func (m *memory) newest(cached *cnat.At) *cnat.At {
	m.catchUp(cached)
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.written[client.ObjectKeyFromObject(cached)]; at != nil {
		return at
	}
	return cached
}

// catchUp forgets what was written when the cache has it, or something newer.
func (m *memory) catchUp(cached *cnat.At) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(cached)
	if at := m.written[key]; at != nil && !older(cached, at) {
		delete(m.written, key)
	}
}

// forget is for an At that is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.started, key)
	delete(m.written, key)
}

// older compares the versions of two objects of one resource. For long that was
// nobody's business but the server's; since Kubernetes 1.35 they are defined to be
// numbers that grow.
func older(a, b *cnat.At) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order < 0
}
