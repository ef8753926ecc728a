package member

import "context"

// endReaders ends the transactions of clients if replay waits for one of them, and counts them.
// A reader may hold replay for max_standby_streaming_delay, and a promotion comes after it. That
// setting does not help here: who waits already does not read it anew.
const endReaders = `(SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND xact_start IS NOT NULL
	AND EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'startup' AND (wait_event LIKE 'RecoveryConflict%' OR wait_event_type IN ('Lock', 'BufferPin'))))`

// resumeReplay has PostgreSQL go on if somebody has paused it. A promotion does so by itself.
const resumeReplay = "SELECT pg_wal_replay_resume() WHERE pg_is_wal_replay_paused()"

// promote has PostgreSQL take writes, once it has replayed what it has received.
func (s session) promote(ctx context.Context) error {
	if _, err := s.rows(ctx, "SELECT pg_promote(wait => false)"); err != nil {
		return err
	}
	return s.awaitWithin(ctx, promotionTimeout, "PostgreSQL takes writes", writable+", "+endReaders)
}

// awaitReplay returns when all of the log on the disk is replayed. A receiver comes after it.
func (s session) awaitReplay(ctx context.Context) error {
	if _, err := s.rows(ctx, resumeReplay); err != nil {
		return err
	}
	return s.await(ctx, "the log on the disk is replayed", replayed+", "+endReaders)
}
