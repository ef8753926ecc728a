package lesson

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

// inputs are the files of a repository, of which some can change what a lesson does.
type inputs struct {
	repository repository.Repository
	all        []string // its files, also those that are not committed yet
	machine    string   // what every lesson depends on
}

// newInputs looks at a repository. Program is the path of this program.
func newInputs(ctx context.Context, r repository.Repository, program string) (*inputs, error) {
	files, err := verdict.Files(ctx, r)
	if err != nil {
		return nil, err
	}
	machine, err := verdict.Machine(ctx, r, program)
	return &inputs{r, files, machine}, err
}

// verdict returns that of a lesson, in a folder.
func (in *inputs) verdict(ctx context.Context, l Lesson, folder string) (verdict.Verdict, error) {
	files, err := verdict.HashFiles(in.repository, in.of(l))
	if err != nil {
		return verdict.Verdict{}, err
	}
	goes, err := in.goCommand(ctx, l.Stage.Folder, "env", "GOVERSION", "GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GODEBUG")
	if err != nil {
		return verdict.Verdict{}, err
	}
	return verdict.New(folder, fmt.Sprintf("%s\n%sgo %q\nfiles %s\n", l.Ref, in.machine, goes, files)), nil
}

// of returns the files that can change what the lesson does: its own, those of the stage, and
// what these name outside of it. The text, the checks and the exercises of others are not
// among them, nor are tests, unless it runs some.
func (in *inputs) of(l Lesson) []string {
	var files []string
	named := map[string]bool{}
	filled, _, _ := Tries(in.repository, l.Ref) // the zero value, if there are none
	for _, file := range in.all {
		if in.isOf(l, file) || filled.Breaks && strings.HasPrefix(file, filled.Folder()+"/") {
			files = append(files, file)
			in.nameOf(file, l.Stage.Folder, named)
		}
	}
	in.name(l.code(), named, l.Stage.Folder)
	if makes.MatchString(l.code()) {
		named["Makefile"], named["tools/maintain.mk"], named["tools/scripts"] = true, true, true
	}
	for grown := -1; grown != len(named); { // a module that is named replaces others
		grown = len(named)
		for _, file := range in.all {
			if path.Base(file) == "go.mod" && within(named, file) {
				in.nameOf(file, path.Dir(file), named)
			}
		}
	}
	for _, file := range in.all {
		isText := strings.HasSuffix(file, ".md") || strings.Contains(file, "/lesson/")
		if within(named, file) && !isText && !strings.HasPrefix(file, l.Stage.Folder+"/") {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// isOf says whether a file is one of the stage, and not of another lesson.
func (in *inputs) isOf(l Lesson, file string) bool {
	below, found := strings.CutPrefix(file, l.Stage.Folder+"/")
	switch {
	case !found:
		return false
	case strings.HasPrefix(below, "lesson/checks/") && stepScript.MatchString(below):
		return path.Dir(below) == l.checks()
	case strings.HasPrefix(below, "lesson/exercises/"):
		name, _, _ := strings.Cut(strings.TrimPrefix(below, "lesson/exercises/"), "/")
		return strings.Contains(l.code(), "lesson/exercises/"+name+"/")
	case in.isApart(l, below):
		return false
	case path.Ext(file) == ".md":
		return file == path.Join(l.Folder(), "README.md") || strings.Contains(l.code(), path.Base(file))
	case strings.HasSuffix(file, "_test.go"):
		return tests.MatchString(l.code())
	}
	return true
}

// isApart says whether a file of the stage is in a module of its own there, which is not the lesson's,
// and which the lesson doesn't name. What its scripts and make name is not looked for.
func (in *inputs) isApart(l Lesson, below string) bool {
	module := path.Dir(below)
	for ; module != "."; module = path.Dir(module) {
		if slices.Contains(in.all, path.Join(l.Stage.Folder, module, "go.mod")) {
			break
		}
	}
	code := l.code()
	return module != "." && !strings.HasPrefix(l.Folder()+"/", path.Join(l.Stage.Folder, module)+"/") &&
		!strings.Contains(code, path.Base(module)) && !runs.MatchString(code)
}

var (
	runs       = regexp.MustCompile(`\bmake\b|\.sh\b`)
	stepScript = regexp.MustCompile(`/step\d+\.sh$`)
	makes      = regexp.MustCompile(`\bmake\b.* -C \.\.`)
	tests      = regexp.MustCompile(`\b(go|dlv)( -C \S+)? (test|vet)\b|_test\.go\b|\bmake\b.* test`)
	upwards    = regexp.MustCompile(`(?:\.\./)+[A-Za-z0-9_][A-Za-z0-9_./-]*`)
)

// nameOf adds what a file names outside of its folder or, if it is a script, of the one that
// it is run in. What text links to does not count.
func (in *inputs) nameOf(file, runIn string, named map[string]bool) {
	folders := []string{path.Dir(file)}
	switch path.Ext(file) {
	case ".md":
		return
	case ".sh":
		folders = append(folders, runIn)
	}
	if text, err := os.ReadFile(in.repository.Path(file)); err == nil { // else it is gone, or a link to a folder
		in.name(string(text), named, folders...)
	}
}

// name adds what a text names that begins with ../ and leads, from one of these folders, to
// something in the repository.
func (in *inputs) name(text string, named map[string]bool, folders ...string) {
	for _, up := range upwards.FindAllString(text, -1) {
		for _, folder := range folders {
			name := path.Join(folder, up)
			if _, err := os.Lstat(in.repository.Path(name)); err == nil && filepath.IsLocal(name) {
				named[name] = true
			}
		}
	}
}

// within says whether a file is one of these, or in a folder that is.
func within(named map[string]bool, file string) bool {
	for ; file != "."; file = path.Dir(file) {
		if named[file] {
			return true
		}
	}
	return false
}

// code is all that the reader runs.
func (l Lesson) code() string {
	var text strings.Builder
	for _, step := range l.Steps {
		for _, block := range step.Blocks {
			text.WriteString(block.Code + "\n")
		}
	}
	return text.String()
}

// modules returns the folders of the modules that the lesson compiles: those of the stage, and
// what its blocks, and the scripts that they run, name besides.
func (in *inputs) modules(l Lesson) []string {
	named := map[string]bool{l.Stage.Folder: true}
	code := l.code()
	in.name(code, named, l.Stage.Folder)
	for _, file := range in.all {
		below, found := strings.CutPrefix(file, l.Stage.Folder+"/")
		isRun := path.Ext(file) == ".sh" && strings.Contains(code, below)
		if found && isRun {
			in.nameOf(file, l.Stage.Folder, named)
		}
	}
	var folders []string
	for _, file := range in.all {
		folder := path.Dir(file)
		if path.Base(file) == "go.mod" && !strings.Contains(file, "/testdata/") && (named[folder] || strings.HasPrefix(file, l.Stage.Folder+"/")) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// goCommand runs go in a folder, and returns what it prints. An error has its last lines.
func (in *inputs) goCommand(ctx context.Context, folder string, args ...string) (string, error) {
	command := process.Command(ctx, "go", args...)
	command.Dir = in.repository.Path(folder)
	command.Env = process.Environment(nil, append([]string{"GOWORK=off"}, flags[folder]...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", args[0], folder, err, indent(lastLines(stderr.String())))
	}
	return stdout.String(), nil
}

// flags are what a module is compiled with besides.
var flags = map[string][]string{
	// Else OLM's library for signatures wants libraries in C.
	"tools/pinned/olm": {"CGO_ENABLED=0", "GOFLAGS=-tags=containers_image_openpgp"},
}
