package member

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
)

// backupOptions say what is copied, and where to.
type backupOptions struct {
	Member   string         // the name of the member to copy
	Address  string         // where its PostgreSQL listens, as host:port
	UID      types.UID      // of its pod
	Folder   archive.Folder // of the backups
	Trial    string         // a folder to restore the copy in, which is left as it is then
	Keep     int            // how many base backups are kept
	Secrets  string         // the folder of the passwords and certificates
	Programs string         // the folder of postgres
	Program  string         // the agent
}

// run makes a base backup, and removes those that are too many.
func (o backupOptions) run(ctx context.Context) error {
	id, err := o.Folder.NextID(time.Now())
	if err != nil {
		return err
	}
	if err := o.make(ctx, id); err != nil {
		_ = o.Folder.Drop(id) // or else the next one does
		return err
	}
	return o.Folder.Prune(o.Keep)
}

// make makes a base backup, and restores it on trial. A copy that cannot be restored is none.
func (o backupOptions) make(ctx context.Context, id string) error {
	begun := time.Now()
	b := archive.Base{ID: id}
	var err error
	if b.Bytes, err = o.copy(ctx, b.ID); err != nil {
		return fmt.Errorf("copying the database of %s: %w", o.Member, err)
	}
	b.End = time.Now()
	klog.FromContext(ctx).Info("copied", "base", b.ID, "bytes", b.Bytes, "took", b.End.Sub(begun).Round(time.Millisecond))
	if b.Segment, err = o.try(ctx, b.ID); err != nil {
		return fmt.Errorf("restoring base backup %s on trial: %w", b.ID, err)
	}
	klog.FromContext(ctx).Info("restored on trial", "base", b.ID, "took", time.Since(b.End).Round(time.Millisecond))
	return o.Folder.Keep(b)
}

// copy copies the database, and returns how large the copy is.
func (o backupOptions) copy(ctx context.Context, id string) (int64, error) {
	from, err := connectMember(ctx, peer{o.Member, o.Address, o.UID}, secrets(o.Secrets))
	if err != nil {
		return 0, err
	}
	defer from.close()
	system, _, err := from.identify(ctx)
	if err != nil {
		return 0, err
	}
	if err := o.Folder.Claim(system); err != nil {
		return 0, err
	}
	if err := o.Folder.Prune(o.Keep); err != nil { // what one was killed at takes the space
		return 0, err
	}
	file, err := o.Folder.Begin(id)
	if err != nil {
		return 0, err
	}
	err = from.baseBackup(ctx, file, withLog)
	info, statErr := file.Stat()
	if err := errors.Join(err, statErr, file.Sync(), file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// try restores a base backup with all of the log that is in the archive, and reads all tables.
// It returns the first file of the log that was needed.
func (o backupOptions) try(ctx context.Context, id string) (segment string, err error) {
	files := layout(filepath.Join(o.Trial, "database"))
	version, err := findVersion(ctx, o.Programs)
	if err != nil {
		return "", err
	}
	s := &server{programs: o.Programs, settings: settings{version: version, member: o.Member, secrets: secrets(o.Secrets)}}
	s.settings.capacity = 1 // so it keeps as little log as it can: who reads a page first may change it
	r, err := s.recover(ctx, files, o.Folder, id, o.Program, time.Time{})
	if err != nil {
		return "", err
	}
	defer r.close()
	// A transaction that was open at the end of the log still has its locks, say on a table that it was loading. The
	// end of the recovery ends it.
	if err := r.session.promote(ctx, checkpointTimeout); err != nil {
		return "", err
	}
	if err := r.readAll(ctx); err != nil {
		return "", err
	}
	return firstSegment(files.database())
}

var startLine = regexp.MustCompile(`(?m)^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$`)

// firstSegment is where the recovery of a base backup begins, which PostgreSQL has noted in it.
func firstSegment(database string) (string, error) {
	label, err := os.ReadFile(filepath.Join(database, "backup_label.old"))
	if err != nil {
		return "", err
	}
	found := startLine.FindSubmatch(label)
	if found == nil {
		return "", fmt.Errorf("the label of the base backup does not say where its log begins: %q", label)
	}
	return string(found[1]), nil
}

// readAll reads all rows of all databases. Nobody can connect to what an interrupted DROP DATABASE has left.
func (r *recovery) readAll(ctx context.Context) error {
	databases, err := r.session.rows(ctx, "SELECT datname FROM pg_database WHERE datallowconn AND datconnlimit <> -2")
	if err != nil {
		return err
	}
	for _, database := range databases {
		s, err := connect(ctx, r.server.local(database[0]))
		if err != nil {
			return err
		}
		err = s.readTables(ctx)
		s.close()
		if err != nil {
			return fmt.Errorf("reading database %s: %w", database[0], err)
		}
	}
	return nil
}

// readTables reads all rows of a database, also those that are kept apart because they are long.
// What is not logged is in no backup, and a materialized view can't be read before it has been filled. Without the
// setting, PostgreSQL may count the rows in an index, and not read the table.
func (s session) readTables(ctx context.Context) error {
	tables, err := s.rows(ctx, "SET enable_indexonlyscan = off; SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 'm', 't') AND relpersistence = 'p' AND relispopulated")
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := s.within(ctx, recoveryTimeout, "SELECT count(*) FROM "+table[0]); err != nil {
			return err
		}
	}
	return nil
}
