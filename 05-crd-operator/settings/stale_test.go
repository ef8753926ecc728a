package settings

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// TestNothingIsRemovedBecauseOfAStaleCache runs two operators. The layers in the cache of
// one are stale, and the other has made the ConfigMap from those that there are.
func TestNothingIsRemovedBecauseOfAStaleCache(t *testing.T) {
	w := sharedWorld(t)
	defaults := func(s *env) {
		s.layer("defaults", 0, data{"colour": "blue"})
		s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	}
	for name, tc := range map[string]struct {
		first  func(*env) // makes what is in the cache
		change func(*env)
		want   state
	}{
		"the only layer is not in it": {
			first:  func(*env) {},
			change: func(s *env) { s.layer("site", 0, data{"colour": "green"}) },
			want:   state{"settings": "colour=green; of site", "site": "True Merged 1"},
		},
		"one of two is not in it": {
			first:  defaults,
			change: func(s *env) { s.layer("site", 10, data{"shape": "round"}) },
			want: state{
				"settings": "colour=blue shape=round; of defaults, site",
				"defaults": "True Merged 1", "site": "True Merged 1",
			},
		},
		"a new key is not in it": {
			first:  defaults,
			change: func(s *env) { s.patchLayer("defaults", `{"spec":{"data":{"shape":"round"}}}`) },
			want:   state{"settings": "colour=blue shape=round; of defaults", "defaults": "True Merged 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := w.newEnv(t, envName(name))
			stale, requests := &lag{}, &ledger{}
			var log lockedBuffer
			s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{})
			s.start(stale.watch, requests.watch)
			require.Eventually(t, func() bool { return strings.Contains(log.String(), "Starting workers") }, testcluster.TestTimeout, 20*time.Millisecond,
				"its caches have not synced")
			tc.first(s)

			release := stale.hold(t)
			before, accepted, lists := len(requests.all()), len(requests.accepted()), stale.lists.Load()
			stop := s.start()
			tc.change(s)
			require.Eventually(t, func() bool {
				return stale.lists.Load() > lists || len(ofConfigMap(requests.all()[before:])) > 0
			}, testcluster.TestTimeout, 20*time.Millisecond, "it has not seen the new ConfigMap")
			require.Empty(t, ofConfigMap(requests.all()[before:]))
			s.becomes(tc.want)
			stop()
			release()

			// It has one worker and one key, so this repair comes after all that it did before.
			s.edit(`{"data":{"colour":"forged"}}`)
			s.becomes(tc.want)
			require.Eventually(t, func() bool { return len(ofConfigMap(requests.accepted()[accepted:])) > 0 }, testcluster.TestTimeout, 20*time.Millisecond)
			assert.Equal(t, []string{"PATCH 200 configmaps/settings"}, ofConfigMap(requests.accepted()[accepted:]))
		})
	}
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
	accepted, lists := len(requests.accepted()), stale.lists.Load()
	s.deleteLayer("defaults")
	s.edit(`{"metadata":{"ownerReferences":null}}`)
	require.Eventually(t, func() bool {
		return stale.lists.Load() > lists || len(ofConfigMap(requests.accepted()[accepted:])) > 0
	}, testcluster.TestTimeout, 20*time.Millisecond, "it has not seen the ConfigMap without its owner")
	s.patchLayer("defaults", `{"metadata":{"finalizers":null}}`)
	release()

	// The status of a layer that comes later shows that the operator has seen the first go.
	s.layer("site", 10, data{"colour": "green"})
	s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
	assert.Empty(t, ofConfigMap(requests.accepted()[accepted:]))
}

// ofConfigMap are the requests that are about the ConfigMap.
func ofConfigMap(requests []string) []string {
	return slices.DeleteFunc(requests, func(r string) bool { return !strings.HasSuffix(r, " configmaps/settings") })
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
