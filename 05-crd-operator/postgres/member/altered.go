package member

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
)

// ALTER SYSTEM writes postgresql.auto.conf, which PostgreSQL reads after the agent's own file, and
// a base backup has it, too. So the agent removes from it what it decides itself: all of that
// before PostgreSQL starts, and what the promise rests on also while it runs.

// promised are the settings that the promise rests on.
var promised = []string{
	// An acknowledged commit is on two disks.
	"synchronous_commit", "synchronous_standby_names", "fsync", "full_page_writes",
	// A standby has the log of the primary, and all of it.
	"primary_conninfo", "primary_slot_name", "restore_command", "recovery_end_command", "archive_cleanup_command",
	"recovery_target", "recovery_target_action", "recovery_target_inclusive", "recovery_target_lsn", "recovery_target_name",
	"recovery_target_time", "recovery_target_timeline", "recovery_target_xid",
	// The agent decides who takes writes, and sees it when PostgreSQL has crashed.
	"cluster_name", "hot_standby", "promote_trigger_file", "restart_after_crash", "wal_level",
	// The archive has all of the log.
	"archive_mode", "archive_command", "archive_library",
}

// fixed never change. They are on PostgreSQL's command line, too, which comes after all files: of
// these, ALTER SYSTEM changes nothing, not even for a moment.
var fixed = []string{"synchronous_commit", "fsync", "full_page_writes", "restart_after_crash"}

// own are the names of all settings that the agent decides, or may decide at another time.
func own() []string {
	all := settings{version: "17", archive: "x", bounded: true, readOnly: true, capacity: 1}
	names := slices.Collect(maps.Keys(all.values("")))
	all.until = time.Unix(0, 0)
	return append(slices.AppendSeq(names, maps.Keys(all.values(""))), promised...)
}

// dropSettings removes settings from a settings file, and returns what is left, and their names.
func dropSettings(content string, names []string) (rest string, dropped []string) {
	var kept strings.Builder
	for line := range strings.Lines(content) {
		if name := settingName(line); slices.Contains(names, name) {
			dropped = append(dropped, name)
		} else {
			kept.WriteString(line)
		}
	}
	return kept.String(), dropped
}

// settingName is the name in a line of a settings file. Between it and the value may be a =, or
// only a space, and it may have capitals.
func settingName(line string) string {
	fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n='", r) })
	if len(fields) == 0 {
		return ""
	}
	return strings.ToLower(fields[0])
}

// dropAltered removes settings from postgresql.auto.conf, and reports whether there were any. If
// somebody runs ALTER SYSTEM at the same moment, one of the two is lost; the next time this is
// called, it removes what is there again.
func (s *server) dropAltered(names []string) (bool, error) {
	path := filepath.Join(s.files.database(), "postgresql.auto.conf")
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rest, dropped := dropSettings(string(content), names)
	if len(dropped) == 0 {
		return false, nil
	}
	s.renamed = s.renamed || slices.Contains(dropped, "synchronous_standby_names")
	klog.Background().Info("somebody has changed settings that the agent decides, as with ALTER SYSTEM; they are removed from postgresql.auto.conf", "settings", dropped)
	return true, s.files.replaceAltered(path, rest)
}

// replaceAltered has the disk keep the file before it gets its name. It is written beside the
// database, so that no copy of that has it twice.
func (l layout) replaceAltered(path, content string) error {
	written := filepath.Join(string(l), filepath.Base(path)+".new")
	if err := writeFile(written, os.O_TRUNC, content); err != nil {
		return err
	}
	if err := os.Rename(written, path); err != nil {
		return err
	}
	return archive.SyncFolder(filepath.Dir(path))
}
