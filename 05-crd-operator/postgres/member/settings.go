package member

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// nobody is whom commits wait for until the agent has been told better. No standby has this
// name, so a member that takes writes too early acknowledges none of them.
const nobody = "nobody"

// settings are what the agent decides about PostgreSQL. They are written to a file of its own:
// the one in the database was copied with it from another member.
type settings struct {
	uid     types.UID
	version string // of PostgreSQL, such as 17.6, if it is known
	address string // host:port
	sockets string // the folder of the socket, and of what nobody else may read
	secrets secrets
	// names is the standby that commits wait for. If it is empty they wait for none.
	names string
	// primary is the member to receive from, if any.
	primary peer
	member  string // the name that the primary knows this member by

	archive string    // the command that archives a file of the log; without it nothing is archived
	mode    string    // what is archived: "always", also what was received; "on", what was written here
	fetch   string    // the command that fetches a file from an archive, if any
	bounded bool      // whether nothing is fetched that was not in the archive at the start
	until   time.Time // the commits that are recovered; all, if it is zero

	capacity int64 // of the disk, in bytes, if it is known
	readOnly bool  // whether the disk is nearly full, so that nothing is written
}

func (s settings) certificate() string { return filepath.Join(s.sockets, "server.crt") }
func (s settings) key() string         { return filepath.Join(s.sockets, "server.key") }
func (s settings) passfile() string    { return filepath.Join(s.sockets, "pgpass") }

// values are what the agent decides, by the names of settings.
func (s settings) values(files layout) map[string]string {
	host, port, _ := net.SplitHostPort(s.address)
	values := map[string]string{
		"listen_addresses":        host,
		"port":                    port,
		"unix_socket_directories": s.sockets,
		"unix_socket_permissions": "0700",
		"data_directory":          files.database(),
		"hba_file":                files.hba(),
		// The name of a process, so that a member sees to whom it is connected.
		"cluster_name":                string(s.uid),
		"password_encryption":         "scram-sha-256",
		"ssl":                         "on",
		"ssl_min_protocol_version":    "TLSv1.3",
		"ssl_cert_file":               s.certificate(),
		"ssl_key_file":                s.key(),
		"hot_standby":                 "on",
		"max_standby_streaming_delay": "30s", // how long replay waits for readers, and so how much a promotion has to replay
		"max_standby_archive_delay":   "30s",
		"recovery_min_apply_delay":    "0",
		"wal_level":                   "replica",
		"max_wal_senders":             "20",
		"wal_keep_size":               "256MB", // for a standby that comes back
		"max_slot_wal_keep_size":      "512MB", // for one that has a slot, and lags
		"wal_sender_timeout":          "5s",
		"wal_receiver_timeout":        "5s",
		"wal_retrieve_retry_interval": "1s",
		"fsync":                       "on",
		"full_page_writes":            "on",
		"synchronous_commit":          "on",
		"synchronous_standby_names":   "",
		"primary_conninfo":            "",
		"primary_slot_name":           "",
		// A PostgreSQL that has crashed ends, and the pod with it.
		"restart_after_crash": "off",
		"archive_mode":        "off",
		"archive_library":     "", // it would come before the command
		"restore_command":     s.fetch,
		// A member goes where the primary goes.
		"recovery_target_timeline": "latest",
	}
	if s.refusesAlterSystem() {
		values["allow_alter_system"] = "off"
	}
	if s.archive != "" {
		values["archive_mode"], values["archive_command"] = s.mode, s.archive
	}
	if s.bounded { // what was not there is not asked for again
		values["wal_retrieve_retry_interval"] = "1d"
	}
	if s.until.IsZero() {
		for _, name := range targets {
			values[name] = ""
		}
	} else { // PostgreSQL takes no second target, not even an empty one
		values["recovery_target_time"], values["recovery_target_action"] = s.until.UTC().Format("2006-01-02 15:04:05.999999-07"), "pause"
	}
	if s.readOnly {
		values["default_transaction_read_only"] = "on"
		values["temp_file_limit"] = "0" // nor do those that only read
	}
	if s.capacity > 0 { // a small disk must not be full of log
		values["max_wal_size"] = kilobytes(logShare(s.capacity) / 2)
		values["wal_keep_size"] = kilobytes(min(logShare(s.capacity)/2, 256<<20)) // for a standby that comes back
		// With what is written until the next checkpoint, this is the share of the log, too.
		values["max_slot_wal_keep_size"] = kilobytes(logShare(s.capacity) / 2)
	}
	if s.names != "" {
		values["synchronous_standby_names"] = `"` + s.names + `"`
	}
	if s.primary.address != "" {
		values["primary_slot_name"] = slotOf(s.member)
		ip, port, _ := net.SplitHostPort(s.primary.address)
		values["primary_conninfo"] = fmt.Sprintf("host=%s hostaddr=%s port=%s user=%s passfile=%s sslmode=verify-full sslrootcert=%s application_name=%s",
			s.primary.name, ip, port, replicator, escape(s.passfile()), escape(s.secrets.bundle()), s.member)
	}
	return values
}

// targets are where a recovery may end. A member's has no end.
var targets = []string{"recovery_target", "recovery_target_lsn", "recovery_target_name", "recovery_target_time", "recovery_target_xid"}

// refusesAlterSystem reports whether this PostgreSQL can be told to refuse ALTER SYSTEM. An older
// one does not start with a name that it does not know.
func (s settings) refusesAlterSystem() bool {
	major, err := strconv.Atoi(plan.Major(s.version))
	return err == nil && major >= 17
}

// file is the content of the settings file. PostgreSQL takes the last of equal names.
func (s settings) file(files layout) string {
	values := s.values(files)
	var b strings.Builder
	fmt.Fprintf(&b, "include = %s\n", quote(filepath.Join(files.database(), "postgresql.conf")))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s = %s\n", name, quote(values[name]))
	}
	return b.String()
}

// kilobytes is a size of log as settings files have it. PostgreSQL wants two segments at least.
func kilobytes(bytes int64) string { return fmt.Sprintf("%dkB", max(bytes, 2*archive.SegmentSize)>>10) }

// quote is a value as settings files have it.
func quote(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(value) + "'"
}

// escape is a value as a conninfo has it.
func escape(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

// access is who may connect: who can open the socket, and over TLS, who has a password.
const access = `local all all trust
local replication all trust
hostssl all all all scram-sha-256
hostssl replication replication all scram-sha-256
`
