package scenario

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// An address is a place in a page that names the repository. It is set in course.yaml, and from
// there it gets everywhere else.
type address struct {
	page   string
	before string // what is before the address, on its line
	suffix string // what the page leaves out at its end
}

var addresses = []address{
	{page: front, before: "    git clone "},
	{page: "docs/INSTRUCTORS.md", before: "    git clone "},
	{page: "docs/OTHER-WAYS.md", before: "    repoURL: "},
	{page: "06-shipping/pipeline/pipeline.yml", before: "      WORKSHOP: "},
	{page: "CITATION.cff", before: "repository-code: ", suffix: ".git"},
}

// addressed are the pages that name the repository, as far as they are there: a course for tests
// has not all of them.
func addressed(r repository.Repository) ([]repository.Written, error) {
	c, err := readCourse(r)
	if err != nil {
		return nil, err
	}
	var pages []repository.Written
	for _, a := range addresses {
		if _, err := os.Stat(r.Path(a.page)); err == nil {
			pages = append(pages, repository.Written{File: a.page, From: courseFile, Put: func(page string) (string, error) { return a.put(page, c.Repository) }})
		}
	}
	if _, err := os.Stat(r.Path(front)); err == nil {
		pages = append(pages, repository.Written{File: front, From: courseFile, Put: c.badges})
	}
	return pages, nil
}

const (
	front       = "README.md"
	badgesBegin = "<!-- badges: made of katacoda/course.yaml by make generate -->\n"
	badgesEnd   = "<!-- /badges -->\n"
)

// badges returns the page with what ci.yml says of the repository and pushes to its branch badges: nothing,
// as long as the repository has no address.
func (c course) badges(page string) (string, error) {
	before, rest, begun := strings.Cut(page, badgesBegin)
	_, after, ended := strings.Cut(rest, badgesEnd)
	if !begun || !ended {
		return "", fmt.Errorf("%s has no place for badges; it begins with %sand ends with %s", front, badgesBegin, badgesEnd)
	}
	var badges []string
	if c.publishable() == nil && strings.HasPrefix(c.Repository, "https://") {
		at := strings.TrimSuffix(c.Repository, ".git")
		for _, kind := range []string{"lessons", "exercises"} {
			badges = append(badges, fmt.Sprintf("[![%s proved](%s/raw/badges/%[1]s.svg)](%[2]s/actions/workflows/ci.yml)\n", kind, at))
		}
	}
	return before + badgesBegin + strings.Join(badges, "") + badgesEnd + after, nil
}

// put returns the page with the repository's address in it.
func (a address) put(page, repository string) (string, error) {
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(a.before) + `\S+$`)
	if !line.MatchString(page) {
		return "", fmt.Errorf("%s has no line %q with the repository's address", a.page, a.before)
	}
	return line.ReplaceAllLiteralString(page, a.before+strings.TrimSuffix(repository, a.suffix)), nil
}
