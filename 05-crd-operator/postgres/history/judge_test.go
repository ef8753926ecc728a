package history_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

func read(key int, list ...int) Op { return Op{Key: key, List: list} }
func add(key, value int) Op        { return Op{Key: key, Append: value} }

// at returns a transaction with its begin and end in milliseconds.
func at(begin, end int, source Source, outcome Outcome, ops ...Op) Transaction {
	return Transaction{Client: "client", Source: source, Begin: time.Duration(begin) * time.Millisecond,
		End: time.Duration(end) * time.Millisecond, Outcome: outcome, Ops: ops}
}

func on(server string, t Transaction) Transaction { t.Server, t.Timeline = server, "2"; return t }

func TestOneAnomaly(t *testing.T) {
	for name, tc := range map[string]struct {
		want         Kind // none if it is empty
		transactions []Transaction
	}{
		"a commit that was acknowledged is lost": {Lost, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, OK, add(1, 2)), at(9, 9, Final, OK, read(1, 1))}},
		"with its list": {Lost, []Transaction{at(0, 1, Primary, OK, add(1, 1)), at(9, 9, Final, OK)}},
		"a commit without an answer may be lost": {"", []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, Unknown, add(1, 2)), at(9, 9, Final, OK, read(1, 1))}},
		"but not a part of it": {Torn, []Transaction{
			at(2, 3, Primary, Unknown, add(1, 1), add(2, 2)), at(9, 9, Final, OK, read(1, 1))}},
		"a commit that has failed is there": {Aborted, []Transaction{
			at(0, 1, Primary, Failed, add(1, 1)), at(9, 9, Final, OK, read(1, 1))}},
		"a value comes from nowhere": {Unwritten, []Transaction{at(9, 9, Final, OK, read(1, 1))}},
		"a value is there twice": {Duplicate, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(9, 9, Final, OK, read(1, 1, 1))}},
		"a half of a transaction is read": {Intermediate, []Transaction{
			at(0, 5, Primary, OK, add(1, 1), add(1, 2)), at(1, 4, Standby, OK, read(1, 1)), at(9, 9, Final, OK, read(1, 1, 2))}},
		"a transaction does not see its own append": {Internal, []Transaction{
			at(0, 5, Primary, OK, add(1, 1), read(1)), at(9, 9, Final, OK, read(1, 1))}},
		"two lists fork": {Diverged, []Transaction{
			at(0, 9, Primary, OK, add(1, 1)), at(0, 9, Primary, OK, add(1, 2)),
			at(0, 9, Primary, OK, read(1, 2, 1)), at(9, 9, Final, OK, read(1, 1, 2))}},
		"a member has less in the end": {MembersDiffer, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(9, 9, Final, OK, read(1, 1)), at(9, 9, Final, OK)}},
		"a member has more in the end": {MembersDiffer, []Transaction{
			at(0, 1, Primary, Unknown, add(1, 1)), at(9, 9, Final, OK), at(9, 9, Final, OK, read(1, 1))}},
		"a read at the primary is old": {Stale, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, OK, read(1)), at(9, 9, Final, OK, read(1, 1))}},
		"a read lacks what was acknowledged before the last": {Stale, []Transaction{
			at(0, 2, Primary, OK, add(1, 1)), at(0, 3, Primary, OK, add(1, 2)), at(4, 5, Primary, OK, read(1, 2)), at(9, 9, Final, OK, read(1, 2, 1))}},
		"not if it had begun before": {"", []Transaction{
			at(0, 2, Primary, OK, add(1, 1)), at(1, 3, Primary, OK, read(1)), at(9, 9, Final, OK, read(1, 1))}},
		"a read at a standby may be old": {"", []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Standby, OK, read(1)), at(9, 9, Final, OK, read(1, 1))}},
		"a standby may show what is lost, if nobody was told that it is safe": {"", []Transaction{
			at(0, 1, Primary, Unknown, add(1, 1)), at(2, 3, Standby, OK, read(1, 1)), at(9, 9, Final, OK)}},
		"but not in another order": {Diverged, []Transaction{
			at(0, 9, Primary, Unknown, add(1, 1)), at(0, 9, Primary, Unknown, add(1, 2)), at(2, 3, Standby, OK, read(1, 2, 1)), at(9, 9, Final, OK, read(1, 1, 2))}},
		"so may the primary, to one that only reads": {"", []Transaction{
			at(0, 1, Primary, Unknown, add(1, 1)), at(2, 3, Primary, OK, read(1, 1)), at(9, 9, Final, OK)}},
		"not to one whose own commit was acknowledged": {Diverged, []Transaction{
			at(0, 1, Primary, Unknown, add(1, 1)), at(2, 3, Primary, OK, read(1, 1), add(2, 2)), at(9, 9, Final, OK, read(2, 2))}},
		"two transactions do not see each other": {Cycle, []Transaction{
			at(0, 9, Primary, OK, read(1), add(2, 2)), at(0, 9, Primary, OK, read(2), add(1, 1)), at(9, 9, Final, OK, read(1, 1), read(2, 2))}},
		"two transactions see each other": {Cycle, []Transaction{
			at(0, 9, Primary, OK, read(1, 1), add(2, 2)), at(0, 9, Primary, OK, read(2, 2), add(1, 1)), at(9, 9, Final, OK, read(1, 1), read(2, 2))}},
		"a later transaction is before an earlier one": {Cycle, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, OK, add(1, 2)), at(9, 9, Final, OK, read(1, 2, 1))}},
		"not if they overlap": {"", []Transaction{
			at(0, 2, Primary, OK, add(1, 1)), at(1, 3, Primary, OK, add(1, 2)), at(9, 9, Final, OK, read(1, 2, 1))}},
		"a commit without an answer may come later": {"", []Transaction{
			at(0, 1, Primary, Unknown, add(1, 1)), at(2, 3, Primary, OK, add(1, 2)), at(9, 9, Final, OK, read(1, 2, 1))}},
		"two servers take turns": {TwoPrimaries, []Transaction{
			on("A", at(0, 1, Primary, OK, add(1, 1))), on("B", at(2, 3, Primary, OK, add(2, 2))),
			on("A", at(4, 5, Primary, OK, add(1, 3))), at(9, 9, Final, OK, read(1, 1, 3), read(2, 2))}},
		"one server comes after the other": {"", []Transaction{
			on("A", at(0, 1, Primary, OK, add(1, 1))), on("A", at(1, 3, Primary, OK, add(1, 2))),
			on("B", at(2, 5, Primary, OK, add(1, 3))), at(9, 9, Final, OK, read(1, 1, 2, 3))}},
	} {
		t.Run(name, func(t *testing.T) {
			found := Judge(History{Transactions: tc.transactions})
			if tc.want == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Equal(t, tc.want, found[0].Kind, found[0])
		})
	}
}

func TestLossThatWasAllowed(t *testing.T) {
	for name, tc := range map[string]struct {
		want         []Kind
		transactions []Transaction
	}{
		"what was acknowledged before": {nil, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, OK, read(1, 1), add(1, 2)),
			at(6, 7, Primary, OK, read(1, 1), add(1, 3)), at(9, 9, Final, OK, read(1, 1, 3))}},
		"what only a reader has read": {nil, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, OK, read(1, 1)), at(9, 9, Final, OK)}},
		"a read before what was appended after": {[]Kind{Unwritten}, []Transaction{
			at(2, 3, Primary, OK, read(1, 1)), at(6, 7, Primary, OK, add(1, 1)), at(9, 9, Final, OK, read(1, 1))}},
		"what was acknowledged after": {[]Kind{Lost}, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(6, 7, Primary, OK, add(1, 2)), at(9, 9, Final, OK)}},
		"an old read before": {[]Kind{Stale}, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(2, 3, Primary, OK, read(1)), at(9, 9, Final, OK)}},
		"lists that fork after": {[]Kind{Diverged}, []Transaction{
			at(0, 1, Primary, OK, add(1, 1)), at(6, 7, Primary, OK, read(1, 1), add(2, 2)), at(9, 9, Final, OK, read(2, 2))}},
	} {
		t.Run(name, func(t *testing.T) {
			var kinds []Kind
			for _, a := range Judge(History{Transactions: tc.transactions, LossAllowed: []time.Duration{5 * time.Millisecond}}) {
				kinds = append(kinds, a.Kind)
			}
			assert.Equal(t, tc.want, kinds)
		})
	}
}

// damages make an anomaly of a kind in a history that has none. They return false if it has no place
// for it.
var damages = map[Kind]func(History, *rand.Rand) bool{
	Lost: func(h History, r *rand.Rand) bool {
		t := pick(h, r, func(t Transaction) bool { return t.Source == Primary && t.Outcome == OK && t.Ops[0].Append != 0 })
		return t != nil && edit(h, func(_ Transaction, list []int) []int { // nobody has ever read it
			return slices.DeleteFunc(list, func(v int) bool { return v == t.Ops[0].Append })
		})
	},
	Aborted: func(h History, r *rand.Rand) bool {
		t := pick(h, r, func(t Transaction) bool { return t.Source == Primary && t.Outcome == OK && t.Ops[0].Append != 0 })
		if t != nil {
			t.Outcome = Failed
		}
		return t != nil
	},
	Diverged: func(h History, r *rand.Rand) bool {
		t := pick(h, r, func(t Transaction) bool {
			return t.Outcome == OK && t.Source != Final && len(t.Ops) == 1 && len(t.Ops[0].List) > 1
		})
		if t != nil {
			slices.Reverse(t.Ops[0].List)
		}
		return t != nil
	},
	Stale: func(h History, r *rand.Rand) bool {
		t := pick(h, r, func(t Transaction) bool {
			return t.Outcome == OK && t.Source == Primary && len(t.Ops) == 1 && len(t.Ops[0].List) > 20
		})
		if t != nil {
			t.Ops[0].List = nil
		}
		return t != nil
	},
	MembersDiffer: func(h History, r *rand.Rand) bool {
		last := &h.Transactions[len(h.Transactions)-1].Ops[r.IntN(keys)]
		last.List = last.List[:max(0, len(last.List)-1-r.IntN(3))]
		return true
	},
}

func pick(h History, r *rand.Rand, is func(Transaction) bool) *Transaction {
	for _, i := range r.Perm(len(h.Transactions)) {
		if is(h.Transactions[i]) {
			return &h.Transactions[i]
		}
	}
	return nil
}

func edit(h History, change func(Transaction, []int) []int) bool {
	for _, t := range h.Transactions {
		for n := range t.Ops {
			t.Ops[n].List = change(t, t.Ops[n].List)
		}
	}
	return true
}

// FuzzJudge has the judge see that a history is right, and that it is not after a damage.
func FuzzJudge(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		require.Empty(t, Judge(newSimulator(seed).run(200)), "seed %d", seed)
		for kind, damage := range damages {
			h := newSimulator(seed).run(200)
			if !damage(h, rand.New(rand.NewPCG(seed, 1))) {
				continue
			}
			found := Judge(h)
			sees := slices.ContainsFunc(found, func(a Anomaly) bool { return a.Kind == kind })
			require.True(t, sees, "seed %d, %s: %s", seed, kind, Summary(h, found))
		}
	})
}

// A database whose transactions read at their begin and write at their end is not serializable.
func TestSnapshotsAreSeen(t *testing.T) {
	for seed := range uint64(20) {
		s := newSimulator(seed)
		s.readsAtBegin = true
		assert.NotEmpty(t, Judge(s.run(200)), "seed %d", seed)
	}
}

// The file was recorded of a PostgresCluster of two members, db-1 and db-2, whose operator took two timelines of one
// number for the same. db-1 lost its node, db-2 was promoted, got a commit that waited, and lost its
// node; a person allowed to make db-1 the primary, at the same position of the log. Clients appended
// to twelve lists, and waited; db-2 came back, and all of them were told that their commits are safe. Redundant
// was True. Then the primary was killed.
func TestTimelineThatWasBegunTwice(t *testing.T) {
	file, err := os.Open("testdata/same-timeline-twice.jsonl")
	require.NoError(t, err)
	defer file.Close()
	h, err := Read(file)
	require.NoError(t, err)
	found := Judge(h)
	require.Len(t, found, 1)
	assert.Equal(t, Lost, found[0].Kind)
	assert.Contains(t, found[0].Transactions[0], "client 2")
}

func TestFileOfAHistory(t *testing.T) {
	h := newSimulator(1).run(20)
	h.LossAllowed = []time.Duration{time.Second}
	var file bytes.Buffer
	require.NoError(t, h.Write(&file))
	got, err := Read(&file)
	require.NoError(t, err)
	assert.Equal(t, Judge(h), Judge(got))
	assert.Len(t, got.Transactions, len(h.Transactions))
	assert.Equal(t, h.LossAllowed, got.LossAllowed)

	_, err = Read(bytes.NewBufferString(`{"client":"A"}` + "\nno JSON"))
	assert.ErrorContains(t, err, "entry 2 of the history")
}

func TestReport(t *testing.T) {
	h := History{Transactions: []Transaction{
		on("A", at(0, 9, Primary, OK, read(1), add(2, 2))), at(0, 9, Primary, OK, read(2), add(1, 1)), at(9, 10, Final, OK, read(1, 1), read(2, 2))}}
	assert.Equal(t, `3 transactions: 3 acknowledged, 0 failed, 0 unknown; 1 anomalies
cycle: 0 has read list 1 without what was appended by 1, 1 has read list 2 without what was appended by 0
	0: client, 0.000 s to 0.009 s, primary on A, timeline 2: list 1 is []; append 2 to list 2: ok
	1: client, 0.000 s to 0.009 s, primary: list 2 is []; append 1 to list 1: ok
`, Summary(h, Judge(h)))
}
