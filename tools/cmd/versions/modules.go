package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
)

// modules is what the go.mod files of a repository say, and what is compiled of it.
type modules struct {
	folders  []string
	said     statements
	replaces map[string]map[string]string // by folder: the folder or version that stands for a module
}

// Subjects that are not the path of one module.
const (
	goVersion  = "the version of Go"
	kubernetes = "the version of Kubernetes"
)

// readModules reads go.work and every go.mod under root.
func readModules(root string) (*modules, error) {
	m := &modules{said: statements{}, replaces: map[string]map[string]string{}}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir // .git, and .lab, whose pods may hold anything
		case entry.Name() != "go.mod" && entry.Name() != "go.work":
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if entry.Name() == "go.work" {
			return m.addWork(name, data)
		}
		return m.addModule(name, data)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the go.mod files: %w", err)
	}
	if len(m.folders) == 0 {
		return nil, fmt.Errorf("there is no go.mod under %s: name the folder of the repository", root)
	}
	return m, nil
}

func (m *modules) addWork(name string, data []byte) error {
	work, err := modfile.ParseWork(name, data, nil)
	if err != nil {
		return err
	}
	if work.Go != nil {
		m.said.add(goVersion, work.Go.Version, name)
	}
	return nil
}

func (m *modules) addModule(name string, data []byte) error {
	mod, err := modfile.Parse(name, data, nil)
	if err != nil {
		return err
	}
	folder := path.Dir(name)
	m.folders = append(m.folders, folder)
	// A tool that is only run may want a newer Go, which the go command fetches for it alone.
	if mod.Go != nil && !strings.HasPrefix(folder, "tools/pinned/") {
		m.said.add(goVersion, mod.Go.Version, folder)
	}
	replaced := map[string]string{}
	m.replaces[folder] = map[string]string{}
	for _, replace := range mod.Replace {
		replaced[replace.Old.Path] = replace.New.Version // empty for a folder
		m.replaces[folder][replace.Old.Path] = replacement(folder, replace.New)
		if version, ok := kubernetesVersion(replace.New.Path, replace.New.Version); ok {
			m.said.add(kubernetes, version, folder)
		}
	}
	for _, require := range mod.Require {
		version := require.Mod.Version
		if v, ok := replaced[require.Mod.Path]; ok {
			version = v
		}
		if v, ok := kubernetesVersion(require.Mod.Path, version); ok {
			m.said.add(kubernetes, v, fmt.Sprintf("%s (%s)", folder, require.Mod.Path))
			continue
		}
		// What a module needs only through others may differ: its requirements
		// decide that, not its author.
		if !require.Indirect && version != "" {
			m.said.add(require.Mod.Path, version, folder)
		}
	}
	return nil
}

// staging is the version of the modules that are cut out of Kubernetes: v0.37.2
// for Kubernetes v1.37.2. Others under k8s.io, like klog and utils, have
// versions of their own.
var staging = regexp.MustCompile(`^v0\.[1-9]\d*\.\d+$`)

// kubernetesVersion translates the version of a module of Kubernetes into that
// of Kubernetes itself.
func kubernetesVersion(module, version string) (string, bool) {
	switch {
	case module == "k8s.io/kubernetes":
		return version, true
	case strings.HasPrefix(module, "k8s.io/") && staging.MatchString(version):
		return "v1" + strings.TrimPrefix(version, "v0"), true
	}
	return "", false
}
