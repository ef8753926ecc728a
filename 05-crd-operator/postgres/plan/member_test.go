package plan_test

import (
	"testing"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// view is what db-2 knows, in a cluster that runs under db-1 in term 1.
func viewOf(changes ...func(*plan.View)) plan.View {
	o := well(2)
	v := plan.View{Name: "db-2", UID: uid("db-2"), Status: o.Cluster.Status, Report: *o.Members[1].Report}
	for _, c := range changes {
		c(&v)
	}
	return v
}

func TestNextStep(t *testing.T) {
	type is = func(*plan.View)
	phase := func(p postgres.Phase) is {
		return func(v *plan.View) { v.Status.Phase, v.Status.Primary, v.Status.PrimaryUID = p, "", "" }
	}
	named := func(v *plan.View) {
		v.Status.Phase, v.Status.Primary, v.Status.PrimaryUID, v.Status.Standby = postgres.Promoting, "db-2", uid("db-2"), "db-1"
	}
	empty := func(v *plan.View) { v.Report.Data, v.Report.Running = plan.Empty, false }
	stopped := func(v *plan.View) { v.Report.Running, v.Report.Following = false, "" }
	holds := func(v *plan.View) { v.HoldsLease = true }
	writable := func(v *plan.View) { v.Report.Writable, v.Report.Following = true, "" }
	waits := func(v *plan.View) { v.Report.Names = "db-1" }
	restores := func(v *plan.View) { v.Status.Primary, v.Status.Restore = "db-2", &postgres.RestoreFrom{Cluster: "db"} }
	promoted := func(v *plan.View) { v.Report.Timeline = plan.TimelineOf(v.Status.Term) }
	other := func(v *plan.View) { v.UID = "another pod of db-2" }

	testSteps(t, map[string]stepCase{
		"a standby that follows has nothing to do":          {viewOf(), plan.Wait},
		"PostgreSQL is started":                             {viewOf(stopped), plan.Start},
		"before anything is known of the cluster, too":      {viewOf(stopped, func(v *plan.View) { v.Status = postgres.PostgresClusterStatus{} }), plan.Start},
		"it follows a new primary":                          {viewOf(func(v *plan.View) { v.Report.Following = "db-3" }), plan.Follow},
		"what has diverged is wiped":                        {viewOf(func(v *plan.View) { v.Diverged = true }), plan.Wipe},
		"an empty disk is filled from the primary":          {viewOf(empty), plan.Clone},
		"not while there is none":                           {viewOf(empty, phase(postgres.Electing)), plan.Wait},
		"the first member makes the database":               {viewOf(empty, phase(postgres.Seeding), func(v *plan.View) { v.Status.Primary = "db-2" }), plan.InitDB},
		"of a backup, if there is one to restore":           {viewOf(empty, phase(postgres.Seeding), restores), plan.Restore},
		"also when all disks were lost":                     {viewOf(empty, phase(postgres.Recovering), restores), plan.Restore},
		"once it is made it is restored no more":            {viewOf(empty, named, restores), plan.Wait},
		"no other one does":                                 {viewOf(empty, phase(postgres.Seeding), func(v *plan.View) { v.Status.Primary = "db-1" }), plan.Wait},
		"a primary that finds its disk empty makes none":    {viewOf(empty, named), plan.Wait},
		"in an election, nobody is followed":                {viewOf(phase(postgres.Electing), func(v *plan.View) { v.Report.Following = "" }), plan.Wait},
		"and nothing is wiped":                              {viewOf(phase(postgres.Electing), func(v *plan.View) { v.Diverged = true }), plan.Wait},
		"who is named takes the Lease":                      {viewOf(named), plan.TakeLease},
		"then it sets whom commits wait for":                {viewOf(named, holds), plan.SetNames},
		"then it is promoted":                               {viewOf(named, holds, waits), plan.Promote},
		"then it leads":                                     {viewOf(named, holds, waits, promoted, writable), plan.Wait},
		"with another standby, if that is wanted":           {viewOf(named, holds, waits, writable, func(v *plan.View) { v.Status.Standby = "db-3" }), plan.SetNames},
		"another pod of the same name is not named":         {viewOf(named, other, func(v *plan.View) { v.Report.Following = "" }), plan.Wait},
		"a primary that has lost the Lease stops at once":   {viewOf(named, writable), plan.StopImmediate},
		"one that is not named any more stops":              {viewOf(writable, holds), plan.StopFast},
		"then it frees the Lease":                           {viewOf(holds, stopped), plan.FreeOwnLease},
		"and starts again as a standby":                     {viewOf(stopped), plan.Start},
		"one that lost the Lease starts again in its term":  {viewOf(named, stopped), plan.Start},
		"and waits for another term":                        {viewOf(named, promoted), plan.Wait},
		"one that was promoted in an earlier term does not": {viewOf(named, promoted, func(v *plan.View) { v.Status.Term++ }), plan.TakeLease},
		"and does not start again":                          {viewOf(phase(postgres.Deleting), stopped), plan.Wait},
		"when the cluster is deleted, a primary stops":      {viewOf(phase(postgres.Deleting), writable, holds), plan.StopFast},
	})
}
