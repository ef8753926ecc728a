package member

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// user is the only user of PostgreSQL that members know. It is a superuser, and the Secret of
// the cluster has its password.
const user = "postgres"

// nobody is whom commits wait for until the agent has been told better. No standby has this
// name, so a member that takes writes too early acknowledges none of them.
const nobody = "nobody"

// settings are what the agent decides about PostgreSQL. They are written to a file of its own:
// the one in the database was copied with it from another member.
type settings struct {
	uid     types.UID
	address string // host:port
	sockets string // the folder of the socket
	// names is the standby that commits wait for. If it is empty they wait for none.
	names string
	// primary is the address of the member to receive from, if any.
	primary string
	member  string // the name that the primary knows this member by
}

// file is the content of the settings file. PostgreSQL takes the last of equal names.
func (s settings) file(files layout) string {
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
		"hot_standby":                 "on",
		"wal_level":                   "replica",
		"max_wal_senders":             "20",
		"wal_keep_size":               "256MB", // for a standby that comes back
		"wal_sender_timeout":          "5s",
		"wal_receiver_timeout":        "5s",
		"wal_retrieve_retry_interval": "1s",
		"synchronous_commit":          "on",
		"synchronous_standby_names":   "",
		"primary_conninfo":            "",
		// A PostgreSQL that has crashed ends, and the pod with it.
		"restart_after_crash": "off",
	}
	if s.names != "" {
		values["synchronous_standby_names"] = `"` + s.names + `"`
	}
	if s.primary != "" {
		host, port, _ := net.SplitHostPort(s.primary)
		values["primary_conninfo"] = fmt.Sprintf("host=%s port=%s user=%s passfile=%s application_name=%s", host, port, user, escape(files.password()), s.member)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "include = %s\n", quote(filepath.Join(files.database(), "postgresql.conf")))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s = %s\n", name, quote(values[name]))
	}
	return b.String()
}

// quote is a value as settings files have it.
func quote(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(value) + "'"
}

// escape is a value as a conninfo has it.
func escape(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

// access is who may connect: who can open the socket, and who has the password.
const access = `local all all trust
local replication all trust
host all all all scram-sha-256
host replication all all scram-sha-256
`
