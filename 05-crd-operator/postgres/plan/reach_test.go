package plan_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// cutOffFromClients is a member to which nobody has been able to connect for a time.
func cutOffFromClients(name string, cause plan.Cause, since time.Duration) change {
	return reported(name, func(r *plan.Report) { r.Unreachable = &plan.Unreachable{Cause: cause, For: since} })
}

func frozen(name string, since time.Duration) change {
	return cutOffFromClients(name, plan.Frozen, since)
}

func TestAPrimaryThatNobodyCanReach(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"one that is frozen is replaced after 10 seconds": {well(2, frozen("db-1", 11*time.Second)), election},
		"not before that":                                   {well(2, frozen("db-1", 9*time.Second)), ""},
		"nor by one that is frozen, too":                    {well(2, frozen("db-1", 11*time.Second), frozen("db-2", time.Second)), ""},
		"nor if nobody can take over":                       {well(1, frozen("db-1", 19*time.Second)), ""},
		"after 20 seconds it is started again all the same": {well(1, frozen("db-1", 21*time.Second)), "Electing, term 2, synced [db-1]"},
		"another primary would have as many clients":        {well(2, cutOffFromClients("db-1", plan.TooManyClients, time.Hour)), ""},
		"and the same certificate":                          {well(2, cutOffFromClients("db-1", plan.NoCertificate, time.Hour)), ""},
		"its own socket answers, so its settings are wrong": {well(2, cutOffFromClients("db-1", plan.NotListening, time.Hour)), ""},
		"a standby is its agent's to start again":           {well(2, frozen("db-2", time.Hour)), ""},
	})
}

func TestAFrozenMemberStops(t *testing.T) {
	is := func(cause plan.Cause, since time.Duration) func(*plan.View) {
		return func(v *plan.View) { v.Report.Unreachable = &plan.Unreachable{Cause: cause, For: since} }
	}
	writable := func(v *plan.View) { v.Report.Writable, v.HoldsLease = true, true }
	named := func(v *plan.View) { v.Status.Primary, v.Status.PrimaryUID, v.Status.Standby = "db-2", uid("db-2"), "" }
	late := is(plan.Frozen, 11*time.Second)
	testSteps(t, map[string]stepCase{
		"a standby":                                             {viewOf(late), plan.StopImmediate},
		"one that does not answer its agent":                    {viewOf(late, func(v *plan.View) { v.Report.Running = false }), plan.StopImmediate},
		"not before 10 seconds":                                 {viewOf(is(plan.Frozen, 9*time.Second)), plan.Wait},
		"not one whose connections are in use":                  {viewOf(is(plan.TooManyClients, time.Hour)), plan.Wait},
		"a last primary: it hears no request":                   {viewOf(late, writable), plan.StopImmediate},
		"not the primary: the operator decides when that stops": {viewOf(late, writable, named), plan.Wait},
	})
}

func TestPeopleLearnWhoCannotBeReached(t *testing.T) {
	for name, tc := range map[string]struct {
		observed  plan.Observed
		available string // the reason, with a ! if it is False
		ready     int32
		sentence  string // a part of the sentence of the member
	}{
		"the primary's connections are in use":   {well(2, cutOffFromClients("db-1", plan.TooManyClients, 11*time.Second)), "!TooManyClients", 1, "pg_terminate_backend"},
		"a peak is none":                         {well(2, cutOffFromClients("db-1", plan.TooManyClients, 9*time.Second)), "Serving", 2, ""},
		"its certificate has expired":            {well(2, cutOffFromClients("db-1", plan.NoCertificate, 11*time.Second)), "!NoCertificate", 1, "Delete that ConfigMap"},
		"it does not listen":                     {well(2, cutOffFromClients("db-1", plan.NotListening, 11*time.Second)), "!NotListening", 1, "listen_addresses"},
		"it is frozen, and nobody can take over": {well(1, frozen("db-1", 11*time.Second)), "!Frozen", 0, "accepts no connection"},
		"a standby's are in use":                 {well(2, cutOffFromClients("db-2", plan.TooManyClients, 11*time.Second)), "Serving", 1, "db-2"},
		"there is no primary":                    {electing(2, cutOffFromClients("db-2", plan.TooManyClients, 11*time.Second)), "!Electing", 1, "db-2"},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.observed.Cluster.Status
			now := before.DeepCopy()
			tc.observed.Describe(now)
			c := meta.FindStatusCondition(now.Conditions, postgres.Available)
			reason := c.Reason
			if c.Status == "False" {
				reason = "!" + reason
			}
			if reason != tc.available || now.Replicas != tc.ready {
				t.Errorf("got %s with %d ready, want %s with %d", reason, now.Replicas, tc.available, tc.ready)
			}
			events := plan.NewlyUnreachable(before, *now)
			if (tc.sentence != "") != (len(events) == 1) || !strings.Contains(strings.Join(events, ""), tc.sentence) {
				t.Errorf("the events are %q, want one with %q", events, tc.sentence)
			}
			if again := plan.NewlyUnreachable(*now, *now); len(again) != 0 {
				t.Errorf("it is news again: %q", again)
			}
		})
	}
}

// Whether an election takes too long is measured from its beginning.
func TestAnUnreachablePrimaryIsNotNone(t *testing.T) {
	o := well(1, frozen("db-1", 21*time.Second))
	o.Now = time.Unix(1000, 0)
	o.Describe(&o.Cluster.Status)
	o.Now = time.Unix(1010, 0)
	next := plan.Cluster(o).Status
	if next == nil {
		t.Fatal("there is no election")
	}
	o.Describe(next)
	if c := meta.FindStatusCondition(next.Conditions, postgres.Available); c.Reason != "Electing" || !c.LastTransitionTime.Time.Equal(o.Now) {
		t.Errorf("got %+v", c)
	}
}

func TestAPasswordThatCannotBeUsed(t *testing.T) {
	o := well(2, reported("db-2", func(r *plan.Report) { r.InvalidPasswords = []string{"postgres", "app"} }))
	s := o.Cluster.Status.DeepCopy()
	o.Describe(s)
	c := meta.FindStatusCondition(s.Conditions, postgres.Accepted)
	if c.Status != "False" || c.Reason != "InvalidPassword" || !strings.Contains(c.Message, "in the Secret db, that in db-app.") {
		t.Errorf("got %+v", c)
	}
	if d := line(plan.Cluster(o)); d != "" {
		t.Errorf("the operator does something about it: %s", d)
	}
}
