package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A search of three members with many faults would not end. So some ways are walked at random,
// always the same ones: first anything may happen, then the faults are over, and the cluster has
// to become well.
func TestWalksBreakNoPromise(t *testing.T) {
	const walks, moves = 1000, 300
	for name, s := range map[string]scope{
		"everything":     {begin: outdated(3, 0), commits: 3, faults: 5, kinds: allFaults, late: true, second: true, wishes: []func(*spec){wants(3), size(1), size(3), wants(0)}},
		"a dead kubelet": {begin: whole(3), commits: 3, faults: 5, kinds: []kind{kill, freeze, cutOff, unreachable, podDeleted}, late: true, hole: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.minds = newMinds()
			if why := s.unreachable(); why != "" {
				t.Fatal(why)
			}
			for seed := range uint64(walks) {
				if broken := s.walk(seed, moves); broken != "" {
					t.Fatalf("walk %d: %s", seed, broken)
				}
			}
			t.Logf("%d decisions of the operator and %d of members were different", len(s.minds.decisions), len(s.minds.steps))
		})
	}
}

// walk takes random moves, and then those that need no fault, until the cluster is well.
func (s *scope) walk(seed uint64, moves int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var way []move
	for w := s.start(); len(way) < 10*moves; {
		healing := len(way) > moves
		if w.lost() || w.well() && (healing || w.faults == 0) {
			return ""
		}
		chosen := s.choose(&w, random, healing || random.IntN(20) > 0)
		if chosen == nil {
			return "nothing can happen any more:\n" + s.replay(way)
		}
		w, way = chosen.world, append(way, chosen.move)
		if chosen.broken != "" {
			way = s.shorten(way)
			return chosen.broken + ":\n" + s.replay(way)
		}
	}
	return fmt.Sprintf("the cluster does not become well in %d moves", 9*moves)
}

// option is one of the moves that can come next.
type option struct {
	move   move
	world  world
	broken string
}

// choose takes one of them at random.
func (s *scope) choose(w *world, random *rand.Rand, free bool) *option {
	var harmless, others []option
	s.moves(w, func(m move, next *world, broken string) {
		if o := (option{m, *next, broken}); m.free() {
			harmless = append(harmless, o)
		} else {
			others = append(others, o)
		}
	})
	if len(others) > 0 && !free || len(harmless) == 0 {
		harmless = others
	}
	if len(harmless) == 0 {
		return nil
	}
	return &harmless[random.IntN(len(harmless))]
}

// shorten leaves out moves without which a promise is broken all the same.
func (s *scope) shorten(way []move) []move {
	for again := true; again; {
		again = false
		for i := range slices.Backward(way) {
			if less := slices.Delete(slices.Clone(way), i, i+1); s.breaks(less) {
				way, again = less, true
			}
		}
	}
	return way
}

// breaks takes those of the moves that are possible.
func (s *scope) breaks(way []move) bool {
	w, promise := s.start(), ""
	for _, wanted := range way {
		next := w
		s.moves(&w, func(m move, to *world, broken string) {
			if m == wanted {
				next, promise = *to, broken
			}
		})
		if w = next; promise != "" {
			return true
		}
	}
	return false
}
