// Package links knows the links in all Markdown of the repository.
package links

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// EachText calls do with each Markdown file of a working tree.
func EachText(r repository.Repository, do func(file string, text string) error) error {
	return filepath.WalkDir(r.Root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != r.Root && entry.Name()[0] == '.':
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return do(path, string(content))
	})
}

// Path returns the path that a link leads to, from the folder of its text, and whether
// it leads to another file of the repository at all.
func Path(link markdown.Link) (string, bool) {
	target, err := url.Parse(link.Target)
	if err != nil || target.Scheme != "" || target.Path == "" {
		return "", false
	}
	return filepath.FromSlash(target.Path), true
}

// Check reports each link and each image of a Markdown file that leads to no file of r, or
// to no heading of one.
func Check(r repository.Repository) error {
	var broken []error
	err := EachText(r, func(file, text string) error {
		document := markdown.Parse(text)
		for _, link := range slices.Concat(document.Links, document.Images) {
			if why := wrong(file, link); why != "" {
				name, _ := filepath.Rel(r.Root, file)
				broken = append(broken, fmt.Errorf("%s links to %s, which %s", name, link.Target, why))
			}
		}
		return nil
	})
	return errors.Join(append(broken, err)...)
}

// wrong says what is wrong with a link of a file, or nothing.
func wrong(file string, link markdown.Link) string {
	target, err := url.Parse(link.Target)
	if err != nil || target.Scheme != "" {
		return ""
	}
	to := file
	if path, other := Path(link); other {
		to = filepath.Join(filepath.Dir(file), path)
	}
	info, err := os.Stat(to)
	if err != nil {
		return "is not there"
	}
	if info.IsDir() {
		to = filepath.Join(to, "README.md")
	}
	if target.Fragment == "" || filepath.Ext(to) != ".md" {
		return ""
	}
	content, err := os.ReadFile(to)
	if err != nil || !slices.Contains(markdown.Parse(string(content)).Anchors, target.Fragment) {
		return "is no heading there"
	}
	return ""
}
