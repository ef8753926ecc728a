package main

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// toHTML has tables as GitHub has them, and code in colours.
var toHTML = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(code{}, 1))),
)

// A comment is for programs, and may be an answer. A keyboard has to reach what scrolls on a narrow
// screen, and a header has to say something.
var (
	comment    = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
	accessible = strings.NewReplacer(
		"<table>", `<div class="table" tabindex="0"><table>`, "</table>", "</table></div>", "<th></th>", "<td></td>",
		"<p><img ", `<p class="picture" tabindex="0"><img `)
)

func (s *site) render() error {
	for _, p := range s.sorted {
		source := []byte(p.markdown)
		root := toHTML.Parser().Parse(text.NewReader(source))
		s.place(p, root)
		var out bytes.Buffer
		if err := toHTML.Renderer().Render(&out, source, root); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
		p.Body = template.HTML(accessible.Replace(comment.ReplaceAllString(out.String(), "")))
		p.Sections = sections(string(p.Body))
	}
	return nil
}

// place gives headings their anchors, and links the files of the site.
func (s *site) place(p *page, root ast.Node) {
	anchors := p.text.Anchors
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Heading:
			node.SetAttributeString("id", []byte(anchors[0]))
			anchors = anchors[1:]
		case *ast.Link:
			node.Destination = s.to(p, node.Destination)
		case *ast.Image:
			node.Destination = s.to(p, node.Destination)
		}
		return ast.WalkContinue, nil
	})
}

// to returns where a link of a page leads in the site, and takes that into the site.
func (s *site) to(p *page, target []byte) []byte {
	u, err := url.Parse(string(target))
	if err != nil || u.Scheme != "" || u.Path == "" {
		return target
	}
	file, err := filepath.Rel(path.Dir(p.File), s.file(path.Join(path.Dir(p.source), u.Path)))
	if err != nil {
		return target
	}
	u.Path = filepath.ToSlash(file)
	return []byte(u.String())
}

// file returns the file that a file or a folder of the repository becomes.
func (s *site) file(name string) string {
	for _, source := range []string{name, path.Join(name, "README.md")} {
		if p := s.pages[source]; p != nil {
			return p.File
		}
	}
	if path.Ext(name) == ".svg" {
		if content, err := os.ReadFile(s.r.Path(name)); err == nil { // the check names one that is missing
			s.files[name] = content
		}
		return name
	}
	s.linked[name] = true
	shown := strings.TrimPrefix(name, ".") // hosts leave out hidden folders
	if info, err := os.Stat(s.r.Path(name)); err == nil && info.IsDir() {
		return path.Join(shown, "index.html")
	}
	return shown + ".html"
}

// code renders code: chroma gives its words classes, and style.css gives these their colours.
type code struct{}

// RegisterFuncs is for goldmark.
func (code) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, block)
	r.Register(ast.KindCodeBlock, block)
}

func block(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language, class := "", ""
	if fence, ok := node.(*ast.FencedCodeBlock); ok && fence.Info != nil {
		language, class = string(fence.Language(source)), string(fence.Info.Value(source)) // bash exec: both are classes
	}
	var lexer chroma.Lexer // output has none
	if language != "" && language != "text" {
		lexer = lexers.Get(language)
	}
	fmt.Fprintf(w, "<pre class=\"%s\" tabindex=\"0\"><code>", html.EscapeString(class))
	err := highlight(w, lexer, string(node.Lines().Value(source)), chromahtml.PreventSurroundingPre(true))
	fmt.Fprint(w, "</code></pre>\n")
	return ast.WalkSkipChildren, err
}

// highlight writes code. Without a lexer it's plain.
func highlight(w io.Writer, lexer chroma.Lexer, content string, options ...chromahtml.Option) error {
	if lexer == nil {
		lexer = lexers.Fallback
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, content)
	if err != nil {
		return fmt.Errorf("reading code: %w", err)
	}
	return chromahtml.New(append(options, chromahtml.WithClasses(true))...).Format(w, chroma.MustNewStyle("", nil), tokens)
}

// numbered is a file with an anchor for each line.
func numbered(name, content string) (template.HTML, error) {
	var out strings.Builder
	err := highlight(&out, lexers.Match(path.Base(name)), content, chromahtml.WithLineNumbers(true), chromahtml.WithLinkableLineNumbers(true, "L"))
	return template.HTML(out.String()), err
}
