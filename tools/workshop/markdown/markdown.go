// Package markdown reads Markdown for all of this program: goldmark says what is a
// heading, a fence, a link or a comment, and where in the source it stands. Texts are
// changed there, with Edits, so that what nobody meant to change stays as it was written.
package markdown

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// A Document is a text that was read.
type Document struct {
	Title        string // the first heading of the first level
	Introduction string // what stands between it and the first section
	Sections     []Section
	Fences       []Fence
	Links        []Link
	Images       []Link   // their words are what is said instead of the image
	Anchors      []string // of all headings: what a link to one has after its #
	Comments     []Comment

	source string
	level  int // of the headings of sections
}

// A Section is what stands below a heading of the second level, up to the next one; below
// one of the third level, if Subsections returned it.
type Section struct {
	Heading string
	Text    string
	Line    int // of the heading, from 1
	Range
}

// A Range is a part of the source, from one offset up to another.
type Range struct{ Start, End int }

// Contains says whether another range begins in this one.
func (r Range) Contains(other Range) bool { return r.Start <= other.Start && other.Start < r.End }

// Empty says whether nothing stands in it.
func (r Range) Empty() bool { return r.Start == r.End }

// A Fence is a fenced block. Its range ends with the closing line.
type Fence struct {
	Info  string // its words, with one space between each two
	Code  string
	Line  int   // of the opening fence
	Inner bool  // it stands in a list or a quotation
	Words Range // of the info string
	Above Range // the paragraph right before it; empty if there is none
	Range
}

// A Link is [words](target), or the same of an image.
type Link struct {
	Words, Target string
	Range         // empty for a link whose target stands elsewhere, [words][reference]
}

// A Comment is one of HTML that stands alone.
type Comment struct {
	Text string
	Line int
	Range
}

// Source returns what stands in a range.
func (d Document) Source(in Range) string { return d.source[in.Start:in.End] }

// Parse reads a text.
func Parse(source string) Document { return parse(source, 2) }

// Subsections cuts the text of a section at its headings of the third level.
func Subsections(text string) []Section { return parse(text, 3).Sections }

func parse(source string, level int) Document {
	d := Document{source: source, level: level}
	root := goldmark.DefaultParser().Parse(text.NewReader([]byte(source)))
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Heading:
			d.heading(node)
		case *ast.FencedCodeBlock:
			d.fence(node)
		case *ast.HTMLBlock:
			d.comment(node)
		case *ast.Link:
			d.Links = append(d.Links, d.link(node, node.Destination, node.Reference != nil, "["))
		case *ast.Image:
			d.Images = append(d.Images, d.link(node, node.Destination, node.Reference != nil, "!["))
		}
		return ast.WalkContinue, nil
	})
	d.split()
	return d
}

// Line returns the number of the line that an offset lies in.
func (d Document) Line(offset int) int { return 1 + strings.Count(d.source[:offset], "\n") }

func (d *Document) heading(node *ast.Heading) {
	d.anchor(node)
	if _, top := node.Parent().(*ast.Document); !top {
		return
	}
	words := strings.TrimSpace(string(node.Lines().Value([]byte(d.source))))
	switch {
	case node.Level == 1 && d.Title == "":
		d.Title = words
		d.Introduction = d.source[d.lineEnd(node.Pos()):]
	case node.Level == d.level:
		d.Sections = append(d.Sections, Section{Heading: words, Line: d.Line(node.Pos()), Range: Range{d.lineStart(node.Pos()), len(d.source)}})
	}
}

// anchor notes a heading as those who show Markdown name it: its letters and digits in
// lower case, with a hyphen for a space, and a number where there is one of that name.
func (d *Document) anchor(node *ast.Heading) {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, d.words(node))
	name := anchor
	for n := 1; slices.Contains(d.Anchors, name); n++ {
		name = fmt.Sprintf("%s-%d", anchor, n)
	}
	d.Anchors = append(d.Anchors, name)
}

// words is a node's text without its marks.
func (d *Document) words(node ast.Node) string {
	var words strings.Builder
	_ = ast.Walk(node, func(inner ast.Node, entering bool) (ast.WalkStatus, error) {
		if text, ok := inner.(*ast.Text); ok && entering {
			words.Write(text.Value([]byte(d.source)))
		}
		return ast.WalkContinue, nil
	})
	return words.String()
}

// split gives each section its text.
func (d *Document) split() {
	for i := range d.Sections {
		section := &d.Sections[i]
		if i+1 < len(d.Sections) {
			section.End = d.Sections[i+1].Start
		}
		section.Text = trimmed(d.source[d.lineEnd(section.Start):section.End])
	}
	if len(d.Sections) > 0 {
		d.Introduction = strings.TrimSuffix(d.Introduction, d.source[d.Sections[0].Start:])
	}
	d.Introduction = trimmed(d.Introduction)
}

func (d *Document) fence(node *ast.FencedCodeBlock) {
	f := Fence{Line: d.Line(node.Pos()), Code: string(node.Lines().Value([]byte(d.source)))}
	_, top := node.Parent().(*ast.Document)
	f.Inner = !top
	if node.Info != nil {
		segment := node.Info.Segment
		f.Info, f.Words = strings.Join(strings.Fields(d.source[segment.Start:segment.Stop]), " "), Range{segment.Start, segment.Stop}
	}
	if above := node.PreviousSibling(); above != nil && (above.Kind() == ast.KindParagraph || above.Kind() == ast.KindTextBlock) {
		lines := above.Lines()
		f.Above = Range{lines.At(0).Start, lines.At(lines.Len() - 1).Stop}
	}
	last := d.lineEnd(node.Pos())
	if lines := node.Lines(); lines.Len() > 0 {
		last = lines.At(lines.Len() - 1).Stop
	}
	f.Range = Range{node.Pos(), d.lineEnd(last)}
	d.Fences = append(d.Fences, f)
}

func (d *Document) comment(node *ast.HTMLBlock) {
	lines := node.Lines()
	if lines.Len() == 0 {
		return
	}
	r := Range{lines.At(0).Start, lines.At(lines.Len() - 1).Stop}
	begun, isComment := strings.CutPrefix(strings.TrimSpace(d.source[r.Start:r.End]), "<!--")
	words, ended := strings.CutSuffix(begun, "-->")
	if isComment && ended {
		d.Comments = append(d.Comments, Comment{strings.TrimSpace(words), d.Line(r.Start), r})
	}
}

// link finds where a link ends, which goldmark does not tell: after its words, and after
// the target that follows them.
func (d *Document) link(node ast.Node, target []byte, elsewhere bool, opening string) Link {
	l := Link{Target: string(target)}
	begin := node.Pos() + len(opening)
	from := begin
	_ = ast.Walk(node, func(inner ast.Node, _ bool) (ast.WalkStatus, error) {
		if words, ok := inner.(*ast.Text); ok {
			from = max(from, words.Segment.Stop)
		}
		return ast.WalkContinue, nil
	})
	if !elsewhere {
		words := from + strings.Index(d.source[from:], "](")
		end := words + strings.Index(d.source[words:], l.Target) + len(l.Target)
		l.Words = d.source[begin:words]
		l.Range = Range{node.Pos(), end + strings.IndexByte(d.source[end:], ')') + 1}
	}
	return l
}

func (d *Document) lineStart(offset int) int {
	return 1 + strings.LastIndexByte(d.source[:offset], '\n')
}

func (d *Document) lineEnd(offset int) int {
	if end := strings.IndexByte(d.source[offset:], '\n'); end >= 0 {
		return offset + end + 1
	}
	return len(d.source)
}

func trimmed(body string) string { return strings.Trim(body, "\n") + "\n" }

// An Edit puts a text in the place of a range.
type Edit struct {
	Range
	Text string
}

// Insert puts a text at an offset.
func Insert(at int, text string) Edit { return Edit{Range{at, at}, text} }

// Apply makes the edits. One that begins within another is left out: what it would have
// changed is gone.
func (d Document) Apply(edits ...Edit) string {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
	var out strings.Builder
	done := 0
	for _, edit := range edits {
		if edit.Start < done {
			continue
		}
		out.WriteString(d.source[done:edit.Start] + edit.Text)
		done = edit.End
	}
	return out.String() + d.source[done:]
}
