package plan_test

import (
	"hash/maphash"
	"strings"
	"sync"
)

// A search goes through every world that a scope can come into, and finds the shortest way to
// one that breaks a promise. It keeps a hash of 64 bits of each world, not the world.
type search struct {
	scope  *scope
	seed   maphash.Seed
	index  map[uint64]int32
	from   []origin
	fine   []bool  // the cluster is well there, or nobody could help it
	edges  []int32 // of free moves
	ends   []int32 // of the edges of each world
	broken string
}

// origin is how a world was reached first.
type origin struct {
	world int32
	move  move
}

// explore searches until it is through, or a promise is broken.
func explore(s *scope) *search {
	f := &search{scope: s, seed: maphash.MakeSeed(), index: map[uint64]int32{}}
	s.minds = newMinds()
	if f.broken = s.unreachable(); f.broken != "" {
		return f
	}
	level := []world{s.start()}
	f.add(&level[0], origin{world: -1})
	for at := int32(0); len(level) > 0 && f.broken == ""; {
		var next []world
		for i := range level {
			s.moves(&level[i], func(m move, to *world, promise string) {
				n, known := f.add(to, origin{at, m})
				if !known {
					next = append(next, *to)
				}
				if m.free() {
					f.edges = append(f.edges, n)
				}
				if promise != "" && f.broken == "" {
					f.broken = promise + ":\n" + f.trace(origin{at, m})
				}
			})
			f.ends = append(f.ends, int32(len(f.edges)))
			if f.broken != "" {
				break
			}
			at++
		}
		level = next
	}
	if f.broken == "" {
		f.broken = f.stuck()
	}
	return f
}

func (f *search) add(w *world, from origin) (int32, bool) {
	hash := maphash.Comparable(f.seed, *w)
	if n, known := f.index[hash]; known {
		return n, true
	}
	n := int32(len(f.from))
	f.index[hash] = n
	f.from = append(f.from, from)
	f.fine = append(f.fine, w.well() || w.lost())
	return n, false
}

// trace replays the way to a world.
func (f *search) trace(to origin) string {
	var way []move
	for ; to.world >= 0; to = f.from[to.world] {
		way = append([]move{to.move}, way...)
	}
	return f.scope.replay(way)
}

// replay is what happens, a line for each move.
func (s *scope) replay(way []move) string {
	var lines []string
	w := s.start()
	for i, m := range way {
		before := w
		w.apply(m, s)
		w.forgetTimelines()
		atOnce := m.kind == decide && i+1 < len(way) && way[i+1].kind == act
		if !atOnce {
			lines = append(lines, m.trace(&before, &w))
		}
	}
	return strings.Join(lines, "\n")
}

// stuck is the way to a world from which no free moves lead to a cluster that is well.
func (f *search) stuck() string {
	back, at := f.reverse()
	var queue []int32
	for n, fine := range f.fine {
		if fine {
			queue = append(queue, int32(n))
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, from := range back[at[n]:at[n+1]] {
			if !f.fine[from] {
				f.fine[from] = true
				queue = append(queue, from)
			}
		}
	}
	for n, fine := range f.fine {
		if !fine {
			return "no way back to a cluster that is well:\n" + f.trace(f.from[n])
		}
	}
	return ""
}

// reverse returns the edges turned round, and where those of each world begin.
func (f *search) reverse() (back, at []int32) {
	at = make([]int32, len(f.from)+2)
	for _, to := range f.edges {
		at[to+2]++
	}
	for n := range len(at) - 1 {
		at[n+1] += at[n]
	}
	back = make([]int32, len(f.edges))
	begin := int32(0)
	for from, end := range f.ends {
		for _, to := range f.edges[begin:end] {
			back[at[to+1]] = int32(from)
			at[to+1]++
		}
		begin = end
	}
	return back, at
}

// reach returns the first world that is as it should be, for searches that begin with it, or nil
// if there is none.
func reach(s *scope, is func(*world) bool) *world {
	if s.unreachable() != "" {
		return nil
	}
	s.minds = newMinds()
	known := map[world]bool{}
	for level := []world{s.start()}; len(level) > 0; level = level[1:] {
		w := level[0]
		if is(&w) {
			return &w
		}
		s.moves(&w, func(_ move, next *world, _ string) {
			if !known[*next] {
				known[*next] = true
				level = append(level, *next)
			}
		})
	}
	return nil
}

// whole is a cluster of a size that is well.
func whole(size int8) func() *world {
	return sync.OnceValue(func() *world {
		return reach(&scope{size: size}, func(w *world) bool { return w.well() && w.pending.action == none })
	})
}

// outdated is a cluster of a size that was well, and whose operator has another image now. One
// member is wanted as primary, unless it is 0.
func outdated(size, primary int8) func() *world {
	return sync.OnceValue(func() *world {
		w := whole(size)()
		if w != nil {
			w.spec.primary = primary
			for i := range size {
				w.members[i].outdated = true
			}
		}
		return w
	})
}

// changed is a cluster of three in which db-2 has taken over from db-1. Both are synced. db-3
// knows of it, and still receives from db-1.
func changed() func() *world {
	return sync.OnceValue(func() *world {
		return reach(&scope{begin: whole(3), faults: 1, kinds: []kind{freeze}}, func(w *world) bool {
			late := w.at(3)
			return w.status.synced == [2]int8{2, 1} && late.following == 1 && late.seen.primary == 2 && w.pending.action == none
		})
	})
}
