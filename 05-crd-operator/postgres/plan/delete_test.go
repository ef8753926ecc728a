package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestAClusterIsDeleted(t *testing.T) {
	gone := func(o *plan.Observed) { o.Cluster.DeletionTimestamp = &metav1.Time{} }
	stopped := reported("db-1", func(r *plan.Report) { r.Writable = false })
	deleting := func(changes ...change) plan.Observed {
		return well(2, append([]change{gone, stopped, statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Primary, s.PrimaryUID = postgres.Deleting, "", "" })}, changes...)...)
	}
	testDecisions(t, map[string]decisionCase{
		"first, members learn of it":                   {well(2, gone), "Deleting, term 2, standby db-2, synced [db-1 db-2]"},
		"in an election, too":                          {electing(2, gone), "Deleting, term 3, standby db-2, synced [db-1 db-2]"},
		"and before anything has begun":                {nothing(2, gone), "Deleting, term 1, synced []"},
		"even if it is paused":                         {well(2, gone, specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), "Deleting, term 2, standby db-2, synced [db-1 db-2]"},
		"the primary ends its log first":               {deleting(noPod("db-2"), reported("db-1", func(r *plan.Report) { r.Writable = true })), ""},
		"but not if it is silent":                      {deleting(silent("db-1", time.Second)), "DeletePod db-1"},
		"and standbys do not wait for it":              {deleting(reported("db-1", func(r *plan.Report) { r.Writable = true })), "DeletePod db-2"},
		"then pods are deleted":                        {deleting(), "DeletePod db-1"},
		"all of them at once":                          {deleting(ofMember("db-1", func(m *plan.Member) { m.Pod.Deleting = true })), "DeletePod db-2"},
		"those that have ended are removed":            {deleting(ended("db-2"), ofMember("db-1", func(m *plan.Member) { m.Pod.Deleting = true })), "RemovePod db-2"},
		"disks stay until all pods are gone":           {deleting(noPod("db-2"), ofMember("db-1", func(m *plan.Member) { m.Pod.Deleting = true })), ""},
		"then disks go":                                {deleting(noPod("db-1"), noPod("db-2")), "DeleteDisk db-1"},
		"all of them":                                  {deleting(noPod("db-1"), noPod("db-2"), disk("db-1", plan.DiskDeleting)), "DeleteDisk db-2"},
		"and the cluster, once nothing has to be told": {deleting(absent("db-1"), absent("db-2")), "RemoveFinalizer"},
	})
}
