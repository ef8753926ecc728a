package member

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// layout is where things are on a member's volume.
type layout string

func (l layout) database() string  { return filepath.Join(string(l), "database") }
func (l layout) log() string       { return filepath.Join(l.database(), "pg_wal") }
func (l layout) partial() string   { return filepath.Join(string(l), "database.partial") }
func (l layout) restoring() layout { return layout(filepath.Join(string(l), "restoring")) }
func (l layout) settings() string  { return filepath.Join(string(l), "postgresql.conf") }
func (l layout) hba() string       { return filepath.Join(string(l), "pg_hba.conf") }
func (l layout) control() string   { return filepath.Join(l.database(), "global", "pg_control") }

// lock is where PostgreSQL writes its process ID, and when it was started.
func (l layout) lock() string { return filepath.Join(l.database(), "postmaster.pid") }

// arguments tell PostgreSQL where its database and its settings are.
func (l layout) arguments() []string {
	return []string{"-D", l.database(), "-c", "config_file=" + l.settings()}
}

// archiveFailure is why a file of the log was not archived the last time that one was not.
func (l layout) archiveFailure() string { return filepath.Join(string(l), "archive-failure") }

// complete reports whether there is a database. A folder gets this name when all is in it.
func (l layout) complete() bool {
	_, err := os.Stat(filepath.Join(l.database(), "PG_VERSION"))
	return err == nil
}

// standbySignal makes PostgreSQL start as a standby. It removes the file when it is promoted.
const standbySignal = "standby.signal"

func isStandby(database string) bool {
	_, err := os.Stat(filepath.Join(database, standbySignal))
	return err == nil
}

// check returns an error if the database is another version's.
func (l layout) check(version string) error {
	content, err := os.ReadFile(filepath.Join(l.database(), "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the version of the database: %w", err)
	}
	if found := strings.TrimSpace(string(content)); found != version {
		return fmt.Errorf("the disk has a database of PostgreSQL %s, and this is PostgreSQL %s; use an image with that version", found, version)
	}
	return nil
}

// clean removes what an agent that was killed has left half done.
func (l layout) clean() error {
	return errors.Join(os.RemoveAll(l.partial()), os.RemoveAll(string(l.restoring())))
}

// keep gives the complete copy its name, so that it survives a crash as a whole.
func (l layout) keep() error {
	if err := os.Rename(l.partial(), l.database()); err != nil {
		return err
	}
	return archive.SyncFolder(string(l))
}

// adopt makes the database that was restored this member's. It was complete before.
func (l layout) adopt() error {
	if err := os.Rename(l.restoring().database(), l.database()); err != nil {
		return err
	}
	return errors.Join(archive.SyncFolder(string(l)), os.RemoveAll(string(l.restoring())))
}

// wipe removes the database. The name of one that is not complete makes it that at once.
func (l layout) wipe() error {
	if err := l.clean(); err != nil {
		return err
	}
	if err := os.Rename(l.database(), l.partial()); err != nil {
		return err
	}
	return errors.Join(archive.SyncFolder(string(l)), l.clean())
}

// setAside gives the database a name beside, under which nothing removes it. Without the signal of a
// standby, a person can start PostgreSQL on it by itself. An agent that dies before it has another
// name makes the signal again.
func (l layout) setAside(folder string) error {
	if err := errors.Join(os.RemoveAll(filepath.Join(l.database(), standbySignal)), os.RemoveAll(l.lock())); err != nil {
		return err
	}
	if err := os.Rename(l.database(), filepath.Join(string(l), folder)); err != nil {
		return err
	}
	return archive.SyncFolder(string(l))
}

// aside are the folders that were set aside.
func (l layout) aside() ([]string, error) {
	entries, err := os.ReadDir(string(l))
	var folders []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), plan.KeptPrefix) {
			folders = append(folders, entry.Name())
		}
	}
	return folders, err
}

// replaceFile writes a file that is never seen half written.
func replaceFile(path, content string) error {
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// writeFile writes a file, and has the disk keep it.
func writeFile(path string, flag int, content string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Sync(), file.Close())
}
