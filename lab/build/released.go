package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// releasedFile says which archives of the lab may be fetched.
const releasedFile = "released.txt"

// A release is one line of it: an archive, and what it is of.
type release struct {
	platform string // linux/amd64
	archive  string // SHA-256 of the archive
	sources  string // SHA-256 of the sources that it was built from, as digestOfSources has it
}

// file is the archive's name.
func (r release) file() string {
	return "lab-" + strings.ReplaceAll(r.platform, "/", "-") + ".gz"
}

// released reads the file. Its lines are a platform and two digests; what follows a # is a comment.
func released() ([]release, error) {
	text, err := os.ReadFile(releasedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []release
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		switch words := strings.Fields(line); len(words) {
		case 0:
		case 3:
			all = append(all, release{platform: words[0], archive: words[1], sources: words[2]})
		default:
			return nil, fmt.Errorf("lab/%s: %q isn't a platform and two digests", releasedFile, strings.TrimSpace(line))
		}
	}
	return all, nil
}

// releasedFor is the archive for a platform. It is an error if there is none, or one of other sources:
// who changes the lab wants to run what they wrote.
func releasedFor(platform string) (release, error) {
	all, err := released()
	if err != nil {
		return release{}, err
	}
	at := slices.IndexFunc(all, func(r release) bool { return r.platform == platform })
	if at < 0 {
		return release{}, fmt.Errorf("there is no released lab for %s", platform)
	}
	sources, err := digestOfSources()
	if err != nil {
		return release{}, err
	}
	if sources != all[at].sources {
		return release{}, errors.New("the released lab was built from other sources than those in lab/")
	}
	return all[at], nil
}

// digestOfSources is the SHA-256 of all that the lab is compiled from, and with which flags: names and contents, tests left out.
func digestOfSources() (string, error) {
	sum := sha256.New()
	add := func(path string) error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", filepath.ToSlash(path), len(content))
		_, err = sum.Write(content)
		return err
	}
	for _, top := range []string{"build/compile.go", "cmd", "go.mod", "go.sum", "internal"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return filepath.SkipDir
			case entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md"):
				return nil
			}
			return add(path)
		})
		if err != nil {
			return "", fmt.Errorf("reading the lab's sources: %w", err)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// digestOf is the SHA-256 of a file.
func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
