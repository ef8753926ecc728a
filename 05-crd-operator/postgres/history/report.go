package history

import (
	"fmt"
	"strings"
)

// Kind is what is wrong.
type Kind string

// The kinds of anomalies. In brackets is Adya's or Elle's name.
const (
	Lost          Kind = "lost"           // a commit that was acknowledged is not there in the end
	Torn          Kind = "torn"           // a part of a transaction is there in the end
	Stale         Kind = "stale"          // a read lacks what was acknowledged before
	Diverged      Kind = "diverged"       // two lists of which none is the beginning of the other [incompatible order]
	MembersDiffer Kind = "members differ" // in the end
	TwoPrimaries  Kind = "two primaries"  // have acknowledged commits at the same time
	Aborted       Kind = "aborted read"   // of what surely was not committed [G1a]
	Intermediate  Kind = "partial read"   // of a part of a transaction [G1b]
	Internal      Kind = "internal"       // a transaction does not see its own append
	Duplicate     Kind = "duplicate"      // one append is there twice
	Unwritten     Kind = "unwritten"      // a value that nobody has appended
	Cycle         Kind = "cycle"          // no order explains what was read [G0, G1c, G2, and with the time]
)

// Anomaly is something that is wrong, with the transactions that show it.
type Anomaly struct {
	Kind         Kind
	Why          string
	Transactions []string
}

func (a Anomaly) String() string {
	return fmt.Sprintf("%s: %s\n\t%s", a.Kind, a.Why, strings.Join(a.Transactions, "\n\t"))
}

// report adds an anomaly that a transaction shows.
func (j *judge) report(kind Kind, i int, why string, args ...any) {
	j.found = append(j.found, Anomaly{Kind: kind, Why: fmt.Sprintf(why, args...)})
	if j.bad != nil {
		j.bad[i] = true
	}
	j.also(i)
}

// also adds a transaction to the last anomaly.
func (j *judge) also(i int) {
	last := &j.found[len(j.found)-1]
	last.Transactions = append(last.Transactions, fmt.Sprintf("%d: %s", i, j.all[i]))
}

func (j *judge) reportCycle(cycle []step) {
	var sentences, transactions []string
	for n, s := range cycle {
		if s.from >= len(j.all) {
			continue // the chain of ends
		}
		to := s.to
		for k := n + 1; to >= len(j.all); k++ {
			to = cycle[k%len(cycle)].to
		}
		why := string(s.why)
		if strings.Contains(why, "%d") {
			why = fmt.Sprintf(why, s.key)
		}
		sentences = append(sentences, fmt.Sprintf("%d %s %d", s.from, why, to))
		transactions = append(transactions, fmt.Sprintf("%d: %s", s.from, j.all[s.from]))
	}
	j.found = append(j.found, Anomaly{Cycle, strings.Join(sentences, ", "), transactions})
}

// listed is how much of a list is printed: its end.
const listed = 12

func (t Transaction) String() string {
	var ops []string
	for _, op := range t.Ops {
		switch {
		case op.Append != 0:
			ops = append(ops, fmt.Sprintf("append %d to list %d", op.Append, op.Key))
		case len(op.List) > listed:
			ops = append(ops, fmt.Sprintf("list %d is %d values that end with %v", op.Key, len(op.List), op.List[len(op.List)-listed:]))
		default:
			ops = append(ops, fmt.Sprintf("list %d is %v", op.Key, op.List))
		}
		if len(ops) == listed && len(t.Ops) > listed {
			ops = append(ops, fmt.Sprintf("and %d more", len(t.Ops)-listed))
			break
		}
	}
	where := ""
	if t.Server != "" {
		where = fmt.Sprintf(" on %s, timeline %s", t.Server, t.Timeline)
	}
	return fmt.Sprintf("%s, %.3f s to %.3f s, %s%s: %s: %s", t.Client, t.Begin.Seconds(), t.End.Seconds(), t.Source, where, strings.Join(ops, "; "), t.Outcome)
}

// Summary says in a few lines what was found: the first anomalies of each kind, and how many there are.
func Summary(h History, found []Anomaly) string {
	outcomes := map[Outcome]int{}
	for _, t := range h.Transactions {
		outcomes[t.Outcome]++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d transactions: %d acknowledged, %d failed, %d unknown; %d anomalies\n",
		len(h.Transactions), outcomes[OK], outcomes[Failed], outcomes[Unknown], len(found))
	const most = 3
	kinds := map[Kind]int{}
	for _, a := range found {
		if kinds[a.Kind]++; kinds[a.Kind] <= most {
			fmt.Fprintln(&out, a)
		}
	}
	for _, a := range found {
		if n := kinds[a.Kind]; n > most {
			fmt.Fprintf(&out, "and %d more: %s\n", n-most, a.Kind)
			delete(kinds, a.Kind)
		}
	}
	return out.String()
}
