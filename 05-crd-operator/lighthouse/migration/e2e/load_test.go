package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
)

// migration is a lab with clients that write and informers that listen, and what came of it.
type migration struct {
	*testing.T
	*lab
	table strings.Builder

	writing sync.RWMutex // held by check, so that nobody writes
	mu      sync.Mutex
	// acknowledged is what the last write of each Lighthouse has set, as v1beta1 prints it.
	acknowledged map[string]string
	writers      map[string]func()
	informers    map[string]*informer
	counts       map[string]int // of this phase
	failures     []string
}

func newMigration(t *testing.T, l *lab) *migration {
	m := &migration{T: t, lab: l, acknowledged: map[string]string{}, writers: map[string]func(){}, informers: map[string]*informer{}, counts: map[string]int{}}
	m.table.WriteString("phase\tseconds\twrites v1alpha1\tv1beta1\tfailed\tevents v1alpha1\tv1beta1\tonly the version changed\tstored\n")
	m.informs(old)
	return m
}

// phase runs a part of the migration, under load, and checks that nothing is lost.
func (m *migration) phase(name string, run func()) {
	m.Helper()
	begin := time.Now()
	run()
	seconds := time.Since(begin).Seconds()
	m.writing.Lock()
	defer m.writing.Unlock()
	m.check()
	m.mu.Lock()
	defer m.mu.Unlock()
	assert.Empty(m.T, m.failures, name)
	fmt.Fprintf(&m.table, "%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t%d\t%v\n", name, seconds, m.counts["writes "+old], m.counts["writes "+current], len(m.failures),
		m.counts["events "+old], m.counts["events "+current], m.counts["rewritten"], m.stored())
	clear(m.counts)
	m.failures = nil
}

// report prints the table.
func (m *migration) report() {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, m.table.String())
	_ = w.Flush()
	m.T.Logf("%d Lighthouses\n%s", objects, aligned.String())
}

// start runs a client until stopWriting.
func (m *migration) start(version string, write func(turn int)) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for turn := 0; ; turn++ {
			select {
			case <-stop:
				return
			default:
				m.writing.RLock()
				write(turn)
				m.writing.RUnlock()
			}
		}
	}()
	before := m.writers[version]
	var once sync.Once
	m.writers[version] = func() {
		once.Do(func() {
			close(stop)
			<-ended
			if before != nil {
				before()
			}
		})
	}
	m.T.Cleanup(m.writers[version])
}

func (m *migration) stopWriting(version string) { m.writers[version]() }

// settle waits until each client has written some more.
func (m *migration) settle() {
	m.Helper()
	m.mu.Lock()
	before := m.counts["writes "+current]
	m.mu.Unlock()
	m.becomes("written", func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if more := m.counts["writes "+current] - before; more < 200 {
			return fmt.Errorf("%d writes", more)
		}
		return nil
	})
}

// count notes a write that was acknowledged, or why it wasn't.
func (m *migration) count(version, name, flash string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		if m.T.Context().Err() == nil {
			m.failures = append(m.failures, err.Error())
		}
		return
	}
	m.counts["writes "+version]++
	m.acknowledged[name] = flash
}

// want is what a version shows of what was acknowledged.
func want(acknowledged map[string]string, version string) map[string]string {
	wanted := map[string]string{}
	for name, flash := range acknowledged {
		if version == old && strings.HasSuffix(flash, "ms") {
			flash = "long short" // a length below a second
		}
		wanted[name] = flash
	}
	return wanted
}

func flashOf(t *testing.T, light unstructured.Unstructured) string {
	t.Helper()
	content, err := json.Marshal(light.Object)
	require.NoError(t, err)
	if strings.HasSuffix(light.GetAPIVersion(), old) {
		var l v1alpha1.Lighthouse
		require.NoError(t, json.Unmarshal(content, &l))
		return l.Spec.Flash
	}
	var l v1beta1.Lighthouse
	require.NoError(t, json.Unmarshal(content, &l))
	return l.Spec.Character.String()
}

// informer listens in one version, as a controller does.
type informer struct {
	cache.SharedIndexInformer
	stop func()
}

// informs counts what an informer of a version hears, and how often only the resource version is another.
func (m *migration) informs(version string) {
	m.Helper()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(m.dynamic, 0, space, nil)
	in := factory.ForResource(schema.GroupVersionResource{Group: "coast.example.com", Version: version, Resource: "lighthouses"}).Informer()
	_, err := in.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(was, is any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.counts["events "+version]++
		if isRewritten(was.(*unstructured.Unstructured), is.(*unstructured.Unstructured)) {
			m.counts["rewritten"]++
		}
	}})
	require.NoError(m.T, err)
	stop := make(chan struct{})
	factory.Start(stop)
	m.informers[version] = &informer{in, sync.OnceFunc(func() {
		close(stop)
		factory.Shutdown()
	})}
	m.T.Cleanup(m.informers[version].stop)
	require.Empty(m.T, failedSyncs(factory.WaitForCacheSync(stop)))
}

func (m *migration) stopInforming(version string) { m.informers[version].stop() }

func failedSyncs(synced map[schema.GroupVersionResource]bool) (failed []string) {
	for resource, ok := range synced {
		if !ok {
			failed = append(failed, resource.String())
		}
	}
	return failed
}

// isRewritten reports whether nothing but the resource version has changed.
func isRewritten(was, is *unstructured.Unstructured) bool {
	was, is = was.DeepCopy(), is.DeepCopy()
	if was.GetResourceVersion() == is.GetResourceVersion() {
		return false
	}
	for _, object := range []*unstructured.Unstructured{was, is} {
		object.SetResourceVersion("")
		object.SetManagedFields(nil)
	}
	first, err := json.Marshal(was.Object)
	if err != nil {
		return false
	}
	second, err := json.Marshal(is.Object)
	return err == nil && string(first) == string(second)
}
