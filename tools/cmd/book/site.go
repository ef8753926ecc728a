package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/curriculum"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// A site is all that is written.
type site struct {
	r      repository.Repository
	files  files
	pages  map[string]*page // by their sources
	sorted []*page          // by their sources
	book   []*page          // those that the track with everything has, and then docs/
	linked map[string]bool  // what pages link to and that isn't a page
	Ways   []way            // the last one has what is on no track
	Also   []string         // what others put beside the pages
}

// A page is made of a Markdown file, or shows another one.
type page struct {
	source   string // such as 03-watch/README.md
	markdown string
	text     markdown.Document

	File, Title string // such as 03-watch/index.html
	Body        template.HTML
	Sections    []section
	Prev, Next  *page  // in the book
	Has         []item // if it shows a folder
}

// A way is a track, as a list of links that is on each page.
type way struct {
	Name, Title string
	Items       []item
}

// An item is a link to a page, or to a step on it.
type item struct{ File, Label, Note string }

// build makes all files, and wants each link in them to lead somewhere.
func build(r repository.Repository, also []string) (*site, error) {
	s := &site{r: r, files: files{}, pages: map[string]*page{}, linked: map[string]bool{}, Also: also}
	for _, step := range []func() error{s.read, s.order, s.render, s.showLinked, s.writePages, s.writeBook, s.writeBoards, s.writeSearch} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, s.files.check(also)
}

// Scenarios are the lessons once more, and nobody is to read a hint by accident.
var noPage = regexp.MustCompile(`^katacoda/|(^|/)testdata/|/(hints|solution)\.md$`)

func (s *site) read() error {
	return links.EachText(s.r, func(file, text string) error {
		source, err := filepath.Rel(s.r.Root, file)
		if source = filepath.ToSlash(source); err != nil || noPage.MatchString(source) {
			return err
		}
		p := &page{source: source, markdown: text, text: markdown.Parse(text), File: strings.TrimSuffix(source, ".md") + ".html"}
		if path.Base(source) == "README.md" {
			p.File = path.Join(path.Dir(source), "index.html")
		}
		p.Title = cmp.Or(strings.ReplaceAll(p.text.Title, "`", ""), source)
		s.pages[source], s.sorted = p, append(s.sorted, p)
		return nil
	})
}

// order makes the ways, and the order of the book.
func (s *site) order() error {
	c, err := track.Load(s.r)
	if err != nil {
		return err
	}
	facts, err := curriculum.Facts(s.r, c)
	if err != nil {
		return err
	}
	var docs, rest []item
	for _, t := range c.Tracks {
		w := way{Name: t.Name, Title: strings.ToUpper(t.Title[:1]) + t.Title[1:]}
		for _, stop := range c.Stops(t, facts) {
			p := s.of(stop, facts)
			if p == nil {
				continue // a pause
			}
			w.Items = append(w.Items, p.item(stop, facts))
			if t.Name == track.Deep && !slices.Contains(s.book, p) {
				s.book = append(s.book, p)
			}
		}
		s.Ways = append(s.Ways, w)
	}
	for _, p := range s.sorted {
		switch i := (item{File: p.File, Label: p.Title}); {
		case slices.Contains(s.book, p) || p.source == "README.md": // each page leads there
		case strings.HasPrefix(p.source, "docs/"):
			s.book, docs = append(s.book, p), append(docs, i)
		default:
			rest = append(rest, i)
		}
	}
	s.Ways = append(s.Ways, way{"more", "More", append(docs, rest...)})
	for i := range s.book[1:] {
		s.book[i].Next, s.book[i+1].Prev = s.book[i+1], s.book[i]
	}
	return nil
}

// of returns the page of a stop, or nil if there is none.
func (s *site) of(stop track.Stop, facts track.Facts) *page {
	folder := stop.Name
	switch stop.Kind {
	case track.Break, track.Lunch, track.Evening:
		return nil
	case track.Exercise:
		folder = path.Join(path.Dir(stop.Name), "lesson/exercises", path.Base(stop.Name))
	case track.Try:
		folder = facts.Tries[stop.Name].Pages[0]
	}
	return cmp.Or(s.pages[folder], s.pages[path.Join(folder, "README.md")])
}

func (p *page) item(stop track.Stop, facts track.Facts) item {
	label := facts.Name(stop, func(_, label string) string { return label })
	i := item{File: p.File, Label: strings.ReplaceAll(label, "`", ""), Note: track.Hours(stop.Minutes)}
	if stop.Name == p.source {
		i.Label = p.Title // START.md
	}
	if stop.May {
		i.Note += ", may"
	}
	if len(stop.Steps) > 0 && stop.Steps[0] > 1 {
		first := func(anchor string) bool { return strings.HasPrefix(anchor, fmt.Sprintf("step-%d-", stop.Steps[0])) }
		if at := slices.IndexFunc(p.text.Anchors, first); at >= 0 {
			i.File += "#" + p.text.Anchors[at]
		}
	}
	return i
}

// showLinked makes pages of what others link to: a file with its lines numbered, a folder as a list.
func (s *site) showLinked() error {
	for name := range s.linked {
		p := &page{Title: name, File: s.file(name)}
		entries, err := os.ReadDir(s.r.Path(name))
		for _, entry := range entries {
			i := item{Label: entry.Name()}
			if inner := path.Join(name, i.Label); s.linked[inner] || s.pages[inner] != nil {
				i.File = s.file(inner)
			}
			p.Has = append(p.Has, i)
		}
		if err != nil { // it's a file, or missing: then the check names the link
			content, err := os.ReadFile(s.r.Path(name))
			if err != nil {
				continue
			}
			if p.Body, err = numbered(name, string(content)); err != nil {
				return err
			}
		}
		if err := s.write("page.html", p); err != nil {
			return err
		}
	}
	return nil
}

var (
	//go:embed *.html *.css *.js
	embedded  embed.FS
	templates = template.Must(template.ParseFS(embedded, "*.html"))
)

// writePages writes the pages, and what they load.
func (s *site) writePages() error {
	for _, p := range s.sorted {
		if err := s.write("page.html", p); err != nil {
			return err
		}
	}
	for _, name := range []string{"style.css", "script.js"} {
		s.files[name], _ = embedded.ReadFile(name) // it's there: this compiles only then
	}
	return nil
}

// A view is what a template shows.
type view struct {
	*site
	*page
}

func (s *site) write(name string, p *page) error {
	var out bytes.Buffer
	err := templates.ExecuteTemplate(&out, name, view{s, p})
	s.files[p.File] = out.Bytes()
	return err
}

// URL is a link to a file of the site.
func (p *page) URL(file string) template.URL {
	return template.URL(strings.Repeat("../", strings.Count(p.File, "/")) + file)
}

// Is says whether a link leads to this page.
func (p *page) Is(file string) bool { return strings.HasPrefix(file+"#", p.File+"#") }

// writeSearch writes the text of all sections as a script: a page that was opened as a file may load
// a script, but fetch nothing.
func (s *site) writeSearch() error {
	var index [][4]string
	for _, p := range s.sorted {
		for _, part := range p.Sections {
			index = append(index, [4]string{p.File + "#" + part.Anchor, p.Title, part.Heading, part.Text})
		}
	}
	content, err := json.Marshal(index)
	s.files["search.js"] = slices.Concat([]byte("searchIndex("), content, []byte(")\n"))
	return err
}
