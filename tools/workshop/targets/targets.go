// Package targets compares the targets of make that the Markdown of the repository names
// with those that there are.
package targets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// kubebuilder are targets of a Makefile that is not ours: that which Kubebuilder writes. The
// lesson about client-go names them, the scenarios that are made from it, and the page about its commands.
var kubebuilder = []string{"manifests", "install", "run", "docker-build", "bundle", "generate"}

func isForeign(file, target string) bool {
	return (strings.Contains(file, "clientgo") || filepath.Base(file) == "kubebuilder.md") && slices.Contains(kubebuilder, target)
}

// Check reports each target in a Markdown file of r that make does not have there, and each
// call of make env that may print more than exports.
func Check(ctx context.Context, r repository.Repository) error {
	has, err := read(ctx, r)
	if err != nil || has == nil {
		return err
	}
	var wrong []error
	err = links.EachText(r, func(path, text string) error {
		file, err := filepath.Rel(r.Root, path)
		if err != nil {
			return err
		}
		for _, target := range named(text) {
			if !has.target(target) && !isForeign(file, target) {
				wrong = append(wrong, fmt.Errorf("%s names make %s, which is no target", file, target))
			}
		}
		if strings.Contains(text, "$(make env)") { // a make within make prints its folder
			wrong = append(wrong, fmt.Errorf(`%s has $(make env): write eval "$(make -s env)"`, file))
		}
		return nil
	})
	return errors.Join(append(wrong, err)...)
}

// A Makefile is what make has to offer.
type makefile struct {
	targets  []string
	patterns []string // what comes before the %
	refused  []string // the same, of those that only say what there is
}

var rule = regexp.MustCompile(`^([\w./%-]+(?: [\w./%-]+)*)::?(?:\s|$)`)

// read asks make. It is nil where there is no Makefile.
func read(ctx context.Context, r repository.Repository) (*makefile, error) {
	if _, err := os.Stat(r.Path("Makefile")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	command := process.Command(ctx, "make", "-pqrR")
	command.Dir, command.Env = r.Root, process.Environment(nil)
	output, err := command.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: something is to be done
		return nil, fmt.Errorf("asking make for its targets: %w", err)
	}
	return parse(string(output)), nil
}

// parse reads the data base of make. A pattern whose recipe fails is there to say that a
// target is misspelt.
func parse(database string) *makefile {
	m := &makefile{}
	var pattern string
	file := false
	for line := range strings.Lines(database) {
		match := rule.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "# Not a target"):
			file = true
		case strings.HasPrefix(line, "\t") && strings.Contains(line, "exit 1"):
			m.patterns = slices.DeleteFunc(m.patterns, func(p string) bool { return p == pattern })
			if pattern != "" {
				m.refused = append(m.refused, pattern)
			}
		case match == nil:
		case file:
			file = false
		default:
			pattern = ""
			for name := range strings.FieldsSeq(match[1]) {
				if before, ok := strings.CutSuffix(name, "%"); ok {
					pattern = before
					m.patterns = append(m.patterns, before)
				} else {
					m.targets = append(m.targets, name)
				}
			}
		}
	}
	return m
}

// target reports whether there is such a target. An N is any number, also where a branch has
// none that works.
func (m *makefile) target(name string) bool {
	if before, ok := strings.CutSuffix(name, "N"); ok {
		number := regexp.MustCompile("^" + regexp.QuoteMeta(before) + `\d$`)
		return slices.ContainsFunc(m.targets, number.MatchString) || slices.Contains(m.patterns, before) || slices.Contains(m.refused, before)
	}
	return slices.Contains(m.targets, name) ||
		slices.ContainsFunc(m.patterns, func(before string) bool { return strings.HasPrefix(name, before) })
}

var (
	// On a branch, what is on another one is followed by its name.
	span     = regexp.MustCompile("`make ([^`]+)`( \\(branch `stage-)?")
	indented = regexp.MustCompile(`(?m)^    (?:\$ )?make (.+)$`)
	command  = regexp.MustCompile(`(?m)(?:^|[;&|({]|\bthen|\bdo)[ \t]*make[ \t]+([^;&|)\n]+)`)
)

// named returns the targets that a text names: in words, and in what is to be typed.
func named(text string) []string {
	var calls []string
	words := text
	for _, fence := range markdown.Parse(text).Fences {
		words = strings.Replace(words, fence.Code, "", 1)
		if shell, _, _ := strings.Cut(fence.Info, " "); shell != "sh" && shell != "bash" {
			continue
		}
		for _, match := range command.FindAllStringSubmatch(fence.Code, -1) {
			calls = append(calls, match[1])
		}
	}
	for _, form := range []*regexp.Regexp{span, indented} {
		for _, match := range form.FindAllStringSubmatch(words, -1) {
			if match[len(match)-1] == "" || form == indented {
				calls = append(calls, match[1])
			}
		}
	}
	var all []string
	for _, call := range calls {
		all = append(all, targetsOf(call)...)
	}
	return all
}

// targetsOf are the words of a call that are neither flags nor variables.
func targetsOf(call string) []string {
	call, _, _ = strings.Cut(call, "   ") // what follows in a column is words
	var targets []string
	words := strings.Fields(call)
	for i, word := range words {
		folder := i > 0 && words[i-1] == "-C"
		switch {
		case word == "&&" || word == "|" || word == ";" || strings.ContainsAny(word, "<>"):
			return targets
		case folder || strings.HasPrefix(word, "-") || strings.ContainsAny(word, `="'$`):
		default:
			targets = append(targets, word)
		}
	}
	return targets
}
