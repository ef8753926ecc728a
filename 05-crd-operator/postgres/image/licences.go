package image

import (
	"bytes"
	"context"
	"embed"
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

// licences are the texts that no package of this machine has.
//
//go:embed licences
var licences embed.FS

// licencesPath is where the image has them. README.txt there says which is whose.
const licencesPath = "/usr/share/doc/postgres-member"

// Licences says whose licences an image has.
type Licences struct {
	Packages []string // of this machine
	Modules  int      // of Go
	Unknown  []string // files of this machine that no package is known for
}

// addLicences adds the licences of all files, and of the agent's package.
func (p PostgreSQL) addLicences(ctx context.Context, all files, agent string) (found Licences, err error) {
	packages, unknown := packagesOf(ctx, p.fromMachine(all))
	found.Packages, found.Unknown = packages, unknown
	if err := fs.WalkDir(licences, "licences", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := licences.ReadFile(path)
		all[filepath.Join(licencesPath, entry.Name())] = oci.File{Text: string(text), Mode: 0o644}
		return err
	}); err != nil {
		return found, err
	}
	if found.Modules, err = addModuleLicences(ctx, all, agent); err != nil || len(packages) == 0 {
		return found, err
	}
	return found, p.addPackageLicences(ctx, all, packages)
}

// addModuleLicences adds the licences of Go and of the modules that are linked into a
// program, and returns how many modules these are.
func addModuleLicences(ctx context.Context, all files, pkg string) (int, error) {
	settings, err := oci.Environment(ctx, platform)
	if err != nil {
		return 0, err
	}
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", pkg)
	list.Env = settings
	output, err := list.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return 0, fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return 0, err
	}
	root, err := ask(ctx, "go", "env", "GOROOT")
	if err != nil {
		return 0, err
	}
	folders := map[string]string{"std": root}
	for line := range strings.Lines(string(output)) {
		if module, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			folders[module] = folder
		}
	}
	for module, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return 0, err
		}
		for _, entry := range entries {
			name := strings.ToUpper(entry.Name())
			if entry.Type().IsRegular() && slices.ContainsFunc([]string{"LICEN", "COPYING", "NOTICE", "PATENTS"}, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
				if err := all.add(filepath.Join(licencesPath, "go", module, entry.Name()), filepath.Join(folder, entry.Name())); err != nil {
					return 0, err
				}
			}
		}
	}
	return len(folders) - 1, nil
}
