package settings

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// TestNothingIsRemovedBecauseOfAStaleCache runs two operators. The cache of one lacks the only
// layer, and the other has made the ConfigMap from it.
func TestNothingIsRemovedBecauseOfAStaleCache(t *testing.T) {
	s := newEnv(t)
	layers, lists := layersOf(t)
	requests, log := &ledger{}, s.logged()
	s.start(layers.Wrap, testcluster.Through(lists.count), requests.watch)
	s.eventually(func() bool { return strings.Contains(log.String(), "Starting workers") }, "its caches have not synced")

	layers.Shut()
	requests.Take()
	before := lists.Load()
	s.log = logr.Discard() // what is logged is of the first
	stop := s.start()
	s.layer("site", 0, data{"colour": "green"})
	good := state{"settings": "colour=green; of site", "site": "True Merged 1"}
	s.becomes(good)
	s.eventually(func() bool { return lists.Load() > before || len(requests.ofConfigMap("")) > 0 }, "it has not seen the new ConfigMap")
	reconciles := func() int { return strings.Count(log.String(), `"Reconcile successful"`) }
	s.eventually(func() bool { return reconciles() > 0 }, "it is not done with the new ConfigMap")
	require.Empty(t, requests.ofConfigMap(""))
	stop()
	known := reconciles()
	layers.Open()
	s.eventually(func() bool { return reconciles() > known }, "it has not heard of the layer")

	// It has one worker and one key, so this repair comes after all that it did before.
	s.edit(`{"data":{"colour":"forged"}}`)
	s.becomes(good)
	s.eventually(func() bool { return len(requests.ofConfigMap("20")) > 0 })
	assert.Equal(t, []string{"PATCH 200 configmaps/settings"}, requests.ofConfigMap("20"))
}

// TestAnOrphanIsNotTakenBackBecauseOfAStaleCache is kubectl delete --cascade=orphan, with the part of the
// garbage collector in the hands of the test: it takes the owner off the ConfigMap, and only then lets the
// layer go. The operator sees that the owner is gone before it sees why.
func TestAnOrphanIsNotTakenBackBecauseOfAStaleCache(t *testing.T) {
	s := newEnv(t)
	layers, lists := layersOf(t)
	requests := &ledger{}
	s.start(layers.Wrap, testcluster.Through(lists.count), requests.watch)
	s.layer("defaults", 0, data{"colour": "grey"})
	s.becomes(state{"settings": "colour=grey; of defaults", "defaults": "True Merged 1"})
	// By the status it knows the ConfigMap for its own. An operator that has seen a later change of
	// the layer has it in its cache.
	s.patchLayer("defaults", `{"metadata":{"finalizers":["example.com/orphan"]},"spec":{"data":{"colour":"blue"}}}`)
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 2"})

	layers.Shut()
	requests.Take()
	before := lists.Load()
	s.deleteLayer("defaults")
	s.edit(`{"metadata":{"ownerReferences":null}}`)
	s.eventually(func() bool { return lists.Load() > before || len(requests.ofConfigMap("20")) > 0 }, "it has not seen the ConfigMap without its owner")
	s.patchLayer("defaults", `{"metadata":{"finalizers":null}}`)
	layers.Open()

	// The status of a layer that comes later shows that the operator has seen the first go.
	s.layer("site", 10, data{"colour": "green"})
	s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
	assert.Empty(t, requests.ofConfigMap("20"))
}

// layersOf is a gate for the watch of layers, and a count of the lists of layers: the live reads.
func layersOf(t *testing.T) (*testcluster.Gate, *liveReads) {
	isWatch := func(r *http.Request) bool { return ofLayers(r) && r.URL.Query().Get("watch") != "" }
	return testcluster.NewGate(t, isWatch), &liveReads{}
}

func ofLayers(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/settingslayers") }

type liveReads struct{ atomic.Int32 }

func (l *liveReads) count(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	response, err := next.RoundTrip(r)
	if ofLayers(r) && r.URL.Query().Get("watch") == "" {
		l.Add(1)
	}
	return response, err
}
