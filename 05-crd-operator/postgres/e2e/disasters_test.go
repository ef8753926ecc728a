package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/05-crd-operator/postgres/recorder"
)

// disaster is what chance does not bring about, in the order in which it once cost data: a person allows that
// data are lost, or turns off what the promise rests on, or all that decides is frozen at the same time.
type disaster struct {
	what    string
	happens func(*chaos, *recorder.Recorder)
}

var disasters = []disaster{
	{"the disks of both synced members come back after the permission to lose data", (*chaos).disksComeBack},
	{"so does the disk of a second primary, promoted at the same position", (*chaos).timelineComesBack},
	{"ALTER SYSTEM SET synchronous_commit", (*chaos).commitAltered},
	{"ALTER SYSTEM SET synchronous_standby_names", (*chaos).namesAltered},
	{"ALTER ROLE app SET synchronous_commit", (*chaos).roleAltered},
	{"the API server, the operator and the receiver are frozen until the primary has stopped", (*chaos).allFrozen},
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
	c.keeps(before.Synced...)
}

// timelineComesBack promotes both synced members at the same position of the log, one after the other, and
// then the second gets the first one as a standby. Their timelines must not have the same number.
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
	c.keeps(first)
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

// keeps waits until members have put aside what was given up: they have commits that the primary lacks.
func (c *chaos) keeps(members ...string) {
	c.Helper()
	for _, member := range members {
		eventually(c, member+" keeps its database", func() error {
			lost := c.status().Lost
			if !slices.ContainsFunc(lost, func(l postgres.LostData) bool { return l.Member == member && l.Folder != "" }) {
				return fmt.Errorf("the status has %+v", lost)
			}
			return nil
		})
	}
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

// commitAltered changes nothing: what the agent has on the command line of PostgreSQL comes first.
func (c *chaos) commitAltered(r *recorder.Recorder) {
	c.Helper()
	c.sets("ALTER SYSTEM SET synchronous_commit = local")
	c.losesPrimaryWhileFrozen(func() { c.commitsWait(r) })
}

// namesAltered has commits wait for no standby, until the agent puts that back. It reports it, too.
func (c *chaos) namesAltered(r *recorder.Recorder) {
	c.Helper()
	c.sets("ALTER SYSTEM SET synchronous_standby_names = ''")
	c.isRedundant(plan.AsynchronousCommits)
	c.isSafeAgain(r)
}

// roleAltered has the commits of a role wait for no standby. That is reported for as long as it is so.
func (c *chaos) roleAltered(r *recorder.Recorder) {
	c.Helper()
	c.sets("ALTER ROLE app SET synchronous_commit = local")
	c.clientsConnectAgain()
	c.isRedundant(plan.AsynchronousCommits)
	c.goesOn(r)
	c.sets("ALTER ROLE app RESET synchronous_commit")
	c.clientsConnectAgain()
	c.isSafeAgain(r)
}

// isSafeAgain waits until the cluster says that its promise holds again, and tries that.
func (c *chaos) isSafeAgain(r *recorder.Recorder) {
	c.Helper()
	c.isRedundant("TwoDisks")
	c.goesOn(r)
	r.LossAllowed() // until now
	c.losesPrimaryWhileFrozen(func() { c.commitsWait(r) })
}

// isRedundant waits until the condition Redundant has a reason.
func (c *chaos) isRedundant(reason string) {
	c.Helper()
	eventually(c, "Redundant has the reason "+reason, func() error {
		if condition := meta.FindStatusCondition(c.status().Conditions, postgres.Redundant); condition.Reason != reason {
			return fmt.Errorf("it is %+v", condition)
		}
		return nil
	})
}

// sets changes a setting, and waits until PostgreSQL has read it.
func (c *chaos) sets(command string) {
	c.Helper()
	before, err := c.ask("SELECT pg_conf_load_time()")
	require.NoError(c, err)
	if _, err = c.ask(command); err != nil && strings.Contains(err.Error(), "ALTER SYSTEM is not allowed") {
		c.Skip("from 17 on: ", err)
	}
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

// clientsConnectAgain ends their sessions: what a role has is for those that begin.
func (c *chaos) clientsConnectAgain() {
	c.Helper()
	_, err := c.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
	require.NoError(c, err)
}

// allFrozen lets the Lease of the primary run out, of which nobody takes note. When the API server is there
// again, the primary is still the one that is named, and must not be promoted a second time in its term.
func (c *chaos) allFrozen(*recorder.Recorder) {
	c.Helper()
	c.breaks([]planned{
		{fault: fault{what: "the receiver is frozen", begin: frozen(processList.receiver)}, hits: synced, lasts: 11 * time.Second},
		{fault: fault{what: "the operator is frozen", begin: (*chaos).operatorFrozen}, at: time.Second, lasts: 10 * time.Second},
		{fault: fault{what: "the API server is frozen", begin: (*chaos).apiServerFrozen}, at: time.Second, lasts: 8 * time.Second},
		{fault: fault{what: "PostgreSQL is killed", begin: killed(processList.postgreSQL)}, hits: primary, at: 10 * time.Second},
	})
}
