package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// NoSpace reports whether the disk of a synced member is nearly full. Then the primary takes no
// writes: neither it nor its standby could receive them. Another member, whose disk alone is full,
// falls behind.
func NoSpace(s postgres.PostgresClusterStatus) bool {
	return slices.ContainsFunc(s.Members, func(m postgres.MemberStatus) bool { return m.Full && slices.Contains(s.Synced, m.Name) })
}

// full reports whether the member's disk was nearly full when it answered last.
func (m Member) full() bool {
	report := cmp.Or(m.Report, m.Last)
	return report != nil && report.Full
}

// noSpace is which disks are nearly full, and what to do, or empty.
func (o Observed) noSpace(s postgres.PostgresClusterStatus) string {
	var full []string
	for _, m := range s.Members {
		if m.Full {
			full = append(full, m.Name)
		}
	}
	if len(full) == 0 {
		return ""
	}
	problems := []string{"nearly full: the disk of " + strings.Join(full, ", that of ")}
	if NoSpace(s) {
		problems = append(problems, "no writes are taken")
	}
	for _, l := range s.Lost {
		if l.Folder != "" && slices.Contains(full, l.Member) {
			problems = append(problems, fmt.Sprintf("that of %s also has the folder %s (status.lost)", l.Member, l.Folder))
		}
	}
	return strings.Join(problems, "; ") + ". Raise spec.storage, which is " + o.Cluster.Spec.Storage.String() +
		", or delete data in a session that begins with SET default_transaction_read_only = off"
}
