package image

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CopyTo gives a container its own copy of the image's files. Where the file
// system can share blocks between copies, it does. A built-in image has no files.
func (i Image) CopyTo(dir string) error {
	if i.Builtin {
		return errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)) // whatever the umask
	}
	from := filepath.Join(i.dir, rootfsDir)
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyOne(path, filepath.Join(dir, rel), entry)
	})
}

func copyOne(from, to string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case entry.IsDir():
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
	case entry.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return errors.Join(os.Symlink(target, to), ownLike(to, info))
	default:
		if err := copyFile(from, to); err != nil {
			return err
		}
	}
	return errors.Join(ownLike(to, info), os.Chmod(to, info.Mode()))
}

// copyFile holds the lock against starting processes. A child that is forked meanwhile
// inherits the open copy until it executes its own program, and a program that anybody has
// open for writing cannot be executed.
func copyFile(from, to string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func ownLike(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(stat.Uid), int(stat.Gid))
}
