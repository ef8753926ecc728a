package branch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A module is one of a branch, and what it has there that is not as in the commit that
// the branch was cut from.
type module struct {
	folder   string
	replaced []string // the folders that its go.mod takes other modules from
	texts    bool     // its Markdown differs
	code     bool     // something else differs
}

// modulesOf returns the modules of the commit that is checked out, compared by git's
// hashes with another one. Beyond the modules, only what the proof looks at may differ.
func modulesOf(ctx context.Context, r repository.Repository, whole string, gone []Branch) ([]*module, error) {
	modules, err := findModules(ctx, r)
	if err != nil {
		return nil, err
	}
	args := []string{"--name-only", "--no-renames", "-z", whole, "HEAD", "--", "."}
	for _, b := range gone {
		args = append(args, ":!"+b.Stage.Folder)
	}
	changed, err := r.Diff(ctx, args...)
	if err != nil {
		return nil, err
	}
	for _, file := range names(changed) {
		m := innermost(modules, file)
		switch {
		case path.Ext(file) == ".md":
			m.texts = true
		case m.folder == "lab" || m.folder == "" && file != "go.work" && !strings.HasPrefix(file, "katacoda/"):
			return nil, fmt.Errorf("it changes %s, which nothing tests on a branch", file)
		default:
			m.code = true
		}
	}
	return modules[1:], nil
}

// findModules returns what is in no module, with an empty folder, and then the modules.
func findModules(ctx context.Context, r repository.Repository) ([]*module, error) {
	files, err := r.Git(ctx, "ls-files", "-z", ":(glob)**/go.mod")
	if err != nil {
		return nil, err
	}
	modules := []*module{{}}
	for _, file := range names(files) {
		if slices.Contains(strings.Split(file, "/"), "testdata") {
			continue
		}
		m := &module{folder: path.Dir(file)}
		if err := m.readReplaced(r, file); err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	return modules, nil
}

// readReplaced wants each folder that a go.mod names to be there.
func (m *module) readReplaced(r repository.Repository, file string) error {
	content, err := os.ReadFile(r.Path(file))
	if err != nil {
		return err
	}
	parsed, err := modfile.Parse(file, content, nil)
	if err != nil {
		return err
	}
	for _, replace := range parsed.Replace {
		if !modfile.IsDirectoryPath(replace.New.Path) {
			continue
		}
		folder := path.Join(m.folder, replace.New.Path)
		if _, err := os.Stat(r.Path(folder, "go.mod")); err != nil {
			return fmt.Errorf("%s takes %s from %s, which is not there", file, replace.Old.Path, replace.New.Path)
		}
		m.replaced = append(m.replaced, folder)
	}
	return nil
}

// innermost returns the module that a file lies in.
func innermost(modules []*module, file string) *module {
	found := modules[0]
	for _, m := range modules {
		if strings.HasPrefix(file, m.folder+"/") && len(m.folder) > len(found.folder) {
			found = m
		}
	}
	return found
}

// differs says whether a module, or one that it is compiled with, is not the one that was
// tested already. Its go.mod names all of these: Go heeds no other module's replacements.
func (m *module) differs(modules []*module) bool {
	return m.code || slices.ContainsFunc(modules, func(other *module) bool {
		return other.code && slices.Contains(m.replaced, other.folder)
	})
}

var (
	namesText = regexp.MustCompile(`\.md"`)
	testName  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// lessonTests returns the arguments by which go test runs the tests of a module that read
// Markdown, none if it has no such test: those in a file that names one.
func (m *module) lessonTests(r repository.Repository) ([]string, error) {
	root := r.Path(m.folder)
	var tests, folders []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); file != root && err == nil {
				return fs.SkipDir // another module
			}
			return nil
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil || !namesText.Match(content) {
			return err
		}
		for _, match := range testName.FindAllSubmatch(content, -1) {
			tests = append(tests, string(match[1]))
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		folders = append(folders, "./"+filepath.ToSlash(folder))
		return err
	})
	if err != nil || len(tests) == 0 {
		return nil, err
	}
	return append([]string{"-run=^(" + strings.Join(tests, "|") + ")$"}, folders...), nil
}

// names splits what git prints with -z.
func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
}
