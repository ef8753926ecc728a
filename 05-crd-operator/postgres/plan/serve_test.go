package plan_test

import (
	"testing"
	"time"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func wantsSize(n int32) change {
	return specOf(func(s *postgres.PostgresClusterSpec) { s.Size = n })
}

func wantsPrimary(name string) change {
	return specOf(func(s *postgres.PostgresClusterSpec) { s.Primary = name })
}

const election = "Electing, term 2, standby db-2, synced [db-1 db-2]"

func TestAPrimaryIsLost(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"not if all is well":                                      {well(3), ""},
		"when its pod has ended":                                  {well(2, ended("db-1")), election},
		"when its pod is being deleted":                           {well(2, ofMember("db-1", func(m *plan.Member) { m.Pod.Deleting = true })), election},
		"when its pod is gone":                                    {well(2, noPod("db-1")), election},
		"when its pod is another one":                             {well(2, ofMember("db-1", func(m *plan.Member) { m.Pod.UID = "another" })), election},
		"when it has not answered for 3 seconds":                  {well(2, silent("db-1", 4*time.Second)), election},
		"not before that":                                         {well(2, silent("db-1", 2*time.Second)), ""},
		"when it takes no writes":                                 {well(2, reported("db-1", func(r *plan.Report) { r.Writable = false })), election},
		"but nobody takes over while it is paused":                {well(2, ended("db-1"), specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), ""},
		"and a pod that somebody deletes may go then":             {well(2, ended("db-1"), ofMember("db-1", func(m *plan.Member) { m.Pod.Deleting = true }), specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), "RemovePod db-1"},
		"not when a member is wanted that is there":               {well(2, wantsPrimary("db-1")), ""},
		"when another is wanted that is synced":                   {well(2, wantsPrimary("db-2")), election},
		"not when the wanted one is not synced":                   {well(3, wantsPrimary("db-3"), streaming("db-2")), ""},
		"not when the wanted one does not answer":                 {well(2, wantsPrimary("db-2"), silent("db-2", time.Second)), ""},
		"when its disk is being deleted, and a standby is synced": {well(2, disk("db-1", plan.DiskDeleting)), election},
		"not if it has the last copy":                             {well(1, disk("db-1", plan.DiskDeleting)), ""},
	})
}

// passedOver is a primary that may have acknowledged commits which its standby lacks.
func passedOver(o *plan.Observed) {
	reported("db-1", func(r *plan.Report) { r.Alone, r.SyncedWith = true, "" })(o)
}

func TestAMemberIsRepaired(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"a pod that has ended is removed":          {well(2, ended("db-2")), "RemovePod db-2"},
		"and made again on its disk":               {well(2, noPod("db-2")), "CreateMember db-2"},
		"not if it was made a moment ago":          {well(2, noPod("db-2"), tooSoon("db-2")), ""},
		"and others do not wait for that":          {well(3, noPod("db-2"), tooSoon("db-2"), streaming("db-3")), "Running, term 1, primary db-1, standby db-3, synced [db-1]"},
		"a silent one is waited for":               {well(3, silent("db-3", 19*time.Second)), ""},
		"and replaced after 20 seconds":            {well(3, silent("db-3", 21*time.Second)), "DeletePod db-3"},
		"one whose disk is deleted is made again":  {well(3, disk("db-3", plan.DiskDeleting)), "DeletePod db-3"},
		"but first it is not synced any more":      {well(2, disk("db-2", plan.DiskDeleting)), "Running, term 1, primary db-1, standby db-2, synced [db-1]"},
		"one that has lost its data is not synced": {well(2, reported("db-2", func(r *plan.Report) { r.Data = plan.Empty })), "Running, term 1, primary db-1, standby db-2, synced [db-1]"},
		"one that was passed over is not, either":  {well(2, passedOver), "Running, term 1, primary db-1, standby db-2, synced [db-1]"},
		"what it says of another term is not that": {well(2, passedOver, reported("db-1", func(r *plan.Report) { r.Term = 0 })), ""},
		"a standby is labelled before the primary": {well(2, ofMember("db-1", func(m *plan.Member) { m.Pod.Role = plan.NoRole }), ofMember("db-2", func(m *plan.Member) { m.Pod.Role = plan.Primary })), "SetRole db-2 standby"},
		"and then the primary":                     {well(2, ofMember("db-1", func(m *plan.Member) { m.Pod.Role = plan.NoRole })), "SetRole db-1 primary"},
	})
}

func TestAClusterIsResized(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"a member joins with the lowest free number":        {well(3, absent("db-2"), streaming("db-3"), statusOf(unnamed)), "CreateMember db-2"},
		"not one that could not be made a moment ago":       {well(2, wantsSize(3), tooSoon("db-3")), ""},
		"only one at a time":                                {well(1, wantsSize(3), adds(standby(2))), ""},
		"not before the primary answers":                    {well(2, wantsSize(3), silent("db-1", time.Second)), ""},
		"one that does not answer leaves first":             {well(4, wantsSize(3), silent("db-3", time.Second)), "DeletePod db-3"},
		"then the one with the highest number":              {well(4, wantsSize(3)), "DeletePod db-4"},
		"its pod is removed":                                {well(3, wantsSize(2), ended("db-3")), "RemovePod db-3"},
		"then its disk":                                     {well(3, wantsSize(2), noPod("db-3")), "DeleteDisk db-3"},
		"and that is waited for":                            {well(3, wantsSize(2), noPod("db-3"), disk("db-3", plan.DiskDeleting)), ""},
		"the standby stays":                                 {well(3, wantsSize(2), waitsForThird), "DeletePod db-2"},
		"the member that is wanted stays":                   {well(3, wantsSize(2), wantsPrimary("db-3")), "Running, term 1, primary db-1, standby db-3, synced [db-1]"},
		"a synced member leaves only when it is not synced": {well(2, wantsSize(1)), "Running, term 1, primary db-1, synced [db-1]"},
		"not before the primary knows of that":              {well(2, wantsSize(1), silent("db-1", time.Second)), ""},
		"then it leaves":                                    {well(2, wantsSize(1), statusOf(unnamed), reported("db-1", unnamedToo)), "DeletePod db-2"},
		"commits that wait for it are released first":       {well(2, wantsSize(1), statusOf(unnamed), silent("db-1", time.Second)), "DeletePod db-2"},
	})
}

// waitsForThird is a cluster in which db-3 is synced, and db-2 streams as well.
func waitsForThird(o *plan.Observed) {
	o.Cluster.Status.Standby, o.Cluster.Status.Synced = "db-3", []string{"db-1", "db-3"}
	o.Members[0].Report.Names, o.Members[0].Report.SyncedWith = "db-3", "db-3"
}

func unnamed(s *postgres.PostgresClusterStatus) { s.Standby, s.Synced = "", []string{s.Primary} }

func unnamedToo(r *plan.Report) { r.Names, r.SyncedWith = "", "" }

func adds(m plan.Member) change { return func(o *plan.Observed) { o.Members = append(o.Members, m) } }

func TestCommitsWaitForAStandby(t *testing.T) {
	alone := []change{statusOf(unnamed), reported("db-1", unnamedToo)}
	waits := statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} })
	published := "Running, term 1, primary db-1, standby db-2, synced [db-1 db-2]"
	testDecisions(t, map[string]decisionCase{
		"the first that streams is named":               {well(2, alone...), "Running, term 1, primary db-1, standby db-2, synced [db-1]"},
		"nobody if none streams":                        {well(2, append(alone, streaming())...), ""},
		"nobody in a cluster of one":                    {well(2, append(alone, wantsSize(1), noPod("db-2"), disk("db-2", plan.DiskDeleting))...), ""},
		"it is published when it has everything":        {well(2, waits), published},
		"not before that":                               {well(2, waits, reported("db-1", func(r *plan.Report) { r.SyncedWith = "" })), ""},
		"not if it does not know of the term":           {well(2, waits, reported("db-2", func(r *plan.Report) { r.Term = 0 })), ""},
		"not if it follows another member":              {well(2, waits, reported("db-2", func(r *plan.Report) { r.Following = "db-3" })), ""},
		"not if it does not answer":                     {well(2, waits, silent("db-2", time.Second)), ""},
		"not on the word of a primary of another term":  {well(2, waits, reported("db-1", func(r *plan.Report) { r.Term = 0 })), ""},
		"it stays while it streams":                     {well(3, waitsForThird), ""},
		"it stays if no other streams":                  {well(3, streaming()), ""},
		"another takes its place if that one streams":   {well(3, streaming("db-3")), "Running, term 1, primary db-1, standby db-3, synced [db-1]"},
		"even if that one was to leave":                 {well(3, wantsSize(2), streaming("db-3")), "Running, term 1, primary db-1, standby db-3, synced [db-1]"},
		"but not before the last choice is in force":    {well(3, streaming("db-3"), reported("db-1", func(r *plan.Report) { r.Names = "" })), ""},
		"and none that is on its way out":               {well(3, streaming("db-3"), disk("db-3", plan.DiskDeleting), ofMember("db-3", func(m *plan.Member) { m.Pod.Deleting = true })), ""},
		"and not one whose disk is being deleted":       {well(3, streaming("db-3"), disk("db-3", plan.DiskDeleting)), "DeletePod db-3"},
		"the member that is wanted as primary is named": {well(3, wantsPrimary("db-3")), "Running, term 1, primary db-1, standby db-3, synced [db-1]"},
	})
}
