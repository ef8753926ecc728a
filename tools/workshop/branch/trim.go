package branch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/hacking-a-controller/tools/workshop/glossary"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// trim takes the later stages out of a working tree, and makes what is left fit: go.work
// lists what is there, no link leads to what is not, and no target of make is named that is
// not there. The Makefile needs nothing: it finds stages by their folders.
func trim(r repository.Repository, last repository.Stage, later []repository.Stage) error {
	if len(later) == 0 {
		return nil
	}
	targets, err := targetsOf(r, later)
	if err != nil {
		return err
	}
	for _, stage := range later {
		if err := os.RemoveAll(r.Path(stage.Folder)); err != nil {
			return err
		}
	}
	if err := unuse(r); err != nil {
		return err
	}
	readme, err := os.ReadFile(r.Path("README.md"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.Path("README.md"), []byte(announce(string(readme), last, later)), 0o644); err != nil {
		return err
	}
	return links.EachText(r, func(file, text string) error {
		dir, err := filepath.Rel(r.Root, filepath.Dir(file))
		if err != nil {
			return err
		}
		changed := text
		if file == r.Path(glossary.File) {
			changed = withoutTerms(changed, later)
		}
		changed = withoutTargets(unlink(changed, dir, later), targets, later)
		if changed == text {
			return nil
		}
		return os.WriteFile(file, []byte(changed), 0o644)
	})
}

// unuse takes out of go.work the modules that are not there any more: stages, and modules
// that stood in them.
func unuse(r repository.Repository) error {
	content, err := os.ReadFile(r.Path("go.work"))
	if err != nil {
		return err
	}
	work, err := modfile.ParseWork("go.work", content, nil)
	if err != nil {
		return err
	}
	for _, use := range slices.Clone(work.Use) {
		if _, err := os.Stat(r.Path(use.Path, "go.mod")); err == nil {
			continue
		}
		if err := work.DropUse(use.Path); err != nil {
			return err
		}
	}
	work.Cleanup()
	return os.WriteFile(r.Path("go.work"), modfile.Format(work.Syntax), 0o644)
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

// withoutTerms takes out of the glossary the terms that are explained in stages that are gone.
func withoutTerms(text string, gone []repository.Stage) string {
	var left strings.Builder
	for line := range strings.Lines(text) {
		isGone := slices.ContainsFunc(gone, func(stage repository.Stage) bool { return strings.Contains(line, "](../"+stage.Folder+"/") })
		if !strings.HasPrefix(line, "- ") || !isGone {
			left.WriteString(line)
		}
	}
	return left.String()
}

// unlink turns links into folders that are gone into plain text, and images too.
func unlink(text, dir string, gone []repository.Stage) string {
	document := markdown.Parse(text)
	var edits []markdown.Edit
	for _, link := range slices.Concat(document.Links, document.Images) {
		path, within := links.Path(link)
		top, _, _ := strings.Cut(filepath.ToSlash(filepath.Join(dir, path)), "/")
		isGone := slices.ContainsFunc(gone, func(stage repository.Stage) bool { return stage.Folder == top })
		if within && isGone && !link.Empty() {
			edits = append(edits, markdown.Edit{Range: link.Range, Text: link.Words})
		}
	}
	return document.Apply(edits...)
}
