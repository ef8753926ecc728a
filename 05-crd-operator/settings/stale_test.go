package settings

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// TestNothingIsRemovedBecauseOfAStaleCache runs two operators. The cache of one lacks the only
// layer, and the other has made the ConfigMap from it.
func TestNothingIsRemovedBecauseOfAStaleCache(t *testing.T) {
	s := sharedWorld(t).newEnv(t, "stale")
	stale, requests, log := &lag{}, &ledger{}, s.logged()
	s.start(stale.watch, requests.watch)
	s.eventually(func() bool { return strings.Contains(log.String(), "Starting workers") }, "its caches have not synced")

	release := stale.hold(t)
	requests.Take()
	lists := stale.lists.Load()
	stop := s.start()
	s.layer("site", 0, data{"colour": "green"})
	good := state{"settings": "colour=green; of site", "site": "True Merged 1"}
	s.becomes(good)
	s.eventually(func() bool { return stale.lists.Load() > lists || len(requests.ofConfigMap("")) > 0 }, "it has not seen the new ConfigMap")
	require.Empty(t, requests.ofConfigMap(""))
	stop()
	release()

	// It has one worker and one key, so this repair comes after all that it did before.
	s.edit(`{"data":{"colour":"forged"}}`)
	s.becomes(good)
	s.eventually(func() bool { return len(requests.ofConfigMap("20")) > 0 })
	assert.Equal(t, []string{"PATCH 200 configmaps/settings"}, requests.ofConfigMap("20"))
}

// TestAnOrphanIsNotTakenBackBecauseOfAStaleCache deletes a layer with --cascade=orphan, and the
// operator sees that the ConfigMap has lost its owner before it sees why.
func TestAnOrphanIsNotTakenBackBecauseOfAStaleCache(t *testing.T) {
	s := sharedWorld(t).newEnv(t, "orphan")
	stale, requests := &lag{}, &ledger{}
	s.start(stale.watch, requests.watch)
	s.layer("defaults", 0, data{"colour": "grey"})
	s.becomes(state{"settings": "colour=grey; of defaults", "defaults": "True Merged 1"})
	// By the status it knows the ConfigMap for its own. An operator that has seen a later
	// change of the layer has it in its cache.
	s.patchLayer("defaults", `{"metadata":{"finalizers":["example.com/orphan"]},"spec":{"data":{"colour":"blue"}}}`)
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 2"})

	release := stale.hold(t)
	requests.Take()
	lists := stale.lists.Load()
	s.deleteLayer("defaults")
	s.edit(`{"metadata":{"ownerReferences":null}}`)
	s.eventually(func() bool { return stale.lists.Load() > lists || len(requests.ofConfigMap("20")) > 0 }, "it has not seen the ConfigMap without its owner")
	s.patchLayer("defaults", `{"metadata":{"finalizers":null}}`)
	release()

	// The status of a layer that comes later shows that the operator has seen the first go.
	s.layer("site", 10, data{"colour": "green"})
	s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
	assert.Empty(t, requests.ofConfigMap("20"))
}

// lag makes the watch on layers lag, and counts the lists of layers.
type lag struct {
	mu    sync.RWMutex // locked while the watch lags
	lists atomic.Int32
}

func (l *lag) watch(config *rest.Config) {
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil || !strings.HasSuffix(request.URL.Path, "/settingslayers") {
			return response, err
		}
		if request.URL.Query().Get("watch") == "" {
			l.lists.Add(1)
		} else {
			response.Body = lagging{response.Body, l}
		}
		return response, nil
	})(config)
}

// hold lets no event of the watch through until release is called, or the test ends.
func (l *lag) hold(t *testing.T) (release func()) {
	t.Helper()
	l.mu.Lock()
	release = sync.OnceFunc(l.mu.Unlock)
	t.Cleanup(release)
	return release
}

type lagging struct {
	io.ReadCloser
	lag *lag
}

// Read returns what it has read once the watch no longer lags.
func (b lagging) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.lag.mu.RLock()
	defer b.lag.mu.RUnlock()
	return n, err
}
