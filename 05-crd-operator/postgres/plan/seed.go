package plan

import (
	"fmt"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// seed has the first member make a database. That happens in this phase only: later, an empty
// disk is a loss. A disk that has a database already is taken as it is. Then the member is
// promoted like any other.
func (o Observed) seed() Decision {
	m := o.member(MemberName(o.Cluster, 1))
	switch {
	case o.refusal() != "":
		return Decision{}
	case o.Cluster.Status.Phase == "":
		return o.write("Seeding", m.Name+" makes the database", func(s *postgres.PostgresClusterStatus) {
			s.Phase, s.Term, s.Primary = postgres.Seeding, 1, m.Name
		})
	case m.Disk == NoDisk && m.Pod == nil && !o.tooSoon(m.Name):
		return Decision{Action: CreateMember, Member: m.Name}
	case o.eligible(m):
		return o.promote(m, "Seeded", m.Name+" has made the database")
	}
	return o.repair()
}

// refusal is why the spec cannot be had.
func (o Observed) refusal() string {
	if wanted := o.Cluster.Spec.Version; wanted != "" && wanted != o.Version {
		return fmt.Sprintf("the image has PostgreSQL %s, and spec.version asks for %s; set it to %q, or give the operator another image", o.Version, wanted, o.Version)
	}
	return ""
}
