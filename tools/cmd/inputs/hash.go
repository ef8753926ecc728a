package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// hash returns the hash of what the tests of the module in the folder read outside of
// it, and of a PostgreSQL. Assets may be empty: then a test that needs an API server fails
// anyway. So may be the home of PostgreSQL.
func hash(repository, folder, assets, postgres string) (string, error) {
	module := filepath.Join(repository, folder)
	if _, err := os.Stat(filepath.Join(module, "go.mod")); err != nil {
		return "", fmt.Errorf("%s is no module: %w", folder, err)
	}
	named, err := outside(repository, module)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, path := range named {
		if err := add(sum, repository, path); err != nil {
			return "", err
		}
	}
	if assets != "" {
		if err := addPrograms(sum, assets); err != nil {
			return "", err
		}
	}
	if postgres != "" {
		server, err := hashFile(filepath.Join(postgres, "bin", "postgres"))
		if err != nil {
			return "", fmt.Errorf("PG_HOME: %w", err)
		}
		fmt.Fprintf(sum, "postgres %x\n", server)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

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

// addPrograms hashes the programs that envtest starts, and kubectl. In a lab they are
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
