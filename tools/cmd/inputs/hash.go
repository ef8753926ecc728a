package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// inputs are hashes of what the tests of a module read outside of it.
type inputs struct {
	test string // the files that they name, the API server, and PostgreSQL
	lab  string // the whole lab
}

// find returns the inputs of the module in the folder. Assets may be empty: then a test that
// needs an API server fails anyway. So may be the home of PostgreSQL.
func find(repository, folder, assets, postgres string) (inputs, error) {
	module := filepath.Join(repository, folder)
	if _, err := os.Stat(filepath.Join(module, "go.mod")); err != nil {
		return inputs{}, fmt.Errorf("%s isn't a module: %w", folder, err)
	}
	test, lab := sha256.New(), sha256.New()
	named, err := outside(repository, module)
	if err != nil {
		return inputs{}, err
	}
	for _, path := range named {
		if err := add(test, repository, path); err != nil {
			return inputs{}, err
		}
	}
	if assets != "" {
		if err := addServer(test, assets); err != nil {
			return inputs{}, err
		}
		if err := addPrograms(lab, assets); err != nil {
			return inputs{}, err
		}
	}
	if postgres != "" {
		server, err := hashFile(filepath.Join(postgres, "bin", "postgres"))
		if err != nil {
			return inputs{}, fmt.Errorf("PG_HOME: %w", err)
		}
		fmt.Fprintf(test, "postgres %x\n", server)
	}
	return inputs{short(test), short(lab)}, nil
}

func short(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil))[:16] }

// add hashes a file, or all files of a folder, with their names in the repository.
func add(sum io.Writer, repository, path string) error {
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(repository, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
		return err
	})
}

// serverSources is what the lab's etcd and API server are made of. All other code in the lab
// makes a cluster of them, and no test that starts only an API server runs it.
var serverSources = []string{"go.mod", "go.sum", "cmd", "internal/lifeline", "internal/upstream"}

// addServer hashes what an API server for tests is made of. The lab is one program, so most
// changes to it change its bytes, and few change its API server: for the lab, the sources
// beside it are hashed, which make has just built.
func addServer(sum io.Writer, assets string) error {
	program, err := filepath.EvalSymlinks(filepath.Join(assets, "kube-apiserver"))
	sources := filepath.Join(assets, "..")
	if _, missing := os.Stat(filepath.Join(sources, "internal", "upstream")); err != nil || filepath.Base(program) != "lab" || missing != nil {
		return addPrograms(sum, assets)
	}
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range serverSources {
		if err := add(sum, sources, filepath.Join(sources, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// addPrograms hashes the programs that envtest starts, kubectl, and the lab. In a lab they are
// links to one program, which is read once.
func addPrograms(sum io.Writer, folder string) error {
	known := map[string][]byte{} // the hash of each file that was read
	for _, name := range []string{"kube-apiserver", "etcd", "kubectl", "lab"} {
		path, err := filepath.EvalSymlinks(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if known[path] == nil {
			if known[path], err = hashFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(sum, "%s %x\n", name, known[path])
	}
	return nil
}

func hashFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return sum.Sum(nil), err
}
