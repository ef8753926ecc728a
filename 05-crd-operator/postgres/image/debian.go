package image

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

// addPackageLicences adds the licences of Debian packages, and where their sources are.
func (p PostgreSQL) addPackageLicences(ctx context.Context, all files, packages []string) error {
	for _, name := range packages {
		path := filepath.Join("/usr/share/doc", name, "copyright")
		if err := all.add(path, path); err != nil {
			return err
		}
	}
	versions, err := ask(ctx, "dpkg-query", append([]string{"--show", "--showformat", "${Package} ${Version}, source: ${source:Package} ${source:Version}\n"}, packages...)...)
	all[filepath.Join(licencesPath, "packages.txt")] = oci.File{Text: versions + "\n", Mode: 0o644}
	return errors.Join(err, p.addFolder(all, "/usr/share/common-licenses"))
}

// fromMachine are the files that were taken from this machine.
func (p PostgreSQL) fromMachine(all files) []string {
	var paths []string
	for _, f := range all {
		if f.Source != "" && p.in(f.Source) == f.Source {
			paths = append(paths, f.Source)
		}
	}
	slices.Sort(paths)
	return paths
}

// packagesOf returns the Debian packages that files belong to, and the files that belong
// to none.
func packagesOf(ctx context.Context, paths []string) (packages, unknown []string) {
	owner := map[string]string{}
	var names []string
	for _, path := range paths {
		names = append(names, aliases(path)...)
	}
	// It fails if it does not know one of the files, or is not there.
	output, _ := exec.CommandContext(ctx, "dpkg-query", append([]string{"--search"}, names...)...).Output()
	for line := range strings.Lines(string(output)) {
		names, path, _ := strings.Cut(strings.TrimSpace(line), ": ")
		name, _, _ := strings.Cut(names, ",")
		owner[path], _, _ = strings.Cut(name, ":") // the architecture
	}
	set := map[string]bool{}
	for _, path := range paths {
		i := slices.IndexFunc(aliases(path), func(alias string) bool { return owner[alias] != "" })
		if i < 0 {
			unknown = append(unknown, path)
			continue
		}
		set[owner[aliases(path)[i]]] = true
	}
	return slices.Sorted(maps.Keys(set)), unknown
}

// aliases are the names by which Debian may know a file: where links lead, and as it was
// before /lib became a link to /usr/lib.
func aliases(path string) []string {
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	for _, name := range slices.Clone(names) {
		if short, ok := strings.CutPrefix(name, "/usr"); ok {
			names = append(names, short)
		} else {
			names = append(names, "/usr"+name)
		}
	}
	return names
}
