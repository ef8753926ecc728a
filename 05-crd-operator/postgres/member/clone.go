package member

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
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
	room, err := a.server.files.room(capacityOf(status, a.Name))
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

// clone copies the database of another member, and receives its log meanwhile, which makes the copy
// consistent. That one goes on. The copy gets its name when it is complete.
func (s *server) clone(ctx context.Context, source peer, room int64) error {
	from, err := connectMember(ctx, source, s.settings.secrets)
	if err != nil {
		return fmt.Errorf("cloning: %w", err)
	}
	defer from.close()
	size, err := from.size(ctx)
	if err == nil && size > room {
		err = fmt.Errorf("%w for a copy: it needs %d MiB, and %d MiB are left", errNoRoom, size>>20, max(room, 0)>>20)
	}
	if err == nil {
		err = s.copyWithLog(ctx, from, source, room-size)
	}
	if err != nil {
		return fmt.Errorf("cloning from %s: %w", source.address, err)
	}
	return s.files.keep()
}

// size is how large the databases of a member are, in bytes.
func (s session) size(ctx context.Context) (int64, error) {
	rows, err := s.within(ctx, checkpointTimeout, "SELECT sum(pg_database_size(oid)) FROM pg_database")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(rows[0][0], 10, 64)
}

// copyWithLog receives the log from before the copy begins until after it has ended.
func (s *server) copyWithLog(ctx context.Context, from session, source peer, room int64) error {
	log, err := s.receiveLog(ctx, source, room)
	if err != nil {
		return err
	}
	defer log.close()
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return log.run(running) })
	g.Go(func() error {
		if err := receive(running, from, s.files.partial()); err != nil {
			return err
		}
		_, end, err := from.identify(running)
		log.end.Store(uint64(end.At))
		return err
	})
	return g.Wait()
}

// receive asks for a base backup, and unpacks it into a folder.
func receive(ctx context.Context, from session, folder string) error {
	reader, writer := io.Pipe()
	unpacked := make(chan error, 1)
	go func() {
		err := unpack(reader, folder)
		reader.CloseWithError(err) // the rest is not wanted
		unpacked <- err
	}()
	err := from.baseBackup(ctx, writer, withoutLog)
	writer.CloseWithError(err) // without an error, the end
	return errors.Join(err, <-unpacked)
}

// baseBackup writes a copy of the database as a tar file. PostgreSQL compares the checksums of
// all pages meanwhile. Nobody waits for the archive: while nothing is written, no segment is closed,
// and that could last. So the copy has the log that it needs, or that is received beside it.
func (s session) baseBackup(ctx context.Context, to io.Writer, log string) error {
	_, err := s.CopyTo(ctx, &answer{to: to}, "BASE_BACKUP (LABEL 'agent', CHECKPOINT 'fast', WAIT false, MANIFEST 'no', WAL "+log+")")
	return err
}

// Whether a base backup ends with the log that was written during it.
const (
	withLog    = "true"
	withoutLog = "false"
)

// answer is that to BASE_BACKUP, a sequence of messages. There is one tar file in it.
type answer struct {
	to    io.Writer
	begun bool
}

// Write takes a message: its kind in the first byte, then its content.
func (a *answer) Write(message []byte) (int, error) {
	if len(message) == 0 {
		return 0, errors.New("an empty message")
	}
	switch kind, content := message[0], message[1:]; {
	case kind == 'n' && a.begun:
		name, _, _ := bytes.Cut(content, []byte{0})
		return 0, fmt.Errorf("the database has a tablespace of its own (%s), and members copy none; drop it", name)
	case kind == 'n':
		a.begun = true
	case kind == 'd':
		if _, err := a.to.Write(content); err != nil {
			return 0, err
		}
	}
	return len(message), nil
}

// unpack writes what is in an archive to a folder, and has the disk keep it.
func unpack(archived io.Reader, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for entries := tar.NewReader(archived); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return syncAll(root.FS())
		}
		if err != nil {
			return err
		}
		switch entry.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(filepath.Clean(entry.Name), 0o700)
		case tar.TypeReg:
			err = unpackFile(root, entry.Name, entries)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", entry.Name)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// syncAll has the disk keep all files and folders. Done at the end, it waits less often than
// file by file.
func syncAll(folder fs.FS) error {
	return fs.WalkDir(folder, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := folder.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return file.(*os.File).Sync() // which it is in an os.Root
	})
}
