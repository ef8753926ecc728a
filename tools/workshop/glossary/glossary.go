// Package glossary checks docs/GLOSSARY.md: one line for each term, with one sentence and a link
// to where a lesson explains it.
//
//   - **term**: sentence. [Stage 3, step 4](../03-watch/README.md#step-4-remember-the-version)
package glossary

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// File is the glossary.
const File = "docs/GLOSSARY.md"

var entry = regexp.MustCompile(`^- \*\*([^*]+)\*\*: [^ ].*\. (\[[^]]+\]\([^)]+\))$`)

// Check says which lines are not of the form, which terms are not in order, and which do not
// occur in the text that they link to. That each link leads somewhere is for links.Check.
func Check(r repository.Repository) error {
	content, err := os.ReadFile(r.Path(File))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var wrong []error
	before := ""
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		term, why := checkLine(r, strings.TrimSuffix(line, "\n"))
		if why == "" && before >= term {
			why = fmt.Sprintf("%q comes after %q; the terms are sorted, and each stands there once", term, before)
		}
		if why != "" {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s", File, number, why))
		}
		before = max(before, term)
	}
	return errors.Join(wrong...)
}

// Terms counts the terms that each file explains.
func Terms(r repository.Repository) (map[string]int, error) {
	content, err := os.ReadFile(r.Path(File))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	count := map[string]int{}
	for line := range strings.Lines(string(content)) {
		match := entry.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if match == nil {
			continue
		}
		if file, within := links.Path(markdown.Parse(match[2]).Links[0]); within {
			count[filepath.ToSlash(filepath.Join(filepath.Dir(File), file))]++
		}
	}
	return count, nil
}

// checkLine returns the term of a line, in lower case, and what is wrong with the line.
func checkLine(r repository.Repository, line string) (term, why string) {
	match := entry.FindStringSubmatch(line)
	if match == nil {
		return "", "a term is one line: - **term**: sentence. [Stage 3, step 4](../03-watch/README.md#step-4-...)"
	}
	term = plain(match[1])
	link := markdown.Parse(match[2]).Links[0]
	file, within := links.Path(link)
	if !within {
		return term, fmt.Sprintf("%q links to nothing of the repository: %s", term, link.Target)
	}
	file = filepath.Join(filepath.Dir(File), file)
	if info, err := os.Stat(r.Path(file)); err == nil && info.IsDir() {
		file = filepath.Join(file, "README.md")
	}
	text, err := os.ReadFile(r.Path(file))
	if err != nil {
		return term, fmt.Sprintf("%q links to %s, which cannot be read", term, file)
	}
	word, _, _ := strings.Cut(term, " (") // what stands in brackets explains it
	if !strings.Contains(plain(string(text)), word) {
		return term, fmt.Sprintf("%q does not occur in %s; link to the lesson that explains it", word, file)
	}
	return term, ""
}

// plain is a text in lower case, on one line and without its marks.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "*", "").Replace(strings.ToLower(text))), " ")
}
