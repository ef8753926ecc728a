package branch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// checkLinks reports each link of a Markdown file that leads to no file of r.
func checkLinks(r repository.Repository) error {
	var broken []error
	err := filepath.WalkDir(r.Root, func(path string, entry fs.DirEntry, err error) error {
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
		for _, target := range links(content) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), target)); err != nil {
				name, _ := filepath.Rel(r.Root, path)
				broken = append(broken, fmt.Errorf("%s links to %s, which is not there", name, target))
			}
		}
		return nil
	})
	return errors.Join(append(broken, err)...)
}

// links returns the paths that a Markdown text links to, without those that lead out of
// the repository and those within the text.
func links(markdown []byte) []string {
	var paths []string
	document := goldmark.DefaultParser().Parse(text.NewReader(markdown))
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := node.(*ast.Link); ok && entering {
			target, err := url.Parse(string(link.Destination))
			if err == nil && target.Scheme == "" && target.Path != "" {
				paths = append(paths, filepath.FromSlash(target.Path))
			}
		}
		return ast.WalkContinue, nil
	})
	return paths
}
