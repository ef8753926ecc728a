package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Author is who commits what is made by a program: the same on every machine.
var Author = []string{
	"GIT_AUTHOR_NAME=workshop", "GIT_AUTHOR_EMAIL=workshop@example.com",
	"GIT_COMMITTER_NAME=workshop", "GIT_COMMITTER_EMAIL=workshop@example.com",
}

// Clone makes a clone of r's present commit in dir, which must not exist.
func (r Repository) Clone(ctx context.Context, dir string) (Repository, error) {
	if _, err := r.Git(ctx, "clone", "--quiet", r.Root, dir); err != nil {
		return Repository{}, fmt.Errorf("copying the repository: %w", err)
	}
	return Repository{Root: dir}, nil
}

// Copy is Clone with one commit more if there is something in r that is changed or new
// and not committed yet, so that authors can try what they just wrote. What git
// ignores is not in it.
func (r Repository) Copy(ctx context.Context, dir string) (Repository, error) {
	copied, err := r.Clone(ctx, dir)
	if err != nil {
		return Repository{}, err
	}
	if err := r.addChangesTo(ctx, copied); err != nil {
		return Repository{}, fmt.Errorf("copying what is not committed yet: %w", err)
	}
	return copied, nil
}

func (r Repository) addChangesTo(ctx context.Context, copied Repository) error {
	changes, err := r.Diff(ctx, "--binary", "HEAD")
	if err != nil {
		return err
	}
	if changes != "" {
		if _, err := gitWith(ctx, copied.Root, nil, changes+"\n", "apply", "--binary", "-"); err != nil {
			return err
		}
	}
	added, err := r.Git(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(added, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		if err := copyFile(r.Path(name), copied.Path(name)); err != nil {
			return err
		}
	}
	if changes == "" && added == "" {
		return nil
	}
	return copied.Commit(ctx, "What was not committed yet")
}

// Commit commits everything that differs from the last commit.
func (r Repository) Commit(ctx context.Context, message string) error {
	return r.commit(ctx, Author, message)
}

// CommitOn is Commit at a date, in git's strict ISO form: together with what was there
// before, and with what is new, the date makes the commit's name.
func (r Repository) CommitOn(ctx context.Context, date, message string) error {
	return r.commit(ctx, append([]string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}, Author...), message)
}

func (r Repository) commit(ctx context.Context, env []string, message string) error {
	if _, err := r.Git(ctx, "add", "--all"); err != nil {
		return err
	}
	_, err := gitWith(ctx, r.Root, env, "", "commit", "--quiet", "--allow-empty", "--message", message)
	return err
}

// GiveLab gives the lab's programs of r to another copy. The caller answers for their
// sources being the same there. The programs are large, so they are linked and not copied
// where both copies lie in one file system. By hard links: a program finds its lab by the
// path that it was started by.
func (r Repository) GiveLab(to Repository) error {
	programs, err := os.ReadDir(r.Path("lab", "bin"))
	if err != nil {
		return fmt.Errorf("the lab is not built yet; to build it: make lab (%w)", err)
	}
	for _, program := range programs {
		if err := linkFile(r.Path("lab", "bin", program.Name()), to.Path("lab", "bin", program.Name())); err != nil {
			return fmt.Errorf("copying the lab: %w", err)
		}
	}
	return nil
}

// linkFile is copyFile, with the same content on the disk if that can be. Another file that
// was there goes first: to write into it would change what it is a link to.
func linkFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if there, err := os.Lstat(to); err == nil && os.SameFile(info, there) {
		return nil // linked already, or the folder is a link to that of from
	}
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode().IsRegular() && os.Link(from, to) == nil {
		return nil
	}
	return copyFile(from, to)
}

// copyFile copies a file or a symbolic link, and makes the folders it lies in.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	return errors.Join(err, copied.Close())
}

// CleanCopy is Copy of the repository of the working folder, with GiveLab: the place
// for tests that are to see what somebody sees who just cloned it.
func CleanCopy(ctx context.Context, dir string) (Repository, error) {
	r, err := Find(ctx, ".")
	if err != nil {
		return Repository{}, err
	}
	copied, err := r.Copy(ctx, dir)
	if err != nil {
		return Repository{}, err
	}
	return copied, r.GiveLab(copied)
}
