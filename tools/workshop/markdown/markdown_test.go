package markdown

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = "# A *title*\n\nHello.\n\n## One\n\n```bash exec\nls\n```\n\n> ~~~\n> x\n> ~~~\n\n## Two ##\n\n<!-- lab -->\nSee [the `main` one](main.go#L3).\n<!-- /lab -->\n\n```\n```\n\n```go\n## Three\n<!-- no -->\na[i](x)\n"

func TestATextIsRead(t *testing.T) {
	d := Parse(sample)
	assert.Equal(t, "A *title*", d.Title)
	assert.Equal(t, "Hello.\n", d.Introduction)
	require.Len(t, d.Sections, 2)
	assert.Equal(t, "One", d.Sections[0].Heading)
	assert.Equal(t, 5, d.Sections[0].Line)
	assert.Equal(t, "```bash exec\nls\n```\n\n> ~~~\n> x\n> ~~~\n", d.Sections[0].Text)
	assert.Equal(t, "Two", d.Sections[1].Heading)

	require.Len(t, d.Fences, 4)
	first := d.Fences[0]
	assert.Equal(t, "```bash exec\nls\n```\n", in(first.Range))
	assert.Equal(t, "bash exec", in(first.Words))
	assert.Equal(t, "ls\n", first.Code)
	assert.Equal(t, 7, first.Line)
	assert.True(t, d.Sections[0].Contains(first.Range))
	assert.False(t, d.Sections[1].Contains(first.Range))
	assert.True(t, d.Fences[1].Inner)
	assert.Equal(t, "```\n```\n", in(d.Fences[2].Range), "an empty one")
	assert.Equal(t, "```go\n## Three\n<!-- no -->\na[i](x)\n", in(d.Fences[3].Range), "one that nobody closed")

	require.Len(t, d.Comments, 2)
	assert.Equal(t, "lab", d.Comments[0].Text)
	assert.Equal(t, "<!-- lab -->\n", in(d.Comments[0].Range))
	assert.Equal(t, "/lab", d.Comments[1].Text)
	assert.Equal(t, 19, d.Comments[1].Line)

	require.Len(t, d.Links, 1)
	assert.Equal(t, "the `main` one", d.Links[0].Words)
	assert.Equal(t, "main.go#L3", d.Links[0].Target)
	assert.Equal(t, "[the `main` one](main.go#L3)", in(d.Links[0].Range))
}

func TestHeadingsHaveAnchors(t *testing.T) {
	d := Parse("# Stage 3: *listen*, don't `ask`!\n\n## Übung_1 - the [map](m.md)\n\n### Steps\n\n> ## Steps\n")
	assert.Equal(t, []string{"stage-3-listen-dont-ask", "übung_1---the-map", "steps", "steps-1"}, d.Anchors)
}

func TestTheParagraphAboveABlock(t *testing.T) {
	source := "One.\n\nTwo\nlines:\n\n```go\na\n```\n\n```go\nb\n```\n\n- In a list:\n\n  ```go\n  c\n  ```\n"
	d := Parse(source)
	var above []string
	for _, fence := range d.Fences {
		above = append(above, source[fence.Above.Start:fence.Above.End])
	}
	assert.Equal(t, []string{"Two\nlines:", "", "In a list:"}, above)
}

func TestImages(t *testing.T) {
	source := "See [a](b).\n\n![The *map* of it](pictures/map.svg) ![](c.svg)\n"
	d := Parse(source)
	require.Len(t, d.Links, 1)
	require.Len(t, d.Images, 2)
	assert.Equal(t, "The *map* of it", d.Images[0].Words)
	assert.Equal(t, "pictures/map.svg", d.Images[0].Target)
	assert.Equal(t, "![The *map* of it](pictures/map.svg)", source[d.Images[0].Start:d.Images[0].End])
	assert.Equal(t, "![](c.svg)", source[d.Images[1].Start:d.Images[1].End])
}

func in(r Range) string { return sample[r.Start:r.End] }

func TestLinksOfAllForms(t *testing.T) {
	for source, want := range map[string]Link{
		"a [b](c) [d](":    {Words: "b", Target: "c", Range: Range{2, 8}},
		"[b\nc](d)":        {Words: "b\nc", Target: "d", Range: Range{0, 8}},
		"[`b](c)`](d)":     {Words: "`b](c)`", Target: "d", Range: Range{0, 12}},
		"[*b*](c \"d\")":   {Words: "*b*", Target: "c", Range: Range{0, 12}},
		"[b](<c d>)":       {Words: "b", Target: "c d", Range: Range{0, 10}},
		"[b](c(d))":        {Words: "b", Target: "c(d)", Range: Range{0, 9}},
		"[](c)":            {Words: "", Target: "c", Range: Range{0, 5}},
		"| [b](c) | |":     {Words: "b", Target: "c", Range: Range{2, 8}},
		"[b][c]\n\n[c]: d": {Target: "d"},
	} {
		assert.Equal(t, []Link{want}, Parse(source).Links, source)
	}
}

func TestEditsLeaveTheRestAlone(t *testing.T) {
	d := Parse("abcdef")
	assert.Equal(t, "abcdef", d.Apply())
	assert.Equal(t, "a-Bdef!", d.Apply(Edit{Range{6, 6}, "!"}, Edit{Range{1, 3}, "-B"}, Edit{Range{2, 3}, "within another"}))
}
