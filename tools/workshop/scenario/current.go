package scenario

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// present reads the generated files that are there: structure.json, and all that lies in
// the folders of scenarios.
func present(r repository.Repository) (files, error) {
	found := files{}
	katacoda := r.Path("katacoda")
	folders, err := fs.Glob(os.DirFS(katacoda), repository.StageFolders)
	if err != nil {
		return nil, fmt.Errorf("looking for scenarios: %w", err)
	}
	for _, start := range append(folders, "structure.json") {
		err := filepath.WalkDir(filepath.Join(katacoda, start), func(file string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			name, err := filepath.Rel(katacoda, file)
			if err != nil {
				return err
			}
			content, err := os.ReadFile(file)
			found[filepath.ToSlash(name)] = string(content)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reading scenarios: %w", err)
		}
	}
	return found, nil
}

// differences has a sentence for each file in which have is not what it should be.
func differences(have, want files) []string {
	var sentences []string
	for name, content := range want {
		switch there, ok := have[name]; {
		case !ok:
			sentences = append(sentences, path.Join("katacoda", name)+" is missing")
		case there != content:
			sentences = append(sentences, path.Join("katacoda", name)+" is stale")
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			sentences = append(sentences, path.Join("katacoda", name)+" is superfluous")
		}
	}
	slices.Sort(sentences)
	return sentences
}

// replace writes what is missing or stale, and removes what is superfluous. It touches
// nothing else.
func replace(r repository.Repository, have, want files) error {
	for name, content := range want {
		if have[name] == content {
			continue
		}
		file := r.Path("katacoda", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("writing scenarios: %w", err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return fmt.Errorf("writing scenarios: %w", err)
		}
	}
	for name := range have {
		if _, ok := want[name]; ok {
			continue
		}
		file := r.Path("katacoda", filepath.FromSlash(name))
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing what is superfluous: %w", err)
		}
		// The folders that are empty now: a folder with something in it stays.
		for dir := filepath.Dir(file); dir != r.Path("katacoda") && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return nil
}
