package lesson

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// validateQuotes wants each block of Go or YAML to stand word for word in a file that the
// paragraph before it links to, and the first lesson of a stage to quote all of
// first/main.go.
func (l Lesson) validateQuotes(r repository.Repository, say sayer) {
	first := path.Join(l.Stage.Folder, "first", "main.go")
	var ofFirst []string
	for _, fence := range l.Fences {
		if fence.Info != "go" && fence.Info != "yaml" {
			continue
		}
		files := l.filesAbove(fence)
		if len(files) == 0 {
			say(fence.Line, "the paragraph right before this block links to no .%s file; link to the one that it quotes", fence.Info)
			continue
		}
		found := false
		for _, file := range files {
			content, _ := os.ReadFile(r.Path(file)) // a link that leads nowhere quotes nothing
			if strings.Contains("\n"+string(content), "\n"+fence.Code) {
				found = true
				if file == first {
					ofFirst = append(ofFirst, fence.Code)
				}
			}
		}
		if !found {
			say(fence.Line, "%s does not have this block as it is here; quote it again", strings.Join(files, " or "))
		}
	}
	if content, err := os.ReadFile(r.Path(first)); err == nil && l.isFirst() {
		if number, line := notQuoted(string(content), ofFirst); line != "" {
			say(1, "the lesson quotes all of %s, but line %d is missing: %s", first, number, strings.TrimSpace(line))
		}
	}
}

// isFirst says whether it is the lesson of a stage, or the first one of its parts.
func (l Lesson) isFirst() bool {
	if l.Part != "" {
		return strings.HasPrefix(l.Title, fmt.Sprintf("Stage %d, part 1: ", l.Stage.Number))
	}
	return !l.isMap()
}

// filesAbove returns the files of the kind of a block that the paragraph before it links
// to, as paths in the repository.
func (l Lesson) filesAbove(fence markdown.Fence) []string {
	var files []string
	for _, link := range l.Links {
		file, _ := links.Path(link)
		if fence.Above.Contains(link.Range) && path.Ext(file) == "."+fence.Info {
			files = append(files, path.Join(l.Folder(), file))
		}
	}
	return files
}

// notQuoted returns the first line of a text, empty ones aside, that is in none of its
// pieces.
func notQuoted(text string, pieces []string) (number int, line string) {
	lines := strings.Split(text, "\n")
	for _, piece := range pieces {
		before, _, _ := strings.Cut("\n"+text, "\n"+piece)
		begin := strings.Count(before, "\n")
		clear(lines[begin : begin+strings.Count(piece, "\n")])
	}
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			return i + 1, line
		}
	}
	return 0, ""
}

// validateDiffs wants each diff to be an excerpt of what make diff-N prints, or of make grow-N, if the
// paragraph above it names that.
func (l Lesson) validateDiffs(ctx context.Context, r repository.Repository, say sayer) error {
	printed := map[string]string{}
	for _, fence := range l.Fences {
		if fence.Info != "diff" {
			continue
		}
		target := fmt.Sprintf("diff-%d", l.Stage.Number)
		if grow := fmt.Sprintf("grow-%d", l.Stage.Number); strings.Contains(l.Source(fence.Above), "make "+grow) {
			target = grow
		}
		if printed[target] == "" {
			command := process.Command(ctx, "make", "--silent", "--no-print-directory", target)
			command.Dir, command.Env = r.Root, process.Environment(nil)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			output, err := command.Output()
			if err != nil {
				return fmt.Errorf("%s: make %s: %w: %s", l.at(fence.Line), target, err, stderr.String())
			}
			printed[target] = "\n" + trimmedLines(string(output))
		}
		if !strings.Contains(printed[target], "\n"+trimmedLines(fence.Code)) {
			say(fence.Line, "make %s does not print this block as it is here; quote it again", target)
		}
	}
	return nil
}

// trimmedLines takes the spaces away from the ends of lines, which editors do.
func trimmedLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\n")+"\n")
	}
	return strings.Join(lines, "")
}
