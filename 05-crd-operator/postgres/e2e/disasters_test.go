package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
	"example.com/hacking-a-controller/05-crd-operator/postgres/recorder"
)

// disaster is more than a cluster has to bear: a person allows that data are lost, or turns off what its
// promise rests on. What is acknowledged after that is safe again.
type disaster struct {
	what    string
	happens func(*chaos, *recorder.Recorder)
}

var disasters = []disaster{
	{"the disks of both synced members come back after the permission to lose data", (*chaos).disksComeBack},
	{"so does the disk of a second primary, whose timeline has the same number", (*chaos).timelineComesBack},
	{"ALTER SYSTEM SET synchronous_commit", settingChanged("ALTER SYSTEM SET synchronous_commit = local", "ALTER SYSTEM RESET synchronous_commit")},
	{"ALTER SYSTEM SET synchronous_standby_names", settingChanged("ALTER SYSTEM SET synchronous_standby_names = ''", "ALTER SYSTEM RESET synchronous_standby_names")},
	{"ALTER ROLE app SET synchronous_commit", settingChanged("ALTER ROLE app SET synchronous_commit = local", "ALTER ROLE app RESET synchronous_commit")},
}

// planDisaster returns the disaster of each eighth seed, and nil for any other one.
func planDisaster(seed uint64) *disaster {
	if seed%8 != 0 {
		return nil
	}
	return &disasters[seed/8%uint64(len(disasters))]
}

// disksComeBack loses both synced members, and goes on without what only they have. Then both come back.
func (c *chaos) disksComeBack(r *recorder.Recorder) {
	c.Helper()
	before := c.losesNodeOfThird()
	third := standbys(before)[1]
	c.goesOn(r)
	c.loses(before.Synced...)
	c.nodeReturns(third)
	c.allowsLoss(third, r)
	c.nodeReturns(before.Synced...)
}

// timelineComesBack promotes both synced members at the same position of the log, one after the other, and
// then the second gets the first one as a standby.
func (c *chaos) timelineComesBack(r *recorder.Recorder) {
	c.Helper()
	before := c.losesNodeOfThird()
	first, second := before.Standby, before.Primary
	require.NoError(c, c.deletePod(second, before.PrimaryUID))
	c.reaches(before.Term + 1)
	c.commitsWait(r)
	c.loses(first)
	c.nodeReturns(second)
	c.allowsLoss(second, r)
	c.commitsWait(r)
	c.nodeReturns(first, standbys(before)[1])
}

// losesNodeOfThird keeps new pods from starting, and kills the member that is not synced.
func (c *chaos) losesNodeOfThird() postgres.PostgresClusterStatus {
	c.Helper()
	before := c.settles()
	c.patch(`"nodeSelector":{"no":"where"}`)
	c.Cleanup(func() { c.patch(`"nodeSelector":null,"allowDataLoss":null`) })
	c.loses(standbys(before)[1])
	return before
}

// loses kills members, whose next pods find no node.
func (c *chaos) loses(members ...string) {
	c.Helper()
	pods := c.pods()
	for _, member := range members {
		require.NoError(c, c.killPostgreSQL(pods[member]))
	}
	for _, member := range members {
		c.replaced(member, pods[member], c.pods)
	}
}

// nodeReturns has the next pods of members find a node.
func (c *chaos) nodeReturns(members ...string) {
	c.Helper()
	c.patch(`"nodeSelector":null`)
	for _, member := range members {
		eventually(c, member+" is there", func() error {
			var pods corev1.PodList
			if err := c.list(c.Context(), &pods); err != nil {
				return err
			}
			for _, pod := range pods.Items {
				if pod.Name == member && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
					if err := c.deletePod(member, pod.UID); err != nil {
						return err
					}
				} else if pod.Name == member && pod.Spec.NodeName != "" {
					return nil
				}
			}
			return errors.New("it is not")
		})
	}
}

// allowsLoss waits until the cluster is Unsafe and a member is there, and allows to make it the primary.
func (c *chaos) allowsLoss(member string, r *recorder.Recorder) {
	c.Helper()
	var term int64
	eventually(c, "the cluster is Unsafe, and "+member+" is ready", func() error {
		s := c.status()
		ready := slices.ContainsFunc(s.Members, func(m postgres.MemberStatus) bool { return m.Name == member && m.Ready })
		if s.Phase != postgres.Unsafe || !ready {
			return fmt.Errorf("it is %s: %+v", s.Phase, s.Members)
		}
		term = s.Term
		return nil
	})
	r.LossAllowed()
	c.patch(fmt.Sprintf(`"allowDataLoss":{"member":%q,"term":%d}`, member, term))
	c.reaches(term)
}

// commitsWait waits until one more commit has got no answer.
func (c *chaos) commitsWait(r *recorder.Recorder) {
	c.Helper()
	unknown := func() (n int) {
		for _, t := range r.History().Transactions {
			if t.Outcome == history.Unknown {
				n++
			}
		}
		return n
	}
	before := unknown()
	eventually(c, "a commit waits", func() error {
		if unknown() == before {
			return errors.New("none does")
		}
		return nil
	})
}

// settingChanged has commits wait for no standby. The operator has to put that back, or to report it.
func settingChanged(change, reset string) func(*chaos, *recorder.Recorder) {
	return func(c *chaos, r *recorder.Recorder) {
		c.Helper()
		c.sets(change)
		eventually(c, "it is put back or reported: "+change, func() error {
			if c.isPutBack() || c.isReported() {
				return nil
			}
			return fmt.Errorf("the conditions: %+v", c.status().Conditions)
		})
		c.sets(reset)
		c.settles()
		c.goesOn(r)
		r.LossAllowed() // until now
		c.breaks([]planned{
			{fault: fault{what: "the receiver is frozen", begin: frozen(processList.receiver)}, hits: synced, lasts: 2 * time.Second},
			{fault: fault{what: "PostgreSQL is killed", begin: killed(processList.postgreSQL)}, hits: primary, at: time.Second},
		})
	}
}

// sets changes a setting, and waits until PostgreSQL has read it.
func (c *chaos) sets(command string) {
	c.Helper()
	before, err := c.ask("SELECT pg_conf_load_time()")
	require.NoError(c, err)
	_, err = c.ask(command)
	require.NoError(c, err)
	_, err = c.ask("SELECT pg_reload_conf()")
	require.NoError(c, err)
	eventually(c, "the settings are read", func() error {
		now, err := c.ask("SELECT pg_conf_load_time()")
		if err == nil && now[0][0] == before[0][0] {
			err = errors.New("they are not")
		}
		return err
	})
}

// isPutBack says whether commits wait for a standby again.
func (c *chaos) isPutBack() bool {
	s, err := c.app.dial(c.Context(), c.address)
	if err != nil {
		return false
	}
	defer s.close()
	rows, err := s.query(c.Context(), "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names')")
	return err == nil && rows[0][0] == "on" && rows[0][1] != ""
}

func (c *chaos) isReported() bool {
	return slices.ContainsFunc(c.status().Conditions, func(condition metav1.Condition) bool {
		return strings.Contains(condition.Type+condition.Reason, "AsynchronousCommits")
	})
}
