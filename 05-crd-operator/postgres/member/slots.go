package member

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A slot is PostgreSQL's note of how far a standby has received the log. The primary keeps its log
// from there on, up to max_slot_wal_keep_size: then the slot is lost, and the standby is cloned
// again. A standby makes its own slot on the primary; who is no primary any more drops them, or its
// log would grow.

// slotPrefix is how the names of members' slots begin. A slot of another name is somebody else's.
const slotPrefix = "member_"

// slotOf is the slot of a member: its number, because a slot's name has no hyphen.
func slotOf(member string) string { return slotPrefix + member[strings.LastIndex(member, "-")+1:] }

// reserve has a primary keep its log for a member from now on, if it does not already.
func (s session) reserve(ctx context.Context, slot string) error {
	found, err := s.rows(ctx, fmt.Sprintf("SELECT coalesce(wal_status, '') FROM pg_replication_slots WHERE slot_name = '%s'", slot))
	switch {
	case err != nil:
		return err
	case len(found) == 1 && found[0][0] != "lost":
		return nil
	case len(found) == 1:
		if _, err := s.rows(ctx, "DROP_REPLICATION_SLOT "+slot); err != nil {
			return err
		}
	}
	_, err = s.rows(ctx, "CREATE_REPLICATION_SLOT "+slot+" PHYSICAL (RESERVE_WAL)")
	return err
}

// slotsEvery is how often the agent looks for slots that nobody needs.
const slotsEvery = 5 * time.Second

// dropSlots drops the slots of members that have left and, unless this one is the primary, all.
func (a *agent) dropSlots(ctx context.Context, status postgres.PostgresClusterStatus) {
	if a.session.PgConn == nil || !plan.Serving(status.Phase) || time.Since(a.slotsKept) < slotsEvery {
		return
	}
	a.slotsKept = time.Now()
	if err := a.session.dropSlots(ctx, neededSlots(status, a.Name)); err != nil {
		klog.FromContext(ctx).Error(err, "slots that nobody needs could not be dropped; trying again")
	}
}

// neededSlots are those that a member keeps.
func neededSlots(status postgres.PostgresClusterStatus, member string) (needed []string) {
	for _, m := range status.Members {
		if status.Primary == member && m.Name != member {
			needed = append(needed, slotOf(m.Name))
		}
	}
	return needed
}

// dropSlots drops all slots of members but for those that are needed, or in use.
func (s session) dropSlots(ctx context.Context, needed []string) error {
	_, err := s.rows(ctx, fmt.Sprintf("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE starts_with(slot_name, '%s') AND NOT active AND slot_name <> ALL ('{%s}')",
		slotPrefix, strings.Join(needed, ",")))
	return err
}
