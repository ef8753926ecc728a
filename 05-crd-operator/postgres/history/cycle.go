package history

import "slices"

// dependency says why a transaction came before another one.
type dependency string

const (
	overwrites dependency = "appended to list %d right before"              // ww
	isRead     dependency = "appended to list %d what was read by"          // wr
	isMissed   dependency = "has read list %d without what was appended by" // rw
	ended      dependency = "had ended before the begin of"
)

// edge leads to a later transaction.
type edge struct {
	to  int
	why dependency
	key int
}

// graph has the transactions, by their indices, and after them one node for each end of one: a
// transaction leads to the node of its end, that to the next end, and to what begins until then. So a chain
// of ends stands for all pairs of which one had ended before the other began.
type graph [][]edge

// checkCycles looks for transactions of which each came before the next, and the last before the
// first. There are none if they could have run one after the other, as they were acknowledged.
func (j *judge) checkCycles() {
	g := make(graph, len(j.all), 2*len(j.all))
	in := make([]bool, len(j.all))
	for i, t := range j.all {
		in[i] = t.Source == Primary && !j.bad[i] && j.committed(i)
	}
	j.addLists(g, in)
	g = j.addTime(g, in)
	for _, component := range g.components() {
		if len(component) > 1 {
			j.reportCycle(g.cycle(component))
		}
	}
}

// addLists adds what the lists say.
func (j *judge) addLists(g graph, in []bool) {
	add := func(from, to int, why dependency, key int) {
		if from != to && in[from] && in[to] {
			g[from] = append(g[from], edge{to, why, key})
		}
	}
	for key, list := range j.order {
		for k := 1; k < len(list); k++ {
			before, ok := j.writer[list[k-1]]
			if after, there := j.writer[list[k]]; ok && there {
				add(before, after, overwrites, key)
			}
		}
	}
	for i, t := range j.all {
		if !in[i] || t.Outcome != OK {
			continue
		}
		for n, op := range t.Ops {
			if op.Append != 0 {
				continue
			}
			read, order := len(op.List)-len(t.appended(op.Key, n)), j.order[op.Key]
			if read > 0 {
				add(j.writer[op.List[read-1]], i, isRead, op.Key)
			}
			if read < len(order) {
				add(i, j.writer[order[read]], isMissed, op.Key)
			}
		}
	}
}

// addTime adds which transaction had ended before which other began.
func (j *judge) addTime(g graph, in []bool) graph {
	var begins, ends []int
	for i, t := range j.all {
		if in[i] {
			begins = append(begins, i)
			if t.Outcome == OK {
				ends = append(ends, i) // another one may be committed later than its client knows
			}
		}
	}
	slices.SortFunc(begins, func(a, b int) int { return int(j.all[a].Begin - j.all[b].Begin) })
	slices.SortFunc(ends, func(a, b int) int { return int(j.all[a].End - j.all[b].End) })
	for k, i := range ends {
		node := len(g)
		g = append(g, nil)
		g[i] = append(g[i], edge{to: node, why: ended})
		if k > 0 {
			g[node-1] = append(g[node-1], edge{to: node, why: ended})
		}
		for len(begins) > 0 && j.all[begins[0]].Begin <= j.all[i].End {
			if k > 0 {
				g[node-1] = append(g[node-1], edge{to: begins[0], why: ended})
			}
			begins = begins[1:]
		}
	}
	for _, i := range begins {
		if len(ends) > 0 {
			g[len(g)-1] = append(g[len(g)-1], edge{to: i, why: ended})
		}
	}
	return g
}

// components are the strongly connected ones, as Tarjan finds them.
func (g graph) components() (components [][]int) {
	index, low, on := make([]int, len(g)), make([]int, len(g)), make([]bool, len(g))
	var stack []int
	count := 0
	var visit func(int)
	visit = func(v int) {
		count++
		index[v], low[v], on[v] = count, count, true
		stack = append(stack, v)
		for _, e := range g[v] {
			if index[e.to] == 0 {
				visit(e.to)
				low[v] = min(low[v], low[e.to])
			} else if on[e.to] {
				low[v] = min(low[v], index[e.to])
			}
		}
		if low[v] < index[v] {
			return
		}
		at := slices.Index(stack, v)
		for _, w := range stack[at:] {
			on[w] = false
		}
		components = append(components, slices.Clone(stack[at:]))
		stack = stack[:at]
	}
	for v := range g {
		if index[v] == 0 {
			visit(v)
		}
	}
	return components
}

// step is an edge and where it begins.
type step struct {
	from int
	edge
}

// cycle returns a shortest cycle through the first node of a component.
func (g graph) cycle(component []int) []step {
	first := slices.Min(component) // a transaction: the ends alone have no cycle
	came := map[int]step{}
	queue := []int{first}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, e := range g[v] {
			if _, ok := came[e.to]; ok || !slices.Contains(component, e.to) {
				continue
			}
			came[e.to] = step{v, e}
			queue = append(queue, e.to)
		}
	}
	var cycle []step
	for v := first; len(cycle) == 0 || v != first; v = came[v].from {
		cycle = append(cycle, came[v])
	}
	slices.Reverse(cycle)
	return cycle
}
