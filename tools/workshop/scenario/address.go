package scenario

import (
	"errors"
	"fmt"
	"io/fs"
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
	{page: "README.md", before: "    git clone "},
	{page: "docs/INSTRUCTORS.md", before: "    git clone "},
	{page: "CITATION.cff", before: "repository-code: ", suffix: ".git"},
}

// writeAddresses writes the repository's address into the pages that name it.
func writeAddresses(r repository.Repository) error {
	return eachAddress(r, func(page, have, want string) error {
		return os.WriteFile(r.Path(page), []byte(want), 0o644) //nolint:gosec // a page is for everybody
	})
}

// checkAddresses says which page names another address.
func checkAddresses(r repository.Repository) error {
	return eachAddress(r, func(page, have, want string) error {
		return fmt.Errorf("%s names another address of the repository than %s; run: make generate", page, courseFile)
	})
}

// eachAddress calls different for each page that isn't as it should be.
func eachAddress(r repository.Repository, different func(page, have, want string) error) error {
	c, err := readCourse(r)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		have, err := os.ReadFile(r.Path(a.page))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a course for tests has not all of them
		}
		if err != nil {
			return fmt.Errorf("writing the repository's address: %w", err)
		}
		want, err := a.put(string(have), c.Repository)
		if err != nil {
			return err
		}
		if want == string(have) {
			continue
		}
		if err := different(a.page, string(have), want); err != nil {
			return err
		}
	}
	return nil
}

// put returns the page with the repository's address in it.
func (a address) put(page, repository string) (string, error) {
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(a.before) + `\S+$`)
	if !line.MatchString(page) {
		return "", fmt.Errorf("%s has no line %q with the repository's address", a.page, a.before)
	}
	return line.ReplaceAllLiteralString(page, a.before+strings.TrimSuffix(repository, a.suffix)), nil
}
