package plan_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// old has the pods of these members have another image than the operator.
func old(names ...string) change {
	return func(o *plan.Observed) {
		for _, name := range names {
			ofMember(name, func(m *plan.Member) { m.Pod.Outdated = true })(o)
		}
	}
}

func imageOf(version string) change { return func(o *plan.Observed) { o.Version = version } }

// waiting is a pod that waits for its image.
func waiting(name string) change {
	return ofMember(name, func(m *plan.Member) { m.Pod.Started, m.Report = false, nil })
}

func notSynced(s *postgres.PostgresClusterStatus) { s.Synced = []string{s.Primary} }

func TestAPodIsReplacedThatHasAnotherImage(t *testing.T) {
	all := old("db-1", "db-2", "db-3")
	chooses := "Running, term 1, primary db-1, standby db-3, synced [db-1]"
	testDecisions(t, map[string]decisionCase{
		"first a member for which no commit waits":             {well(3, all), "DeletePod db-3"},
		"and commits wait for none that is on its way out":     {well(4, old("db-1", "db-2", "db-3", "db-4"), ofMember("db-3", func(m *plan.Member) { m.Pod.Deleting = true })), ""},
		"not while another is away":                            {well(4, all, noPod("db-4"), tooSoon("db-4"), streaming("db-2", "db-3")), ""},
		"not while another does not stream":                    {well(3, all, streaming("db-2")), ""},
		"not while another does not answer":                    {well(3, all, silent("db-3", time.Second)), ""},
		"not while another does not follow":                    {well(3, all, reported("db-3", func(r *plan.Report) { r.Following = "" })), ""},
		"not while commits are on one disk":                    {well(3, all, statusOf(notSynced), reported("db-1", unnamedToo)), ""},
		"not while the primary does not answer":                {well(3, all, silent("db-1", time.Second)), ""},
		"not while the cluster is paused":                      {well(3, all, specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), ""},
		"not before a member has joined":                       {well(2, old("db-1", "db-2"), wantsSize(3)), "CreateMember db-3"},
		"not if a member could not be made a moment ago":       {well(3, old("db-1", "db-2"), absent("db-3"), tooSoon("db-3"), streaming("db-2")), ""},
		"before another primary that is wanted":                {well(3, all, wantsPrimary("db-2")), "DeletePod db-3"},
		"not while a disk is being deleted":                    {well(3, all, disk("db-1", plan.DiskDeleting)), election},
		"then commits wait for one that is up to date":         {well(3, old("db-1", "db-2")), chooses},
		"even if the other one is wanted":                      {well(3, old("db-1", "db-2"), wantsPrimary("db-2")), chooses},
		"and the one for which they waited is replaced":        {well(3, old("db-1", "db-2"), waitsForThird), "DeletePod db-2"},
		"if there is no other, commits wait until it is back":  {well(2, old("db-1", "db-2")), "DeletePod db-2"},
		"at last the primary hands over":                       {well(3, old("db-1")), election},
		"even if it is the one that is wanted":                 {well(3, old("db-1"), wantsPrimary("db-1")), election},
		"not to a standby that has not everything":             {well(2, old("db-1"), statusOf(notSynced), reported("db-1", unnamedToo)), ""},
		"a cluster of one has no writes until it is back":      {well(1, old("db-1")), "DeletePod db-1"},
		"not if it has the last copy":                          {well(1, old("db-1"), disk("db-1", plan.DiskDeleting)), ""},
		"one that waits for its image is replaced at once":     {well(3, waiting("db-3"), old("db-3")), "DeletePod db-3"},
		"and once is enough":                                   {well(3, waiting("db-3"), old("db-3"), ofMember("db-3", func(m *plan.Member) { m.Pod.Deleting = true })), ""},
		"and not if it is the right image":                     {well(3, waiting("db-3")), ""},
		"the same in an election":                              {electing(2, waiting("db-1"), waiting("db-2"), old("db-2")), "DeletePod db-2"},
		"one that is wanted is replaced before it takes over":  {well(2, old("db-2"), wantsPrimary("db-2")), "DeletePod db-2"},
		"and does not take over before that":                   {well(3, old("db-2"), wantsPrimary("db-2"), streaming("db-2")), ""},
		"unless the primary is outdated, too":                  {well(3, all, wantsPrimary("db-2"), streaming("db-2")), election},
		"or its disk is being deleted":                         {well(2, old("db-2"), wantsPrimary("db-2"), disk("db-1", plan.DiskDeleting)), election},
		"not if nobody knows which version made the database":  {well(3, all, statusOf(func(s *postgres.PostgresClusterStatus) { s.Version = "" })), ""},
		"a minor version that is not there stops at the first": {well(3, old("db-1", "db-2"), waitsForThird, waiting("db-3"), streaming("db-2")), "Running, term 1, primary db-1, standby db-2, synced [db-1]"},
	})
}

// The image is of PostgreSQL 18, and the database of 17.
func TestAnImageOfAnotherMajorVersion(t *testing.T) {
	o := imageOf("18")
	all := old("db-1", "db-2", "db-3")
	testDecisions(t, map[string]decisionCase{
		"no pod is replaced":                            {well(3, o, all), ""},
		"not even one that waits for its image":         {well(3, o, all, waiting("db-3")), ""},
		"not even one that does not answer":             {well(3, o, all, silent("db-3", time.Minute)), ""},
		"no pod is made":                                {well(3, o, all, noPod("db-3")), ""},
		"and none that has ended is removed":            {well(3, o, all, ended("db-3")), ""},
		"nobody joins":                                  {well(2, o, old("db-1", "db-2"), wantsSize(3)), ""},
		"nobody is made while the first one is":         {beginning(o, noPod("db-1"), statusOf(func(s *postgres.PostgresClusterStatus) { s.Version = "17" })), ""},
		"members leave":                                 {well(3, o, all, wantsSize(2)), "DeletePod db-3"},
		"another member takes over":                     {well(2, o, old("db-1", "db-2"), ended("db-1")), election},
		"the wish of the spec does not change that":     {well(3, o, all, specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "18" })), ""},
		"a new cluster is made of it":                   {nothing(3, o), "Seeding, term 1, primary db-1, synced []"},
		"what is wanted of it is a reason to refuse it": {nothing(3, o, specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "17" })), ""},
	})
}

func TestTheEventsOfAnUpdate(t *testing.T) {
	for want, o := range map[string]plan.Observed{
		"MemberOutdated: db-3 is outdated; its pod is replaced":          well(3, old("db-1", "db-2", "db-3")),
		"Electing: db-1: a switchover to db-2, because db-1 is outdated": well(2, old("db-1")),
	} {
		if d := plan.Cluster(o); d.Reason+": "+d.Note != want {
			t.Errorf("got  %s: %s\nwant %s", d.Reason, d.Note, want)
		}
	}
}

func TestTheVersionOfTheDatabaseIsKept(t *testing.T) {
	if d := plan.Cluster(nothing(1)); d.Status.Version != "17" {
		t.Errorf("it is made with %q", d.Status.Version)
	}
	for before, want := range map[string]string{"": "17", "16": "16"} { // an older operator did not keep it
		o := well(1, reported("db-1", func(r *plan.Report) { r.Version = "17.6" }))
		s := o.Cluster.Status.DeepCopy()
		s.Version = before
		o.Describe(s)
		if s.Version != want || s.Members[0].Version != "17.6" {
			t.Errorf("%q: got %q, and %q of its member", before, s.Version, s.Members[0].Version)
		}
	}
}

func TestTheRefusalNamesTheWayOut(t *testing.T) {
	for want, o := range map[string]plan.Observed{
		"the image has PostgreSQL 18, and the database is one of 17; upgrade with pg_dump, or give the operator an image of 17": well(1, imageOf("18"), specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "17" })),
		`the image has PostgreSQL 17, and spec.version asks for 18; set it to "17", or give the operator another image`:         well(1, specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "18" })),
	} {
		s := o.Cluster.Status.DeepCopy()
		o.Describe(s)
		if got := meta.FindStatusCondition(s.Conditions, postgres.Accepted); got.Status != "False" || got.Message != want {
			t.Errorf("got  %s is %s: %s\nwant %s", got.Type, got.Status, got.Message, want)
		}
	}
}

func TestMajor(t *testing.T) {
	for version, want := range map[string]string{"17": "17", "17.6": "17", "9.6.3": "9", "18beta1": "18", "": ""} {
		if got := plan.Major(version); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}
