package scenario

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A course is katacoda/course.yaml: what the scenarios say that is in no lesson.
type course struct {
	Repository  string            `json:"repository"`
	Branch      string            `json:"branch"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Image       string            `json:"image"`
	Go          string            `json:"go"`
	Sums        map[string]string `json:"sums"` // of the Go for each architecture
	Scenarios   map[string]string `json:"scenarios"`
	Prepare     map[string]string `json:"prepare"`
}

const courseFile = "katacoda/course.yaml"

// images are those that the documentation for creators names. Killercoda would say only on
// its own pages that there is no other.
var images = []string{
	"ubuntu",
	"ubuntu-4GB",
	"kubernetes-kubeadm-1node",
	"kubernetes-kubeadm-1node-4GB",
	"kubernetes-kubeadm-2nodes",
	"kubernetes-kubeadm-1node-rapid",
	"kubernetes-kubeadm-1node-4GB-rapid",
	"kubernetes-kubeadm-2nodes-rapid",
}

// These values stand in shell scripts, so they are of characters that need no quoting.
var shellWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./:@_+-]*$`)

var sha256Sum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// placeholder is the address of a repository on a host that nobody has: some names are
// reserved for examples.
var placeholder = regexp.MustCompile(`^([a-z+]+://)?([^@/]*@)?([^/:]*\.)?(example\.(com|net|org)|example|invalid|test)([/:]|$)`)

// publishable refuses a course whose repository nobody can clone.
func (c course) publishable() error {
	if placeholder.MatchString(c.Repository) {
		return fmt.Errorf("%s: repository is still the placeholder %s, which no node can clone; write there the address of the published repository, then: make generate", courseFile, c.Repository)
	}
	return nil
}

func readCourse(r repository.Repository) (course, error) {
	content, err := os.ReadFile(r.Path(courseFile))
	if err != nil {
		return course{}, fmt.Errorf("reading what scenarios are made of: %w", err)
	}
	var c course
	if err := yaml.UnmarshalStrict(content, &c); err != nil {
		return course{}, fmt.Errorf("%s: %w", courseFile, err)
	}
	for name, value := range map[string]string{"repository": c.Repository, "branch": c.Branch, "go": c.Go} {
		if !shellWord.MatchString(value) {
			return course{}, fmt.Errorf("%s: %s is %q; it must be a word of letters, digits and ./:@_+-", courseFile, name, value)
		}
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		if !sha256Sum.MatchString(c.Sums[architecture]) {
			return course{}, fmt.Errorf("%s: the sum of Go for %s is %q; it must be one of sha256sum", courseFile, architecture, c.Sums[architecture])
		}
	}
	for name := range c.Prepare {
		if c.Scenarios[name] == "" {
			return course{}, fmt.Errorf("%s: prepare names %s, which is not under scenarios", courseFile, name)
		}
	}
	if !slices.Contains(images, c.Image) {
		return course{}, fmt.Errorf("%s: image is %q; the nodes have one of: %s", courseFile, c.Image, strings.Join(images, ", "))
	}
	return c, nil
}

// sentence is what the course says of a scenario.
func (c course) sentence(folder string) (string, error) {
	if sentence := c.Scenarios[folder]; sentence != "" {
		return sentence, nil
	}
	return "", fmt.Errorf("%s has no sentence for %s; add one under scenarios", courseFile, folder)
}
