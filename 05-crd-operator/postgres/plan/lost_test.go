package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func gaveUp(lost ...postgres.LostData) change {
	return statusOf(func(s *postgres.PostgresClusterStatus) { s.Lost = lost })
}

func TestOthersAreGivenUpWhenDataLossIsAllowed(t *testing.T) {
	earlier := gaveUp(postgres.LostData{Member: "db-1", Term: 1}, postgres.LostData{Member: "db-3", Term: 1}, postgres.LostData{Member: "db-3", Term: 0, Folder: plan.KeptFolder(0)})
	alone := statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} })
	unsafe := func(o *plan.Observed) {
		with(*o, []change{statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Unsafe }), noPod("db-1"), noPod("db-2")})
	}
	for name, tc := range map[string]struct {
		observed plan.Observed
		want     string
	}{
		"all but the chosen one":                  {electing(3, unsafe, leave("db-3", 2)), "[{db-1 2 } {db-2 2 }]"},
		"also one that was not synced":            {electing(3, unsafe, leave("db-2", 2), alone, ofMember("db-2", func(m *plan.Member) { *m = standby(2); m.Report.Term, m.Report.Following = 2, "" })), "[{db-1 2 } {db-3 2 }]"},
		"also those of which nothing is left now": {electing(3, unsafe, leave("db-3", 2), absent("db-1")), "[{db-1 2 } {db-2 2 }]"},
		"what was given up before keeps its term": {electing(3, unsafe, leave("db-3", 2), earlier), "[{db-1 1 } {db-3 0 database.diverged-term-0} {db-2 2 }]"},
		"what one has cloned since, too": {electing(3, unsafe, leave("db-3", 2), gaveUp(postgres.LostData{Member: "db-1", Term: 1}),
			ofMember("db-1", func(m *plan.Member) { m.Last = &plan.Report{Kept: []string{plan.KeptFolder(1)}} })), "[{db-1 1 } {db-1 2 } {db-2 2 }]"},
		"also what the chosen one has kept": {electing(3, unsafe, leave("db-3", 2), gaveUp(postgres.LostData{Member: "db-3", Term: 1}),
			ofMember("db-3", func(m *plan.Member) { m.Report.Kept = []string{plan.KeptFolder(1)} })), "[{db-3 1 } {db-1 2 } {db-2 2 }]"},
		"nobody in an election among those that are synced": {electing(3), "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := plan.Cluster(tc.observed)
			if d.Status == nil || d.Status.Phase != postgres.Promoting {
				t.Fatalf("got %s", line(d))
			}
			if got := fmt.Sprint(d.Status.Lost); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestWhatBecomesOfLostData(t *testing.T) {
	back, aside := postgres.LostData{Member: "db-2", Term: 1}, postgres.LostData{Member: "db-2", Term: 1, Folder: plan.KeptFolder(1)}
	keeps := reported("db-2", func(r *plan.Report) { r.Kept, r.Data = []string{plan.KeptFolder(1)}, plan.Empty })
	removed := statusOf(unnamed)
	alone := reported("db-1", unnamedToo)
	for name, tc := range map[string]struct {
		observed plan.Observed
		want     string // what is lost then, and the event
	}{
		"a member that has kept it says where":             {well(2, removed, alone, streaming(), gaveUp(back), keeps), "[{db-2 1 database.diverged-term-1}] DataKept"},
		"one that receives has nothing that was lost":      {well(2, gaveUp(back)), "[] "},
		"not if only it says so":                           {well(3, gaveUp(back), waitsForThird, streaming("db-3")), "-"},
		"not while it does not answer":                     {well(3, gaveUp(back), waitsForThird, silent("db-2", 1)), "-"},
		"a folder is remembered while it is there":         {well(2, gaveUp(aside), reported("db-2", func(r *plan.Report) { r.Kept = []string{plan.KeptFolder(1)} })), "-"},
		"also while its member does not answer":            {well(3, gaveUp(aside), waitsForThird, silent("db-2", 1)), "-"},
		"when it is gone it is forgotten":                  {well(2, gaveUp(aside)), "[] KeptDataRemoved"},
		"when its disk is gone as well":                    {well(3, gaveUp(aside), waitsForThird, wantsSize(2), absent("db-2"), streaming("db-3")), "[] KeptDataRemoved"},
		"a primary has the data itself, and lacks nothing": {well(1, gaveUp(postgres.LostData{Member: "db-1", Term: 1})), "[] "},
	} {
		t.Run(name, func(t *testing.T) {
			got := "-"
			if d := plan.Cluster(tc.observed); d.Status != nil {
				got = fmt.Sprint(d.Status.Lost, " ", d.Reason)
			} else if d.Action != plan.None {
				got = line(d)
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestADiskWithLostDataDoesNotLeave(t *testing.T) {
	gone := []change{gaveUp(postgres.LostData{Member: "db-3", Term: 1}), wantsSize(2), silent("db-3", 1)}
	testDecisions(t, map[string]decisionCase{
		"another one leaves":               {well(4, gone...), "DeletePod db-4"},
		"it stays if there is no other":    {well(3, append(gone, gaveUp(postgres.LostData{Member: "db-3", Term: 1}, postgres.LostData{Member: "db-2", Term: 1}), silent("db-2", 1))...), ""},
		"its pod is made again":            {well(3, append(gone, noPod("db-3"), gaveUp(postgres.LostData{Member: "db-3", Term: 1}, postgres.LostData{Member: "db-2", Term: 1}), silent("db-2", 1))...), "CreateMember db-3"},
		"when a person deletes it it goes": {well(3, append(gone, disk("db-3", plan.DiskDeleting))...), "DeletePod db-3"},
		"all go with the cluster":          {well(1, gaveUp(postgres.LostData{Member: "db-1", Term: 1}), noPod("db-1"), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Deleting }), func(o *plan.Observed) { o.Cluster.DeletionTimestamp = &metav1.Time{} }), "DeleteDisk db-1"},
	})
	o := well(3, append(gone, gaveUp(postgres.LostData{Member: "db-3", Term: 1}, postgres.LostData{Member: "db-2", Term: 1}), silent("db-2", 1))...)
	o.Describe(&o.Cluster.Status)
	if c := meta.FindStatusCondition(o.Cluster.Status.Conditions, postgres.Accepted); c.Status != "False" || !strings.Contains(c.Message, "delete the PersistentVolumeClaim db-2") {
		t.Errorf("got %s %s", c.Status, c.Message)
	}
}

func TestWhatWasGivenUpIsNotWiped(t *testing.T) {
	diverged := func(v *plan.View) { v.Diverged = true }
	lost := func(l ...postgres.LostData) func(*plan.View) { return func(v *plan.View) { v.Status.Lost = l } }
	mine := postgres.LostData{Member: "db-2", Term: 7}
	testSteps(t, map[string]stepCase{
		"it is kept": {viewOf(diverged, lost(mine)), plan.Keep},
		"what was cloned after that is wiped, though the operator has not seen it": {viewOf(diverged, lost(mine), func(v *plan.View) { v.Report.Kept = []string{plan.KeptFolder(7)} }), plan.Wipe},
		"and though the operator has":  {viewOf(diverged, lost(postgres.LostData{Member: "db-2", Term: 7, Folder: plan.KeptFolder(7)})), plan.Wipe},
		"a second loss is kept, too":   {viewOf(diverged, lost(mine, postgres.LostData{Member: "db-2", Term: 9}), func(v *plan.View) { v.Report.Kept = []string{plan.KeptFolder(7)} }), plan.Keep},
		"that of another is no reason": {viewOf(diverged, lost(postgres.LostData{Member: "db-3", Term: 7})), plan.Wipe},
		"one that can follow does":     {viewOf(lost(mine), func(v *plan.View) { v.Report.Following = "" }), plan.Follow},
	})
	if term, is := plan.GivenUp(viewOf(lost(mine, postgres.LostData{Member: "db-2", Term: 9})).Status, "db-2", []string{plan.KeptFolder(7)}); term != 9 || !is {
		t.Errorf("got %d, %t", term, is)
	}
}

func TestATroubleOfACopyIsSeen(t *testing.T) {
	fails := func(r *plan.Report) { r.Data, r.Running, r.Trouble = plan.Empty, false, "the disk has no room" }
	o := well(2, statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} }), reported("db-2", fails))
	o.Describe(&o.Cluster.Status)
	s := o.Cluster.Status
	if c := meta.FindStatusCondition(s.Conditions, postgres.Redundant); s.Members[1].Trouble != "the disk has no room" || !strings.Contains(c.Message, "db-2 has no copy: the disk has no room") {
		t.Errorf("got %+v; %s", s.Members[1], c.Message)
	}
}
