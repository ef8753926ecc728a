package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/track"
)

const lesson = "# Stage 1: sums\n\n## Why\n\nIt adds. <!-- question add -->\n\n<!-- lab -->\n\n" +
	"![A sum has two parts.](pictures/sum.svg)\n\n| | parts |\n|---|---|\n| a | 2 |\n\n" +
	"## Step 1: Add\n\nRead [`Sum`](sum/sum.go#L5), [all of it](sum) and [a page](https://go.dev/#now).\n\n" +
	"```bash exec\necho \"1\" # one\n```\n\n<details><summary>Answer</summary>\n\nTwo.\n\n</details>\n\n" +
	"## Step 2: Add `more`\n\nSee [the first](#step-1-add), [the term](../docs/GLOSSARY.md#sum).\n\n" +
	"## Exercises\n\n- [lost](lesson/exercises/lost/)\n"

const tracks = `
minutes: {START.md: [10], 01-sums: [2, 3, 4, 5]}
tracks:
- {name: hour, title: an hour, items: [START.md, '01-sums#2', break 15, 'exercise:01-sums/lost may']}
- {name: deep, title: everything, items: [START.md, 01-sums, 'exercise:01-sums/lost']}
`

// workshop is a small workshop, with a lesson that has one of each.
var workshop = map[string]string{
	"tools/go.mod":                              "module example.com/workshop\n",
	"README.md":                                 "# Top\n\n[Begin](START.md)\n",
	"START.md":                                  "# Start here\n\n[On](01-sums/#step-2-add-more)\n",
	"01-sums/go.mod":                            "module example.com/sums\n",
	"01-sums/README.md":                         lesson,
	"01-sums/pictures/sum.svg":                  `<svg xmlns="http://www.w3.org/2000/svg"><title id="title">A sum &amp; its parts</title></svg>`,
	"01-sums/sum/sum.go":                        "// Package sum adds.\npackage sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n",
	"01-sums/sum/sum_test.go":                   "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {}\n",
	"01-sums/lesson/exercises/lost/README.md":   "# Something is lost\n\nmake exercise N=1 NAME=lost\n",
	"01-sums/lesson/exercises/lost/hints.md":    "## Hint 1\n\nLook.\n\n## Hint 2\n\nAdd.\n",
	"01-sums/lesson/exercises/lost/solution.md": "# It was less\n",
	"01-sums/lesson/exercises/lost/break.patch": "-return a + b\n",
	"01-sums/lesson/exercises/lost/judge.yaml":  "level: 1\nminutes: 5\nread: [sum/sum.go]\ntests: [{package: ./sum, test: TestSum, output: 'the sum', because: It adds.}]\n",
	"docs/GLOSSARY.md":                          "# Glossary\n\n## Sum\n\n[Stage 1](../01-sums/README.md), [when](../.github/ci.yml)\n",
	"katacoda/sums.md":                          "[nowhere](gone.md)\n",
	".github/ci.yml":                            "on: push\n",
	track.File:                                  tracks,
}

// placed is that workshop in a folder. Only a program that looks for a repository wants one of git.
func placed(t *testing.T) repository.Repository {
	t.Helper()
	r := repository.Repository{Root: t.TempDir()}
	for name, content := range workshop {
		repositorytest.Write(t, r.Path(name), content)
	}
	return r
}

func built(t *testing.T) *site {
	t.Helper()
	s, err := build(placed(t), []string{"book.epub", "book.pdf"})
	require.NoError(t, err)
	return s
}

func TestAPageHasWhatItsMarkdownHas(t *testing.T) {
	s := built(t)
	for name, tc := range map[string]struct{ file, want string }{
		"an anchor is GitHub's":               {"01-sums/index.html", `<h2 id="step-2-add-more">Step 2: Add <code>more</code></h2>`},
		"a link to a folder with a lesson":    {"START.html", `<a href="01-sums/index.html#step-2-add-more">On</a>`},
		"a link to a page":                    {"01-sums/index.html", `<a href="../docs/GLOSSARY.html#sum">the term</a>`},
		"a link to a file leads to its lines": {"01-sums/index.html", `<a href="sum/sum.go.html#L5"><code>Sum</code></a>`},
		"the file has them":                   {"01-sums/sum/sum.go.html", `id="L5"`},
		"and its name":                        {"01-sums/sum/sum.go.html", "<h1>01-sums/sum/sum.go</h1>"},
		"a link to a folder":                  {"01-sums/index.html", `<a href="sum/index.html">all of it</a>`},
		"a folder lists its files":            {"01-sums/sum/index.html", `<a href="../../01-sums/sum/sum.go.html">sum.go</a>`},
		"and those that nobody links to":      {"01-sums/sum/index.html", `<li>sum_test.go</li>`},
		"a hidden folder, which hosts hide":   {"docs/GLOSSARY.html", `<a href="../github/ci.yml.html">when</a>`},
		"a link out of the workshop":          {"01-sums/index.html", `<a href="https://go.dev/#now">a page</a>`},
		"a picture":                           {"01-sums/index.html", `<img src="pictures/sum.svg" alt="A sum has two parts.">`},
		"a table, without an empty header":    {"01-sums/index.html", "<tr>\n<td></td>\n<th>parts</th>\n</tr>"},
		"code that one runs":                  {"01-sums/index.html", `<pre class="bash exec" tabindex="0"><code>`},
		"in colours":                          {"01-sums/index.html", `<span class="s2">&#34;1&#34;</span>`},
		"an answer":                           {"01-sums/index.html", "<details><summary>Answer</summary>\n<p>Two.</p>\n</details>"},
		"its sections":                        {"01-sums/index.html", `<li><a href="#step-1-add">Step 1: Add</a></li>`},
		"a style sheet":                       {"01-sums/index.html", `<link rel="stylesheet" href="../style.css">`},
		"what else there is":                  {"index.html", `<a href="book.html">all on one page</a>, <a href="book.epub">book.epub</a>, <a href="book.pdf">book.pdf</a>`},
	} {
		t.Run(name, func(t *testing.T) { assert.Contains(t, string(s.files[tc.file]), tc.want) })
	}
	assert.NotContains(t, string(s.files["01-sums/index.html"]), "<!-- ", "a comment may have an answer")
	assert.NotContains(t, s.files, "katacoda/sums.html")
	assert.NotContains(t, s.files, "01-sums/lesson/exercises/lost/hints.html")
}

func TestEachPageHasTheWays(t *testing.T) {
	s := built(t)
	for name, tc := range map[string]struct{ file, want string }{
		"a way goes to the first of its steps": {"START.html", `<a href="01-sums/index.html#step-2-add-more">1: sums: step 2</a> <small>6 min</small>`},
		"what may be left out":                 {"START.html", `<a href="01-sums/lesson/exercises/lost/index.html">exercise lost</a> <small>5 min, may</small>`},
		"the page that one is on":              {"START.html", `<a href="START.html" aria-current="page">Start here</a>`},
		"the page before":                      {"01-sums/index.html", `<a rel="prev" href="../START.html">Start here</a>`},
		"the page after":                       {"01-sums/index.html", `<a rel="next" href="../01-sums/lesson/exercises/lost/index.html">`},
		"what is on no way":                    {"index.html", `<a href="docs/GLOSSARY.html">Glossary</a>`},
	} {
		t.Run(name, func(t *testing.T) { assert.Contains(t, string(s.files[tc.file]), tc.want) })
	}
	assert.NotContains(t, string(s.files["START.html"]), `rel="prev"`)
	assert.NotContains(t, string(s.files["START.html"]), ">break</a>", "a pause is no page")
}

func TestALinkThatLeadsNowhereIsNamed(t *testing.T) {
	for name, tc := range map[string]struct{ file, old, new, want string }{
		"no file":         {"START.md", "01-sums/#step-2-add-more", "02-sums/", "START.html links to 02-sums.html, which isn't there"},
		"no anchor":       {"START.md", "#step-2-add-more", "#step-3", "START.html links to 01-sums/index.html#step-3, which isn't there"},
		"no line":         {"01-sums/README.md", "#L5", "#L5000", "01-sums/index.html links to sum/sum.go.html#L5000, which isn't there"},
		"no picture":      {"01-sums/README.md", "sum.svg", "sun.svg", "01-sums/index.html links to pictures/sun.svg, which isn't there"},
		"an anchor twice": {"START.md", "# Start here", "# Start here\n\n<a id=\"start-here\"></a>", "START.html has the anchor start-here twice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := placed(t)
			text := repositorytest.Read(t, r.Path(tc.file))
			require.Contains(t, text, tc.old)
			repositorytest.Write(t, r.Path(tc.file), strings.Replace(text, tc.old, tc.new, 1))
			_, err := build(r, nil)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestOnOnePageLinksStayOnIt(t *testing.T) {
	one := string(built(t).files["book.html"])
	for name, want := range map[string]string{
		"a page is a section":             `<section id="in-01-sums.index">`,
		"anchors are those of one page":   `<h2 id="in-01-sums.index.step-1-add">`,
		"a link within a page":            `<a href="#in-01-sums.index.step-1-add">the first</a>`,
		"a link to another page":          `<a href="#in-docs.GLOSSARY.sum">the term</a>`,
		"what isn't in the book":          `<a><code>Sum</code></a>`,
		"a link out of the workshop":      `<a href="https://go.dev/#now">a page</a>`,
		"a picture":                       `<img src="01-sums/pictures/sum.svg"`,
		"paper has no answer to open":     `<details open>`,
		"the contents are in their order": "<li><a href=\"#in-START\">Start here</a></li>\n<li><a href=\"#in-01-sums.index\">Stage 1: sums</a></li>",
	} {
		t.Run(name, func(t *testing.T) { assert.Contains(t, one, want) })
	}
}

func TestTheSearchHasTheWordsOfEachSection(t *testing.T) {
	assert.Contains(t, string(built(t).files["search.js"]), `["01-sums/index.html#step-2-add-more","Stage 1: sums","Step 2: Add more","See the first, the term."]`)
}

func TestAPictureIsABoard(t *testing.T) {
	assert.Contains(t, string(built(t).files["boards.html"]), "<h2>A sum &amp; its parts</h2>\n<img src=\"01-sums/pictures/sum.svg\" alt=\"A sum has two parts.\">\n<p>A sum has two parts. <a href=\"01-sums/index.html\">Stage 1: sums</a></p>")
}

func TestTheFolderHasTheBookAndNothingElse(t *testing.T) {
	r, folder := repositorytest.New(t, workshop), filepath.Join(t.TempDir(), "the book")
	stale := filepath.Join(folder, "stale.html")
	repositorytest.Write(t, stale, "somebody's")
	var out bytes.Buffer
	require.EqualError(t, run(t.Context(), []string{r.Root, folder}, &out), folder+" has something else than a book: name another folder")
	assert.FileExists(t, stale)

	repositorytest.Write(t, filepath.Join(folder, "search.js"), "of the last book")
	require.NoError(t, run(t.Context(), []string{r.Root, folder, "book.epub"}, &out))
	assert.Contains(t, out.String(), "; all that they link to is there\n")
	assert.Contains(t, repositorytest.Read(t, filepath.Join(folder, "01-sums", "index.html")), `<a href="../book.epub">book.epub</a>`)
	assert.NoFileExists(t, stale)

	require.ErrorContains(t, run(t.Context(), nil, &out), "name the repository")
	require.ErrorContains(t, run(t.Context(), []string{os.TempDir()}, &out), "run this in a git clone of the workshop")
}
