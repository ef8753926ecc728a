// Package verdict remembers what an earlier run proved.
package verdict

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A Verdict is a file that says that something was proved. Its name is a hash of its content,
// which names everything that could change the result.
type Verdict struct{ path, content string }

// New returns the verdict in a folder that has this content.
func New(folder, content string) Verdict {
	return Verdict{filepath.Join(folder, fmt.Sprintf("%x", sha256.Sum256([]byte(content)))), content}
}

// Known says whether an earlier run has saved it.
func (v Verdict) Known() bool {
	_, err := os.Stat(v.path)
	return err == nil
}

// Save writes it for later runs.
func (v Verdict) Save() error {
	if err := os.MkdirAll(filepath.Dir(v.path), 0o755); err != nil {
		return fmt.Errorf("keeping a verdict: %w", err)
	}
	return os.WriteFile(v.path, []byte(v.content), 0o644)
}

// Fresh says whether the user wants everything proved again: FRESH=1 make prove.
func Fresh() bool {
	value := os.Getenv("FRESH")
	return value != "" && value != "0"
}

// Hash returns the hash of a file or a folder. What doesn't exist has a hash, too.
func Hash(root string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return add(hash, relative, name)
	})
	if err != nil {
		return "", fmt.Errorf("hashing %s: %w", root, err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// add writes a name, and what the file at path is, to a hash: its type, whether it can be
// executed, and its content.
func add(hash io.Writer, name, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	executable := info.Mode().IsRegular() && info.Mode()&0o100 != 0
	fmt.Fprintf(hash, "%q %v %t %d\n", name, info.Mode().Type(), executable, info.Size())
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		fmt.Fprintln(hash, target)
		return err
	case !info.Mode().IsRegular():
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(hash, file)
	return err
}
