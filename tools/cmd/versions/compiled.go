package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// addCompiled asks the go command what each module compiles, tests included. What two of
// them compile in different versions is compiled twice, and so is all that imports it.
// Tools have versions of their own.
func (m *modules) addCompiled(ctx context.Context, root string) error {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}{{end}}`
	for _, folder := range m.folders {
		if folder == "tools" || strings.HasPrefix(folder, "tools/") {
			continue
		}
		lines, err := goList(ctx, filepath.Join(root, folder), "-deps", "-test", "-f", format, "./...")
		if err != nil {
			return err
		}
		for _, line := range lines {
			// Without a version it is a folder, and there is only one of that.
			if module, version, ok := strings.Cut(line, " "); ok && version != "" {
				if _, of := kubernetesVersion(module, version); !of {
					m.said.add(module, version, folder)
				}
			}
		}
	}
	return nil
}

// A program is what go build makes of a package.
type program struct{ folder, pkg string }

// compiledTwice returns a sentence for each package that is compiled more than once when
// these programs are built. It compiles them, if Go's cache does not have them.
func compiledTwice(ctx context.Context, root string, programs ...program) ([]string, error) {
	builds := statements{}
	for _, p := range programs {
		lines, err := goList(ctx, filepath.Join(root, p.folder), "-deps", "-export", "-f", `{{if .BuildID}}{{.ImportPath}} {{.BuildID}}{{end}}`, p.pkg)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			pkg, id, _ := strings.Cut(line, " ")
			builds.add(pkg, id, p.folder)
		}
	}
	var sentences []string
	for _, pkg := range slices.Sorted(maps.Keys(builds)) {
		if len(builds[pkg]) < 2 {
			continue
		}
		who := slices.Concat(slices.Collect(maps.Values(builds[pkg]))...)
		slices.Sort(who)
		sentences = append(sentences, fmt.Sprintf("%s is compiled %d times: differently in %s", pkg, len(builds[pkg]), strings.Join(who, " and in ")))
	}
	return sentences, nil
}

// goList returns the lines that go list prints in a folder, each once.
func goList(ctx context.Context, dir string, args ...string) ([]string, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", dir, err, strings.TrimSpace(stderr.String()))
	}
	lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" })
	slices.Sort(lines)
	return slices.Compact(lines), nil
}
