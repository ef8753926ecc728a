package plan_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func knowsTimeline(name string, timeline int32) change {
	return reported(name, func(r *plan.Report) { r.Timeline = timeline })
}

func unaware(name string) change { return reported(name, func(r *plan.Report) { r.Term = 1 }) }

func TestTheLastPrimaryIsFenced(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"one that answers stops by itself":                 {electing(2, held("db-1", false)), ""},
		"one that has been silent for 3 seconds is killed": {electing(2, held("db-1", false), silent("db-1", 4*time.Second)), "DeletePod db-1"},
		"also if it could not be made again":               {electing(2, imageOf("18"), old("db-1", "db-2"), held("db-1", false), silent("db-1", 4*time.Second)), "DeletePod db-1"},
		"not before that":                                  {electing(2, held("db-1", false), silent("db-1", 2*time.Second)), ""},
		"its Lease is freed when its pod has ended":        {electing(2, held("db-1", false), ended("db-1")), "FreeLease db-1"},
		"otherwise the Lease has to run out":               {electing(2, held("db-1", false), noPod("db-1")), "CreateMember db-1"},
		"then it is freed, too":                            {electing(2, held("db-1", true), silent("db-1", 2*time.Second)), "FreeLease db-1"},
		"even if the pod is gone":                          {electing(2, held("another", true)), "FreeLease"},
		"nobody is named before that":                      {electing(2, held("another", false)), ""},
		"nobody is elected while the cluster is paused":    {electing(2, specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), ""},
	})
}

func TestTheNextPrimaryIsChosen(t *testing.T) {
	both := "Promoting, term 2, primary db-2, standby db-1, synced [db-2]"
	testDecisions(t, map[string]decisionCase{
		"the standby comes before the last primary":                {electing(2), both},
		"the last primary if the standby is not there":             {electing(2, noPod("db-2")), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"the one that is wanted before both":                       {electing(2, wantsPrimary("db-1")), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"with a higher term if a timeline of this one is known":    {electing(2, knowsTimeline("db-1", 7)), "Promoting, term 7, primary db-2, standby db-1, synced [db-2]"},
		"also by one that is silent now":                           {electing(2, knowsTimeline("db-1", 7), silent("db-1", time.Second)), "Promoting, term 7, primary db-2, standby db-1, synced [db-2]"},
		"not if the newest is the last term's":                     {electing(2, knowsTimeline("db-1", 2)), both},
		"but not if its disk is being deleted":                     {electing(2, wantsPrimary("db-1"), disk("db-1", plan.DiskDeleting)), both},
		"nor if its image is not the operator's":                   {electing(2, wantsPrimary("db-1"), old("db-1")), both},
		"one with another image rather than nobody":                {electing(2, old("db-1"), noPod("db-2"), tooSoon("db-2")), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"also if the operator's image is of another major version": {electing(2, imageOf("18"), old("db-1", "db-2")), both},
		"a better one gets 3 seconds to learn of the election":     {electing(2, unaware("db-2")), ""},
		"and not more":                                               {electing(2, unaware("db-2"), waited(4*time.Second)), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"nobody who takes writes":                                    {electing(1, reported("db-1", func(r *plan.Report) { r.Writable = true })), ""},
		"nobody whose PostgreSQL does not run":                       {electing(1, reported("db-1", func(r *plan.Report) { r.Running = false })), ""},
		"nobody without data":                                        {electing(1, reported("db-1", func(r *plan.Report) { r.Data = plan.Empty })), ""},
		"never one that is not synced":                               {electing(3, ended("db-1"), ended("db-2")), "RemovePod db-1"},
		"commits will wait for a third rather than the last primary": {electing(3), "Promoting, term 2, primary db-2, standby db-3, synced [db-2]"},
		"for the last primary if there is no other":                  {electing(3, silent("db-3", time.Second)), both},
		"for a member that will be made if there is none":            {electing(2, absent("db-1")), both},
		"for nobody if one member is enough":                         {electing(2, wantsSize(1)), "Promoting, term 2, primary db-2, synced [db-2]"},
		"for nobody in a cluster of one":                             {electing(1), "Promoting, term 2, primary db-1, synced [db-1]"},
	})
}

// hasFailed is an election after db-2 was named, in term 1, and has not become the primary.
func hasFailed(s *postgres.PostgresClusterStatus) {
	s.Synced, s.SyncedBefore = []string{"db-2"}, []string{"db-1", "db-2"}
}

func TestAPromotionHasFailed(t *testing.T) {
	failed := statusOf(hasFailed)
	other := "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"
	testDecisions(t, map[string]decisionCase{
		"the other one that was synced is tried":       {electing(2, failed), other},
		"also if the one that has failed is wanted":    {electing(2, failed, wantsPrimary("db-2")), other},
		"not if that one was promoted all the same":    {electing(2, failed, knowsTimeline("db-2", plan.TimelineOf(1))), "Promoting, term 2, primary db-2, standby db-1, synced [db-2]"},
		"nor if it does not say so":                    {electing(2, failed, silent("db-2", time.Second)), ""},
		"nor before it knows of this term":             {electing(2, failed, unaware("db-2")), ""},
		"nor while it takes writes":                    {electing(2, failed, reported("db-2", func(r *plan.Report) { r.Writable = true })), ""},
		"nor if its disk is empty":                     {electing(2, failed, reported("db-2", func(r *plan.Report) { r.Data = plan.Empty })), ""},
		"it is tried again if the other one is absent": {electing(2, failed, noPod("db-1")), "Promoting, term 2, primary db-2, standby db-1, synced [db-2]"},
	})
}

func TestWhoWasSyncedIsKeptUntilThereIsAPrimary(t *testing.T) {
	both := []string{"db-1", "db-2"}
	allowed := statusOf(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Synced, s.SyncedBefore = postgres.Unsafe, []string{"db-1"}, both
	})
	for name, tc := range map[string]struct {
		observed plan.Observed
		want     []string
	}{
		"when one of them is named":                       {electing(2), both},
		"when another one is, after that has failed":      {electing(2, statusOf(hasFailed)), []string{"db-2", "db-1"}},
		"not once the named one was promoted":             {electing(2, statusOf(hasFailed), knowsTimeline("db-2", plan.TimelineOf(1))), []string{"db-2"}},
		"not when a person allows to lose what they have": {electing(2, noPod("db-1"), leave("db-2", 2), allowed, waited(time.Minute)), nil},
		"and not when there is a primary":                 {well(2, statusOf(hasFailed), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Promoting })), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := plan.Cluster(tc.observed); d.Status == nil || !slices.Equal(d.Status.SyncedBefore, tc.want) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestNobodyCanBeChosen(t *testing.T) {
	lost := []change{absent("db-1"), waited(11 * time.Second), statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} })}
	isUnsafe := append(lost, statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Unsafe }))
	also := func(changes []change, more ...change) plan.Observed {
		return electing(2, append(slices.Clip(changes), more...)...)
	}
	testDecisions(t, map[string]decisionCase{
		"at first it is waited":                                 {also(lost, waited(9*time.Second)), ""},
		"then people are told":                                  {also(lost), "Unsafe, term 2, standby db-2, synced [db-1]"},
		"they may allow to lose data":                           {also(isUnsafe, leave("db-2", 2)), "Promoting, term 2, primary db-2, standby db-1, synced [db-2]"},
		"not in advance":                                        {also(lost, waited(9*time.Second), leave("db-2", 2)), ""},
		"what they allowed in another term does not count":      {also(isUnsafe, leave("db-2", 1)), ""},
		"the member has to be there":                            {also(isUnsafe, leave("db-3", 2)), ""},
		"a synced member that comes back is the better choice":  {electing(2, waited(time.Hour), leave("db-2", 2), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Synced = postgres.Unsafe, []string{"db-1"} })), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"members are repaired all the same":                     {also(isUnsafe, noPod("db-2")), "CreateMember db-2"},
		"also that of one that was synced before":               {electing(2, statusOf(hasFailed), unaware("db-2"), disk("db-1", plan.DiskDeleting)), ""},
		"a disk that is being deleted stays as long as its pod": {electing(1, unaware("db-1"), disk("db-1", plan.DiskDeleting)), ""},
	})
}

// The primary is alone in having all commits, and its pod cannot be seen for a while. Two others are
// ready, and none of them is named; when the pod is seen again it is, without a person.
func TestTheOnlySyncedMemberIsAwaited(t *testing.T) {
	alone := func(phase postgres.Phase, changes ...change) plan.Observed {
		changes = append(changes, waited(time.Minute), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Synced = phase, []string{"db-1"} }))
		return electing(3, changes...)
	}
	testDecisions(t, map[string]decisionCase{
		"it is there":                   {alone(postgres.Electing), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"nothing but its disk is":       {alone(postgres.Electing, noPod("db-1"), tooSoon("db-1")), "Unsafe, term 2, standby db-2, synced [db-1]"},
		"not even that":                 {alone(postgres.Electing, absent("db-1")), "Unsafe, term 2, standby db-2, synced [db-1]"},
		"it has not seen the election":  {alone(postgres.Electing, unaware("db-1")), "Unsafe, term 2, standby db-2, synced [db-1]"},
		"its pod is tried, not others":  {alone(postgres.Unsafe, noPod("db-1")), "CreateMember db-1"},
		"then it is there again":        {alone(postgres.Unsafe), "Promoting, term 2, primary db-1, standby db-2, synced [db-1]"},
		"also if it does not take part": {alone(postgres.Unsafe, unaware("db-1")), ""},
	})
}

// A person must not be led to lose data that are there.
func TestWhyNobodyCanBeChosen(t *testing.T) {
	gone := "the disks of all members that had every acknowledged commit are gone: [db-1]; bring one of them back, or set spec.allowDataLoss with term 2"
	waits := func(reason string) string {
		return "db-1 has every acknowledged commit, and cannot be the primary yet: " + reason + "; nothing is lost: see what keeps it, or delete its PersistentVolumeClaim if that disk will never come back"
	}
	for name, tc := range map[string]struct {
		change change
		want   string
	}{
		"its disk is gone":             {absent("db-1"), gone},
		"its disk is being deleted":    {disk("db-1", plan.DiskDeleting), gone},
		"its disk is empty":            {reported("db-1", func(r *plan.Report) { r.Data = plan.Empty }), gone},
		"it has no pod":                {noPod("db-1"), waits("it has no pod")},
		"its pod has ended":            {ended("db-1"), waits("its pod has ended")},
		"its node is gone":             {ofMember("db-1", func(m *plan.Member) { m.Pod.Deleting, m.Report = true, nil }), waits("its pod is being deleted, and its kubelet has not reported the end")},
		"its pod has no node":          {ofMember("db-1", func(m *plan.Member) { m.Pod.Started, m.Report = false, nil }), waits("its pod has not started")},
		"its agent does not answer":    {silent("db-1", time.Minute), waits("its agent does not answer")},
		"its PostgreSQL does not":      {reported("db-1", func(r *plan.Report) { r.Running = false }), waits("its PostgreSQL does not answer")},
		"its last step has failed":     {reported("db-1", func(r *plan.Report) { r.Trouble = "no space left on device" }), waits("no space left on device")},
		"the Lease has to run out":     {held("another", false), waits("the Lease of the last primary has not run out")},
		"it does not see the election": {unaware("db-1"), waits("it has not seen this election yet")},
	} {
		t.Run(name, func(t *testing.T) {
			o := electing(2, tc.change, waited(11*time.Second), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Synced = postgres.Unsafe, []string{"db-1"} }))
			o.Describe(&o.Cluster.Status)
			if c := meta.FindStatusCondition(o.Cluster.Status.Conditions, postgres.Available); c.Message != "there is no primary: "+tc.want {
				t.Errorf("got  %s\nwant %s", c.Message, tc.want)
			}
		})
	}
}

func TestWhatIsLostIsReported(t *testing.T) {
	o := electing(2, silent("db-1", time.Minute), leave("db-2", 2), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Synced = postgres.Unsafe, []string{"db-1"} }))
	o.Members[0].Last.Received = 0x180
	if d, want := plan.Cluster(o), "db-2 has the log up to 0/100, and db-1 was last seen at 0/180: what lies between is lost"; d.Note != want {
		t.Errorf("got %q, want %q", d.Note, want)
	}
}

func TestAllowedLossMakesTheLastBackupDoubtful(t *testing.T) {
	o := electing(2, silent("db-1", time.Minute), leave("db-2", 2), begun(0, 0), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Synced = postgres.Unsafe, []string{"db-1"} }))
	if d := plan.Cluster(o); d.Status == nil || d.Status.Backup.Begun != nil {
		t.Errorf("the next base backup is not due at once: got %+v", d)
	}
}

func TestTheNamedMemberIsAwaited(t *testing.T) {
	named := func(changes ...change) plan.Observed {
		return electing(2, append([]change{held("db-2", false), statusOf(func(s *postgres.PostgresClusterStatus) {
			s.Phase, s.Primary, s.PrimaryUID, s.Standby, s.Synced = postgres.Promoting, "db-2", uid("db-2"), "db-1", []string{"db-2"}
		})}, changes...)...)
	}
	again := "Electing, term 3, standby db-1, synced [db-2]"
	testDecisions(t, map[string]decisionCase{
		"until it takes writes":                   {named(), ""},
		"then the cluster runs":                   {named(reported("db-2", func(r *plan.Report) { r.Writable = true })), "Running, term 2, primary db-2, standby db-1, synced [db-2]"},
		"it does not count if that was last term": {named(reported("db-2", func(r *plan.Report) { r.Writable, r.Term = true, 1 })), ""},
		"if its pod ends, there is an election":   {named(ended("db-2")), again},
		"or if it was promoted and has stopped":   {named(knowsTimeline("db-2", plan.TimelineOf(2))), again},
		"not if that was in the last term":        {named(knowsTimeline("db-2", plan.TimelineOf(1))), ""},
		"or if that is another pod":               {named(ofMember("db-2", func(m *plan.Member) { m.Pod.UID = "another" })), again},
		"one that is silent is waited for":        {named(silent("db-2", 19*time.Second)), ""},
		"and replaced after 20 seconds":           {named(silent("db-2", 21*time.Second)), "DeletePod db-2"},
		"meanwhile, others are repaired":          {named(noPod("db-1")), "CreateMember db-1"},
	})
}
