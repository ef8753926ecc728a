package main

import (
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"
)

// writeBook writes the pages of the book on one page, for paper and for other programs.
func (s *site) writeBook() error {
	in := map[string]string{} // what the anchors of a page begin with
	for _, p := range s.book {
		in[p.File] = "in-" + strings.NewReplacer("/", ".", ".html", "").Replace(p.File)
	}
	one := &page{Title: "Hacking a Controller", File: "book.html"}
	var body strings.Builder
	for _, p := range s.book {
		one.Has = append(one.Has, item{File: "#" + in[p.File], Label: p.Title})
		fmt.Fprintf(&body, "<section id=\"%s\">\n%s</section>\n", in[p.File], p.within(in))
	}
	one.Body = template.HTML(body.String())
	return s.write("book.html", one)
}

// within is the page as a part of the one page. What leads out of the book is no link there, and what
// one opens with a click is open.
func (p *page) within(in map[string]string) string {
	body := strings.ReplaceAll(string(p.Body), "<details>", "<details open>")
	return attribute.ReplaceAllStringFunc(body, func(text string) string {
		match := attribute.FindStringSubmatch(text)
		to, out := leads(p.File, match[2])
		file, anchor, _ := strings.Cut(to, "#")
		switch {
		case match[1] == "id":
			return fmt.Sprintf(` id="%s.%s"`, in[p.File], match[2])
		case match[1] == "src":
			return fmt.Sprintf(` src="%s"`, to)
		case out:
			return text
		case in[file] == "":
			return ""
		case anchor == "":
			return fmt.Sprintf(` href="#%s"`, in[file])
		}
		return fmt.Sprintf(` href="#%s.%s"`, in[file], anchor)
	})
}

var (
	picture      = regexp.MustCompile(`<img src="([^"]*\.svg)" alt="([^"]*)"`)
	pictureTitle = regexp.MustCompile(`<title id="title">([^<]*)</title>`)
)

// writeBoards writes a board for each picture of the book, in its order: its title, and what it says in
// words, which is what to say.
func (s *site) writeBoards() error {
	boards := &page{Title: "Boards: Hacking a Controller", File: "boards.html"}
	seen := map[string]bool{}
	var body strings.Builder
	for _, p := range s.book {
		for _, match := range picture.FindAllStringSubmatch(string(p.Body), -1) {
			file, _ := leads(p.File, match[1])
			title := pictureTitle.FindSubmatch(s.files[file])
			if title == nil || seen[file] {
				continue
			}
			seen[file] = true
			fmt.Fprintf(&body, "<section>\n<h2>%s</h2>\n<img src=\"%s\" alt=\"%s\">\n<p>%[3]s <a href=\"%[4]s\">%[5]s</a></p>\n</section>\n", title[1], file, match[2], p.File, html.EscapeString(p.Title))
		}
	}
	boards.Body = template.HTML(body.String())
	return s.write("boards.html", boards)
}
