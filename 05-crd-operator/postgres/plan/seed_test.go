package plan_test

import (
	"testing"
	"time"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func isSeeding(s *postgres.PostgresClusterStatus) {
	*s = postgres.PostgresClusterStatus{Phase: postgres.Seeding, Term: 1, Primary: "db-1"}
}

// beginning is a cluster whose first member has made the database.
func beginning(changes ...change) plan.Observed {
	o := well(1, statusOf(isSeeding), reported("db-1", func(r *plan.Report) { r.Writable = false }))
	o.Lease.Holder = ""
	return with(o, changes)
}

func TestAClusterBeginsWithOneMember(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"the first member is named":                              {nothing(3), "Seeding, term 1, primary db-1, synced []"},
		"a version that the image does not have is refused":      {nothing(3, specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "16" })), ""},
		"a version that the image has is not":                    {nothing(3, specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "17" })), "Seeding, term 1, primary db-1, synced []"},
		"nothing begins on somebody else's disk of backups":      {nothing(3, foreignDisk, specOf(func(s *postgres.PostgresClusterSpec) { s.Backup = &postgres.Backup{Schedule: "@every 1h"} })), ""},
		"paused, nothing begins":                                 {nothing(3, specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), ""},
		"its disk and its pod are created":                       {nothing(3, statusOf(isSeeding)), "CreateMember db-1"},
		"not if they could not be created a moment ago":          {nothing(3, statusOf(isSeeding), tooSoon("db-1")), ""},
		"it is waited for while it makes the database":           {beginning(reported("db-1", func(r *plan.Report) { r.Data, r.Running = plan.Empty, false })), ""},
		"a pod that ends is removed":                             {beginning(ended("db-1")), "RemovePod db-1"},
		"and made again on its disk":                             {beginning(noPod("db-1")), "CreateMember db-1"},
		"a pod that was not started is waited for":               {beginning(silent("db-1", time.Hour), ofMember("db-1", func(m *plan.Member) { m.Pod.Started = false })), ""},
		"one that does not answer is replaced after 20 seconds":  {beginning(silent("db-1", 21*time.Second)), "DeletePod db-1"},
		"once the database is there, its member becomes primary": {beginning(), "Promoting, term 1, primary db-1, synced [db-1]"},
		"a report of another pod of that name does not count":    {beginning(reported("db-1", func(r *plan.Report) { r.UID = "another" })), ""},
	})
}
