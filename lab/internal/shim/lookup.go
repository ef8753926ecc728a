package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	filepath "path"
	"strings"
	"syscall"
)

// maxLinks is where the kernel, too, gives up following symbolic links.
const maxLinks = 40

// Resolve follows the symbolic links of path as a process would whose root
// directory is root. What does not exist is kept as it is. The result is a path
// in root, without root in front.
func Resolve(root, path string) (string, error) {
	at, rest, links := "/", path, 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := filepath.Join(at, name) // also right for "", "." and ".."
		target, err := os.Readlink(filepath.Join(root, next))
		if err != nil {
			at = next // no link, or nothing at all
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + rest
	}
	return at, nil
}

// lookPath finds the program that name means in root, given PATH in env. It
// returns a path in root.
func lookPath(root, cwd, name string, env []string) (string, error) {
	if name == "" {
		return "", errors.New("exec: no command (give the container a command)")
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, name)
		}
		if err := executable(root, path); err != nil {
			return "", fmt.Errorf("exec: %q: %w", name, err)
		}
		return path, nil
	}
	var denied error
	for dir := range strings.SplitSeq(getenv(env, "PATH"), ":") {
		path := filepath.Join("/", dir, name)
		err := executable(root, path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", fmt.Errorf("exec: %q: %w", name, denied)
	}
	return "", fmt.Errorf("exec: %q: executable file not found in $PATH", name)
}

// executable reports why path cannot be executed, if so.
func executable(root, path string) error {
	resolved, err := Resolve(root, path)
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(root, resolved))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return syscall.ENOENT
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	case info.Mode().Perm()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

// getenv returns the last value of a variable in env.
func getenv(env []string, name string) (value string) {
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}
