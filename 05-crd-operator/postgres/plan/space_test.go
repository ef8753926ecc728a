package plan_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func full(name string) change {
	return ofMember(name, func(m *plan.Member) { m.Report.Full = true })
}

func TestADiskThatIsNearlyFull(t *testing.T) {
	const stops = "; no writes are taken"
	for name, tc := range map[string]struct {
		observed plan.Observed
		begins   string // the sentence of HasSpace, if it is False
		stops    bool   // whether the primary takes no writes
	}{
		"there is space":                    {well(3), "", false},
		"the primary's":                     {well(3, full("db-1")), "nearly full: the disk of db-1" + stops + ". Raise spec.storage, which is", true},
		"that of the synced standby":        {well(3, full("db-2")), "nearly full: the disk of db-2" + stops, true},
		"one that no commit waits for":      {well(3, full("db-3")), "nearly full: the disk of db-3. Raise", false},
		"two":                               {well(3, full("db-1"), full("db-2")), "nearly full: the disk of db-1, that of db-2" + stops, true},
		"that of one that does not answer":  {well(3, full("db-2"), silent("db-2", time.Second)), "nearly full: the disk of db-2" + stops, true},
		"that of one that has never spoken": {well(3, full("db-2"), noPod("db-2")), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.observed.Cluster.Status.DeepCopy()
			tc.observed.Describe(s)
			got := meta.FindStatusCondition(s.Conditions, postgres.HasSpace)
			if got.Status == "True" != (tc.begins == "") || !strings.HasPrefix(got.Message, tc.begins) {
				t.Errorf("got %s: %s", got.Status, got.Message)
			}
			if plan.NoSpace(*s) != tc.stops {
				t.Errorf("writes stop: %t, want %t", !tc.stops, tc.stops)
			}
			if available := meta.FindStatusCondition(s.Conditions, postgres.Available); available.Status != "True" {
				t.Errorf("Available is the age of a primary's absence, and became %s", available.Status)
			}
		})
	}
}
