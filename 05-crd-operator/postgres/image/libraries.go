package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

// The user of the image. initdb and postgres refuse to run as root.
const (
	userID = 26
	passwd = "root:x:0:0::/:/bin/sh\npostgres:x:26:26::/var/lib/postgresql:/bin/sh\n"
	groups = "root:x:0:\npostgres:x:26:\n"
)

// addSystem adds what programs expect of a Linux system: the libraries that they load, the
// loader itself, the shell by which initdb starts postgres, accounts, and time zones.
func (p PostgreSQL) addSystem(ctx context.Context, all files) error {
	if err := all.add("/bin/sh", "/bin/sh"); err != nil {
		return err
	}
	var programs []string
	for path, f := range all {
		if path == "/bin/sh" || filepath.Dir(path) == p.in(p.Bin) || filepath.Dir(path) == p.in(p.lib) {
			programs = append(programs, f.Source)
		}
	}
	slices.Sort(programs)
	libraries, err := librariesOf(ctx, programs)
	if err != nil {
		return err
	}
	for _, library := range libraries {
		if err := all.add(p.in(library), library); err != nil {
			return err
		}
		// Before version 2.34, glibc loads this one only when somebody asks for an account.
		if accounts := filepath.Join(filepath.Dir(library), "libnss_files.so.2"); strings.HasPrefix(filepath.Base(library), "libc.so.") {
			if err := all.add(accounts, accounts); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for path, text := range map[string]string{
		"/etc/passwd": passwd, "/etc/group": groups, "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
	} {
		all[path] = oci.File{Text: text, Mode: 0o644}
	}
	all["/tmp"] = oci.File{Mode: fs.ModeDir | fs.ModeSticky | 0o777}
	all["/var/lib/postgresql"] = oci.File{Mode: fs.ModeDir | 0o700, User: userID}
	return errors.Join(p.addTimeZones(all), p.addFolder(all, "/usr/lib/locale/C.utf8"))
}

// addTimeZones adds those of this machine, unless PostgreSQL has its own.
func (p PostgreSQL) addTimeZones(all files) error {
	if _, err := os.Stat(filepath.Join(p.share, "timezone")); err == nil {
		return nil
	}
	// The two count leap seconds, or say the same again; the third is where this machine is.
	return p.addFolder(all, "/usr/share/zoneinfo", "right", "posix", "localtime")
}

// librariesOf asks the loader which shared libraries programs load, itself included.
func librariesOf(ctx context.Context, programs []string) ([]string, error) {
	ldd := exec.CommandContext(ctx, "ldd", programs...)
	ldd.Env = append(os.Environ(), "LC_ALL=C")
	output, err := ldd.Output()
	if err != nil {
		return nil, fmt.Errorf("ldd cannot say which libraries PostgreSQL loads: %w", err)
	}
	var found []string
	program := "" // of the lines that follow
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		name, path, isNamed := strings.Cut(line, " => ")
		switch {
		case strings.HasSuffix(line, ":"):
			program = strings.TrimSuffix(line, ":")
		case isNamed && path == "not found":
			return nil, fmt.Errorf("%s needs %s, which is not on this machine; install it", program, name)
		case isNamed:
			line = path
			fallthrough
		case strings.HasPrefix(line, "/"): // the loader
			path, _, _ := strings.Cut(line, " (")
			found = append(found, filepath.Clean(path))
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
