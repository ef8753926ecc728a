package branch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// eachText calls do with each Markdown file of a working tree.
func eachText(r repository.Repository, do func(file string, text string) error) error {
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

// checkLinks reports each link of a Markdown file that leads to no file of r.
func checkLinks(r repository.Repository) error {
	var broken []error
	err := eachText(r, func(file, text string) error {
		for _, link := range markdown.Parse(text).Links {
			path, within := pathOf(link)
			if !within {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), path)); err != nil {
				name, _ := filepath.Rel(r.Root, file)
				broken = append(broken, fmt.Errorf("%s links to %s, which is not there", name, path))
			}
		}
		return nil
	})
	return errors.Join(append(broken, err)...)
}

// pathOf returns the path that a link leads to, from the folder of its text, and whether
// it leads to another file of the repository at all.
func pathOf(link markdown.Link) (string, bool) {
	target, err := url.Parse(link.Target)
	if err != nil || target.Scheme != "" || target.Path == "" {
		return "", false
	}
	return filepath.FromSlash(target.Path), true
}
