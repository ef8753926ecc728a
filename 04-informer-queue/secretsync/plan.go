package secretsync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// plan prints what would be done now, and does none of it. It fills the caches,
// and decides once about each key that they would enqueue, in order.
func (s *syncer) plan(ctx context.Context) error {
	keys, err := s.collect(ctx)
	for _, key := range keys {
		if err == nil {
			err = s.foresee(ctx, key)
		}
	}
	return err
}

// collect returns all keys, once the caches are full. They are of no use after
// that, but can still be read.
func (s *syncer) collect(ctx context.Context) ([]types.NamespacedName, error) {
	var mu sync.Mutex
	keys := map[types.NamespacedName]bool{}
	var err error
	s.caches, err = newCaches(s.client, s.rules, 0, func(key types.NamespacedName) {
		mu.Lock()
		defer mu.Unlock()
		keys[key] = true
	})
	if err != nil {
		return nil, err
	}

	filling, cancel := context.WithTimeout(ctx, time.Minute)
	var background sync.WaitGroup
	background.Go(func() { s.caches.run(filling) })
	if !cache.WaitForCacheSync(filling.Done(), s.caches.handled...) {
		err = filling.Err()
	}
	cancel()
	background.Wait()
	if err != nil {
		return nil, fmt.Errorf("filling the caches: %w", err)
	}
	return slices.SortedFunc(maps.Keys(keys), func(a, b types.NamespacedName) int {
		return strings.Compare(a.String(), b.String())
	}), nil
}

// foresee prints what would be done about one key. A foreign secret shows when a
// copy is created; to foresee that, the server has to be asked.
func (s *syncer) foresee(ctx context.Context, key types.NamespacedName) error {
	source, namespace, have := s.caches.look(key)
	d := s.rules.decide(source, namespace, have)
	if d.action == create {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		have, err := s.ask(ctx, key)
		if err != nil {
			return err
		}
		d = s.rules.decide(source, namespace, have)
	}
	if d.action == leave {
		return nil
	}
	_, err := fmt.Fprintf(s.out.out, "would %s %s: %s\n", d.action, key, d.why)
	return err
}
