package member

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// stalledAfter is how long a standby may receive nothing before it asks again what is wrong.
const stalledAfter = 5 * time.Second

// followed is the run of a primary that a member follows, or has diverged from. A primary that
// is elected again has another timeline, so it is compared again.
type followed struct {
	uid  types.UID
	term int64
}

func of(status postgres.PostgresClusterStatus) followed {
	return followed{status.PrimaryUID, status.Term}
}

// follow receives from the primary. First it compares the logs: PostgreSQL would try forever
// to follow a primary whose log has not what its own has, and might even acknowledge commits
// that it has not received.
func (a *agent) follow(ctx context.Context, status postgres.PostgresClusterStatus) error {
	// It receives from nobody first. Without the password no later attempt succeeds either.
	a.followed = followed{}
	a.server.settings.primary = peer{}
	if err := a.server.reload(); err != nil {
		return err
	}
	if err := a.session.await(ctx, queryTimeout, "nothing is received", notReceiving); err != nil {
		return err
	}
	// Only then the end of its own log is known.
	if err := a.orReplays(ctx, a.session.awaitReplay(ctx)); err != nil {
		return err
	}
	system, mine, err := a.session.identify(ctx)
	if err != nil {
		return err
	}
	source := primaryOf(status)
	s, err := connectMember(ctx, source, a.server.settings.secrets)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.reserve(ctx, slotOf(a.Name)); err != nil {
		return err
	}
	history, err := a.session.history(ctx, mine.Timeline)
	if err != nil {
		return err
	}
	why, err := s.cannotBeFollowed(ctx, system, mine, history)
	if err != nil {
		return fmt.Errorf("comparing the log with the primary's: %w", err)
	}
	if why != "" {
		klog.FromContext(ctx).Info("the database is of no use any more", "reason", why)
		a.diverged = of(status)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err() // another term has begun
	}
	a.server.settings.primary = source
	if err := a.server.reload(); err != nil {
		return err
	}
	a.followed, a.streamed = of(status), time.Now()
	return nil
}

// cannotBeFollowed is why a member cannot receive from this primary what it lacks, or empty.
func (s session) cannotBeFollowed(ctx context.Context, system string, member plan.Position, mine []plan.Fork) (why string, err error) {
	row, err := s.row(ctx, "SELECT "+writable)
	if err != nil {
		return "", err
	}
	if row[0] != "t" {
		return "", fmt.Errorf("it takes no writes: %w", errNotYet)
	}
	theirs, primary, err := s.identify(ctx)
	if err != nil {
		return "", err
	}
	if theirs != system {
		return fmt.Sprintf("it is database %s, and the primary's is %s", system, theirs), nil
	}
	history, err := s.history(ctx, primary.Timeline)
	if err != nil {
		return "", err
	}
	if plan.HasDiverged(member, primary, mine, history) {
		return fmt.Sprintf("its log goes to %s on timeline %d, and is not a beginning of the primary's", member.At, member.Timeline), nil
	}
	kept, err := s.row(ctx, fmt.Sprintf(`SELECT '%s' >= pg_current_wal_flush_lsn() OR EXISTS (SELECT FROM pg_ls_waldir() WHERE substr(name, 9) = substr(pg_walfile_name('%[1]s'::pg_lsn + 1), 9))`, member.At))
	if err != nil {
		return "", err
	}
	if kept[0] != "t" {
		return fmt.Sprintf("the primary has not kept its log from %s on", member.At), nil
	}
	return "", nil
}
