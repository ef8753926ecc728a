package member

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// clone copies the primary's database. To fail costs the primary as much as to succeed, so after a
// failure the agent waits, longer each time. Another pod would do no better.
func (a *agent) clone(ctx context.Context, status postgres.PostgresClusterStatus) error {
	err := a.tryClone(ctx, status)
	switch {
	case err == nil:
		a.copies = copies{}
		return nil
	case ctx.Err() != nil, errors.Is(err, errUnreachable):
		return err
	}
	a.copies.fail(err)
	klog.FromContext(ctx).Error(err, "the database could not be copied; trying again", "in", a.copies.pause)
	return a.copies.failure
}

// copies are the attempts to clone.
type copies struct {
	pause   time.Duration // before the next one
	next    time.Time     // when it may begin
	failure error         // of the last one; it waits for time to pass
}

const (
	firstPause   = time.Second
	longestPause = time.Minute
)

func (c *copies) fail(err error) {
	c.pause = min(max(2*c.pause, firstPause), longestPause)
	c.next, c.failure = time.Now().Add(c.pause), waiting{err}
}

// waiting is an error that says not yet, in its own words.
type waiting struct{ error }

// Is makes it an errNotYet.
func (waiting) Is(target error) bool { return target == errNotYet }

// errNoRoom means that the disk is too small.
var errNoRoom = errors.New("the disk has no room")

func (a *agent) tryClone(ctx context.Context, status postgres.PostgresClusterStatus) error {
	if err := a.server.files.clean(); err != nil {
		return err
	}
	room, err := a.space.room(capacityOf(status, a.Name))
	if err != nil {
		return err
	}
	source := primaryOf(status)
	err = a.server.clone(ctx, source, room)
	switch {
	case errors.Is(err, errNoRoom) && len(a.kept) > 0:
		return fmt.Errorf("%w. Raise spec.storage, or read what is kept in %s (status.lost), and delete the PersistentVolumeClaim %s", err, strings.Join(a.kept, ", "), a.Name)
	case errors.Is(err, errNoRoom):
		return fmt.Errorf("%w. Raise spec.storage", err)
	case lacksLog(err):
		return fmt.Errorf("%s writes more log than this member receives, and has no room to keep it. Raise spec.storage, or write less for a while: %w", source.name, err)
	}
	return err
}
