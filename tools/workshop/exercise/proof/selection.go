package proof

import (
	"path"
	"path/filepath"
	"slices"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

// A selection is the packages that say whether an exercise is honest.
type selection struct {
	compiled []string // those that the patch could break: what it touches, and what depends on that
	tested   []string // what it touches, and what judge.yaml names
}

// selectPackages selects among the packages of a module. The files are those that the patch
// touches, from the top of the repository. With dependents, what is compiled is tested, too.
func selectPackages(packages []gotest.Listing, e exercise.Exercise, files []string, dependents bool) selection {
	files = slices.Clone(files)
	for i, file := range files { // from the module's folder, as the packages are
		if below, err := filepath.Rel(e.Module(), file); err == nil {
			files[i] = filepath.ToSlash(below)
		}
	}
	var touched, all []string
	for _, p := range packages {
		all = append(all, p.Path)
		if slices.ContainsFunc(files, func(file string) bool { return touches(packages, p, file) }) {
			touched = append(touched, p.Path)
		}
	}
	s := selection{compiled: withDependents(packages, touched), tested: slices.Concat(touched, e.Packages())}
	isData := func(file string) bool { return path.Ext(file) != ".go" }
	switch {
	case dependents && slices.ContainsFunc(files, isData):
		s.tested = append(s.tested, all...) // any test may read it
	case dependents:
		s.tested = append(s.tested, s.compiled...)
	}
	slices.Sort(s.tested)
	// Installing a lab is slow; it is done only for exercises that ask for it.
	s.tested = slices.DeleteFunc(slices.Compact(s.tested), func(p string) bool {
		return path.Base(p) == "e2e" && !slices.Contains(e.Packages(), p)
	})
	return s
}

// touches says whether a file is a package's: it lies in its folder, or in one below that
// has no package of its own, or the package embeds it.
func touches(packages []gotest.Listing, p gotest.Listing, file string) bool {
	for _, embedded := range slices.Concat(p.EmbedFiles, p.TestEmbedFiles, p.XTestEmbedFiles) {
		if path.Join(p.Path, embedded) == file {
			return true
		}
	}
	for folder := path.Dir(file); ; folder = path.Dir(folder) {
		isIt := func(p gotest.Listing) bool { return path.Clean(p.Path) == folder }
		if slices.ContainsFunc(packages, isIt) || folder == "." {
			return isIt(p)
		}
	}
}

// withDependents returns the packages and those that import them, directly or not, be it
// only for their tests.
func withDependents(packages []gotest.Listing, some []string) []string {
	linked := slices.Clone(some) // without those that do so for their tests
	imports := func(paths []string) bool {
		return slices.ContainsFunc(paths, func(imported string) bool { return slices.Contains(linked, imported) })
	}
	for grown := true; grown; {
		grown = false
		for _, p := range packages {
			if !slices.Contains(linked, p.Path) && imports(p.Imports) {
				linked, grown = append(linked, p.Path), true
			}
		}
	}
	var all []string
	for _, p := range packages {
		if slices.Contains(linked, p.Path) || imports(slices.Concat(p.TestImports, p.XTestImports)) {
			all = append(all, p.Path)
		}
	}
	return all
}
