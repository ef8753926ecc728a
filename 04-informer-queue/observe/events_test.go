package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

func TestEventsOfAKeyAreMerged(t *testing.T) {
	first, second := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	added, updated, synced := event{present: addedEvent}, event{present: updatedEvent}, event{present: syncEvent}
	tests := map[string]struct {
		happened []event
		want     event
	}{
		"nothing":                              {nil, event{}},
		"a change":                             {[]event{updated}, updated},
		"ten changes are one":                  {[]event{updated, updated, updated}, updated},
		"what changed is still new":            {[]event{added, updated}, added},
		"what changed at the start":            {[]event{synced, updated}, synced},
		"a replay of a change":                 {[]event{updated, synced}, updated},
		"it went":                              {[]event{{gone: first}}, event{gone: first}},
		"it changed and went":                  {[]event{updated, {gone: first}}, event{gone: first}},
		"it went and came":                     {[]event{{gone: first}, added}, event{gone: first, present: addedEvent}},
		"it went, came and changed":            {[]event{{gone: first}, added, updated}, event{gone: first, present: addedEvent}},
		"it went, and one that was never seen": {[]event{{gone: first}, added, {gone: second}}, event{gone: first}},
		"it went, came, went and came":         {[]event{{gone: first}, added, {gone: second}, added}, event{gone: first, present: addedEvent}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var e event
			for _, next := range tc.happened {
				e = e.then(next)
			}
			// The same, not alike.
			assert.Same(t, tc.want.gone, e.gone)
			assert.Equal(t, tc.want.present, e.present)

			// The same if the first ones were taken out and given back in between.
			for i := range tc.happened {
				p := pending{events: map[cache.ObjectName]event{}}
				k := cache.ObjectName{Name: "a"}
				for _, next := range tc.happened[:i] {
					p.add(k, next)
				}
				taken := p.take(k)
				for _, next := range tc.happened[i:] {
					p.add(k, next)
				}
				p.giveBack(k, taken)
				assert.Equal(t, e, p.take(k), "given back after %d", i)
				p.giveBack(k, event{})
				assert.Empty(t, p.events, "what was handled is forgotten")
			}
		})
	}
}
