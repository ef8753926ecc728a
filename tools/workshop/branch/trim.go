package branch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// trim takes the later stages out of a working tree, and makes what is left fit: go.work
// lists what is there, and no link leads to what is not. The Makefile needs nothing: it
// finds stages by their folders.
func trim(r repository.Repository, last repository.Stage, later []repository.Stage) error {
	if len(later) == 0 {
		return nil
	}
	for _, stage := range later {
		if err := os.RemoveAll(r.Path(stage.Folder)); err != nil {
			return err
		}
	}
	if err := rewrite(r.Path("go.work"), func(text string) string { return unuse(text, later) }); err != nil {
		return err
	}
	if err := rewrite(r.Path("README.md"), func(text string) string { return announce(text, last, later) }); err != nil {
		return err
	}
	return filepath.WalkDir(r.Root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		return rewrite(path, func(text string) string { return unlink(text, later) })
	})
}

// unuse takes stages out of a go.work.
func unuse(work string, stages []repository.Stage) string {
	for _, stage := range stages {
		work = strings.ReplaceAll(work, "\t./"+stage.Folder+"\n", "")
	}
	return work
}

// announce says under the title of the repository's README which branch this is, and in
// the table of stages where those are that are not here.
func announce(readme string, last repository.Stage, later []repository.Stage) string {
	title, rest, _ := strings.Cut(readme, "\n")
	note := fmt.Sprintf("This is branch `stage-%d`: the workshop up to stage %d. What comes later is on branch\n`stage-%d` and the following ones.",
		last.Number, last.Number, later[0].Number)
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		for _, stage := range later {
			if strings.HasPrefix(line, "| [") && strings.Contains(line, "("+stage.Folder+"/)") {
				lines[i] = strings.TrimSuffix(line, "here |") + fmt.Sprintf("branch `stage-%d` |", stage.Number)
			}
		}
	}
	return title + "\n\n" + note + "\n" + strings.Join(lines, "\n")
}

// unlink turns links into the folders of stages into plain text.
func unlink(markdown string, stages []repository.Stage) string {
	for _, stage := range stages {
		link := regexp.MustCompile(`\[([^\]]*)\]\((?:\.\.?/)*` + regexp.QuoteMeta(stage.Folder) + `(?:/[^)]*)?\)`)
		markdown = link.ReplaceAllString(markdown, "$1")
	}
	return markdown
}

// rewrite replaces the text of a file, and leaves one alone that stays the same.
func rewrite(path string, change func(string) string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := change(string(content))
	if changed == string(content) {
		return nil
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}
