package main

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Files are what is written, by their names.
type files map[string][]byte

// check reports each link and picture that leads to no file here, and to no anchor in it.
func (f files) check(also []string) error {
	there := map[string]int{} // such as START.html and START.html#windows
	for _, name := range also {
		there[name]++
	}
	for name, content := range f {
		there[name]++
		for _, match := range attribute.FindAllSubmatch(content, -1) {
			if string(match[1]) == "id" {
				there[name+"#"+string(match[2])]++
			}
		}
	}
	var problems []string
	for name, content := range f {
		for _, match := range attribute.FindAllSubmatch(content, -1) {
			to, out := leads(name, string(match[2]))
			switch {
			case string(match[1]) == "id" && there[name+"#"+string(match[2])] > 1:
				problems = append(problems, fmt.Sprintf("%s has the anchor %s twice", name, match[2]))
			case string(match[1]) != "id" && !out && there[to] == 0:
				problems = append(problems, fmt.Sprintf("%s links to %s, which isn't there", name, match[2]))
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return errors.New(strings.Join(slices.Compact(problems), "\n"))
}

// leads returns the file, with its anchor, that a link in a file leads to, or that it leads out.
func leads(file, target string) (to string, out bool) {
	u, err := url.Parse(html.UnescapeString(target))
	if err != nil || u.Scheme != "" {
		return target, err == nil
	}
	if u.Path != "" {
		file = path.Join(path.Dir(file), u.Path)
	}
	return strings.TrimSuffix(file+"#"+u.Fragment, "#"), false
}

// A section is what is below a heading of a page.
type section struct{ Level, Anchor, Heading, Text string }

var (
	attribute = regexp.MustCompile(` (id|href|src)="([^"]*)"`)
	heading   = regexp.MustCompile(`(?s)<h([1-6]) id="([^"]*)">(.*?)</h[1-6]>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// sections takes a page apart.
func sections(body string) []section {
	var parts []section
	found := heading.FindAllStringSubmatchIndex(body, -1)
	for i, at := range found {
		end := len(body)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		parts = append(parts, section{body[at[2]:at[3]], body[at[4]:at[5]], words(body[at[6]:at[7]]), words(body[at[1]:end])})
	}
	return parts
}

// words is the text of HTML.
func words(body string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(body, ""))), " ")
}
