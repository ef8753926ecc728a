package image

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

// files are those of an image, by their path in it.
type files map[string]oci.File

// add adds a file of this machine. Who may execute it may do so in the image, and everybody
// may read it.
func (all files) add(path, source string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	all[path] = oci.File{Source: source, Mode: mode}
	return nil
}

// in is where a file of this machine is in the image.
func (p PostgreSQL) in(path string) string {
	if below, ok := strings.CutPrefix(path, p.prefix+"/"); ok && p.prefix != "" {
		return filepath.Join(p.place, below)
	}
	return path
}

// files are all of PostgreSQL that a member needs. Its programs find the rest from where
// they are themselves, so nothing may move against them.
func (p PostgreSQL) files(ctx context.Context) (files, error) {
	modules, err := p.modules()
	if err != nil {
		return nil, err
	}
	all := files{}
	for _, path := range append(modules, filepath.Join(p.Bin, "postgres"), filepath.Join(p.Bin, "initdb")) {
		if err := all.add(p.in(path), path); err != nil {
			return nil, err
		}
	}
	if err := p.addFolder(all, p.share, unread...); err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		return all, p.addSystem(ctx, all)
	}
	return all, p.addBeside(all)
}

// unread are folders of PostgreSQL's data that a server does not read, but people.
var unread = []string{"man", "doc", "locale"}

// addFolder adds the files of a folder of this machine, if there is such a folder. It leaves out the files
// and folders that have one of these names.
func (p PostgreSQL) addFolder(all files, folder string, but ...string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case slices.Contains(but, entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case !slices.Contains(but, entry.Name()) && !entry.IsDir():
			err = all.add(p.in(path), path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // no such folder, or a link that leads nowhere, as Debian leaves them for dictionaries
		}
		return err
	})
}

// leftOut are modules that are left out: the compiler of queries, as its LLVM is larger than all
// the rest, and those that come with an interpreter or a library that nothing else needs.
var leftOut = regexp.MustCompile(`^llvmjit|plperl|plpython|pltcl|^sepgsql|^uuid-ossp`)

// modules are what the server loads when it is asked to.
func (p PostgreSQL) modules() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escape(p.lib), "*"+moduleSuffix()))
	return slices.DeleteFunc(paths, func(path string) bool { return leftOut.MatchString(filepath.Base(path)) }), err
}

// escape makes a folder's name mean itself in a pattern.
func escape(folder string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(folder, `\$0`)
}

// addBeside adds the libraries beside the programs. On macOS these are all that the npm
// package needs, and the programs look for them from where they are themselves. Homebrew's
// need more, and find it on this machine: there, a container sees its files.
func (p PostgreSQL) addBeside(all files) error {
	paths, err := filepath.Glob(filepath.Join(escape(p.Home()), "lib", "*.dylib"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		// The larger libraries have three names each.
		if to, err := os.Readlink(path); err == nil && to == filepath.Base(to) {
			all[p.in(path)] = oci.File{Link: to, Mode: 0o777}
		} else if err := all.add(p.in(path), path); err != nil {
			return err
		}
	}
	return nil
}
