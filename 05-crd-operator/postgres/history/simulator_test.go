package history_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	. "example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

// simulator is a database in memory whose transactions run one after the other, each at one moment
// between its begin and its end. So its histories have no anomaly.
type simulator struct {
	*rand.Rand
	History
	now   time.Duration
	value int
	lists map[int][]int
	past  []map[int][]int // the lists after each commit, for standbys
	late  []Transaction   // commits that go on, although their clients have given up

	// What it does wrong.
	readsAtBegin bool // as with snapshots, and nobody checks what was written meanwhile
}

const keys = 4

func newSimulator(seed uint64) *simulator {
	return &simulator{Rand: rand.New(rand.NewPCG(seed, 0)), lists: map[int][]int{}, past: []map[int][]int{{}}}
}

func (s *simulator) tick() time.Duration { s.now += time.Millisecond; return s.now }

// run runs some clients, and reads two members in the end.
func (s *simulator) run(transactions int) History {
	const clients = 5
	var running [clients]*Transaction
	for range transactions * 3 {
		client := s.IntN(clients)
		switch t := running[client]; {
		case t == nil:
			running[client] = s.begin(client)
		case t.Outcome == "":
			s.commit(t)
		default:
			t.End = s.tick()
			s.Transactions = append(s.Transactions, *t)
			running[client] = nil
		}
		if len(s.late) > 0 && s.IntN(10) == 0 {
			s.apply(&s.late[0])
			s.late = s.late[1:]
		}
	}
	for _, t := range running {
		if t != nil {
			t.Outcome, t.End = Unknown, s.tick()
			s.Transactions = append(s.Transactions, *t)
		}
	}
	for _, member := range []string{"db-1", "db-2"} {
		t := Transaction{Client: member, Source: Final, Begin: s.tick(), Outcome: OK}
		for key := range keys {
			t.Ops = append(t.Ops, Op{Key: key, List: slices.Clone(s.lists[key])})
		}
		t.End = s.tick()
		s.Transactions = append(s.Transactions, t)
	}
	return s.History
}

func (s *simulator) begin(client int) *Transaction {
	t := &Transaction{Client: fmt.Sprint("client ", client), Source: Primary, Begin: s.tick()}
	if client == 0 {
		t.Source = Standby
	}
	for range 1 + s.IntN(4) {
		op := Op{Key: s.IntN(keys)}
		if t.Source == Primary && s.IntN(2) == 0 {
			s.value++
			op.Append = s.value
		}
		t.Ops = append(t.Ops, op)
	}
	if s.readsAtBegin {
		s.read(t, s.lists)
	}
	return t
}

func (s *simulator) commit(t *Transaction) {
	if t.Source == Standby {
		t.Outcome = OK
		s.read(t, s.past[s.IntN(len(s.past))])
		return
	}
	switch s.IntN(10) {
	case 0:
		t.Outcome = Failed
	case 1:
		t.Outcome = Unknown
		if s.IntN(2) == 0 {
			s.late = append(s.late, *t)
		}
	default:
		t.Outcome = OK
		s.apply(t)
	}
}

func (s *simulator) apply(t *Transaction) {
	if !s.readsAtBegin {
		s.read(t, s.lists)
	}
	next := map[int][]int{}
	for key, list := range s.lists {
		next[key] = slices.Clone(list)
	}
	for _, op := range t.Ops {
		if op.Append != 0 {
			next[op.Key] = append(next[op.Key], op.Append)
		}
	}
	s.lists = next
	s.past = append(s.past, next)
}

// read reads what a transaction does, which sees its own appends.
func (s *simulator) read(t *Transaction, lists map[int][]int) {
	own := map[int][]int{}
	for n, op := range t.Ops {
		if op.Append != 0 {
			own[op.Key] = append(own[op.Key], op.Append)
		} else {
			t.Ops[n].List = slices.Concat(lists[op.Key], own[op.Key])
		}
	}
}
