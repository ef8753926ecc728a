package shim

import (
	filepath "path"
	"time"

	"example.com/hacking-a-controller/lab/internal/jsonfile"
)

// Spec says what a container runs and in which surroundings.
type Spec struct {
	Args     []string
	Env      []string
	Cwd      string
	Hostname string
	LogPath  string

	// Terminal, Stdin and StdinOnce mean what they mean in a pod.
	Terminal  bool
	Stdin     bool
	StdinOnce bool

	// User is who the process runs as; if nil, the user of the shim.
	User *User
	// NoNewPrivileges is allowPrivilegeEscalation: false.
	NoNewPrivileges bool

	// View gives the container a root directory of its own, with its volumes at
	// their paths. Without it, the process sees the host's files and finds the
	// volumes below rootfs.
	View bool
	// HostFiles makes the host's files visible in that root directory.
	HostFiles bool
	// Shell is a program that takes the place of the host's sh, if any: of all its uses
	// with View, and without it only when the command itself is sh.
	Shell string
	// Self makes this program the command, under the name that Args begins with.
	Self         bool
	ReadOnlyRoot bool
	Mounts       []Mount

	// Pause runs no process at all.
	Pause bool
}

// User is the identity of a process.
type User struct {
	UID, GID uint32
	Groups   []uint32
}

// Mount puts a file or directory of the host into the container.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Started is written when the container's process runs.
type Started struct {
	PID int
	At  time.Time
}

// Exit is written when the container has ended.
type Exit struct {
	Code    int
	At      time.Time
	Reason  string `json:",omitempty"`
	Message string `json:",omitempty"`
}

// Report is what the shim tells the process that started it.
type Report struct {
	Error string
}

// WriteFile replaces the JSON file name in dir, see [jsonfile.Write].
func WriteFile(dir, name string, value any) error {
	return jsonfile.Write(filepath.Join(dir, name), value)
}

// ReadFile reads what WriteFile wrote, see [jsonfile.Read].
func ReadFile[T any](dir, name string) (*T, error) {
	value := new(T)
	if err := jsonfile.Read(filepath.Join(dir, name), value); err != nil {
		return nil, err
	}
	return value, nil
}
