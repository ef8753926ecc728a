package lesson

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	follow = "package follow\n\nfunc follow() {\n\tgo on()\n}\n"
	demo   = "kind: Namespace\nmetadata:\n  name: harbour\n"
	first  = "package main\n\nfunc main() {\n\trun()\n}\n"

	makefile = "diff-3:\n\t@printf -- ' package main\\n \\n-func main() {}\\n+func main() { run() }\\n'\ngrow-3:\n\t@echo '+func run() {}'\n"
)

// quoting makes a lesson quote something below its reason.
func quoting(t *testing.T, text string) *fixture {
	t.Helper()
	f := newFixture(t)
	f.files["03-watch/follow/follow.go"] = follow
	f.files["03-watch/lesson/demo.yaml"] = demo
	f.files["lab/demo.yaml"] = demo
	f.files["Makefile"] = makefile
	f.readme("A file.", text)
	return f
}

func TestABlockQuotesTheFileAboveIt(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"Go":                       {"In [`follow.go`](follow/follow.go):\n\n```go\nfunc follow() {\n```", ""},
		"YAML":                     {"In [`demo.yaml`](lesson/demo.yaml#L2):\n\n```yaml\nmetadata:\n  name: harbour\n```", ""},
		"a file beside the stage":  {"In [`demo.yaml`](../lab/demo.yaml):\n\n```yaml\nkind: Namespace\n```", ""},
		"one of two files":         {"In [`follow.go`](follow/follow.go), not in [`go.go`](gone.go):\n\n```go\n\tgo on()\n```", ""},
		"no link":                  {"In follow.go:\n\n```go\nfunc follow() {\n```", "03-watch/README.md:9: the paragraph right before this block links to no .go file; link to the one that it quotes"},
		"a link to something else": {"In [`follow`](follow/):\n\n```go\nfunc follow() {\n```", "03-watch/README.md:9: the paragraph right before this block links to no .go file"},
		"a link too far above":     {"In [`follow.go`](follow/follow.go):\n\nThere.\n\n```go\nfunc follow() {\n```", "03-watch/README.md:11: the paragraph right before this block links to no .go file"},
		"another file":             {"In [`demo.yaml`](lesson/demo.yaml):\n\n```yaml\nkind: Pod\n```", "03-watch/README.md:9: 03-watch/lesson/demo.yaml does not have this block as it is here; quote it again"},
		"a line from its middle":   {"In [`follow.go`](follow/follow.go):\n\n```go\ngo on()\n```", "03-watch/README.md:9: 03-watch/follow/follow.go does not have this block as it is here"},
		"a file that is not there": {"In [`gone.go`](gone.go):\n\n```go\nfunc follow() {\n```", "03-watch/README.md:9: 03-watch/gone.go does not have this block as it is here"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), quoting(t, c.text).repository(), watch)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

const inPieces = "In [`main.go`](first/main.go):\n\n```go\npackage main\n```\n\nThen, in [the same](first/main.go):\n\n"

func TestTheLessonQuotesAllOfFirst(t *testing.T) {
	f := quoting(t, inPieces+"```go\nfunc main() {\n\trun()\n}\n```")
	f.files["03-watch/first/main.go"] = first
	_, err := Read(t.Context(), f.repository(), watch)
	require.NoError(t, err)

	f.readme("\trun()\n}\n", "\trun()\n")
	_, err = Read(t.Context(), f.repository(), watch)
	require.EqualError(t, err, "03-watch/README.md:1: the lesson quotes all of 03-watch/first/main.go, but line 5 is missing: }")
}

func TestTheFirstPartQuotesAllOfFirst(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.files["03-watch/first/main.go"] = first
	r := f.repository()
	_, err := Read(t.Context(), r, Ref{watch.Stage, "log"})
	require.EqualError(t, err, "03-watch/log/README.md:1: the lesson quotes all of 03-watch/first/main.go, but line 1 is missing: package main")
	_, err = Read(t.Context(), r, Ref{watch.Stage, "sum"})
	require.NoError(t, err, "the second part need not")
	_, err = Refs(t.Context(), r, watch)
	require.NoError(t, err, "nor the map")
}

func TestAPartLinksFromItsOwnFolder(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.files["03-watch/sum/sum.go"] = "package sum\n"
	f.files["03-watch/sum/README.md"] += "\nIn [`sum.go`](sum.go):\n\n```go\npackage sum\n```\n"
	_, err := Read(t.Context(), f.repository(), Ref{watch.Stage, "sum"})
	require.NoError(t, err)
}

func TestADiffIsAnExcerptOfWhatMakePrints(t *testing.T) {
	f := quoting(t, "```diff\n\n-func main() {}\n```\n\n```diff\n+func main() { run() }\n```")
	_, err := Read(t.Context(), f.repository(), watch)
	require.NoError(t, err, "an empty line of context has lost its space")

	f.readme("+func main() { run() }", "+func main() { walk() }")
	_, err = Read(t.Context(), f.repository(), watch)
	require.EqualError(t, err, "03-watch/README.md:12: make diff-3 does not print this block as it is here; quote it again")

	f.readme("```diff\n+func main() { walk() }", "In `make grow-3`:\n\n```diff\n+func run() {}")
	_, err = Read(t.Context(), f.repository(), watch)
	require.NoError(t, err, "the paragraph above it names another target")

	f.files["Makefile"] = "diff-%:\n\t@echo there is nothing to compare >&2; exit 1\n"
	_, err = Read(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, "03-watch/README.md:7: make diff-3: exit status 2: there is nothing to compare")
}

func TestNotQuoted(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		number int
		line   string
	}{
		"nothing is quoted":            {nil, 1, "a"},
		"a line between is missing":    {[]string{"a\n", "d\n"}, 3, "b"},
		"all but empty lines":          {[]string{"a\n", "b\nd\n"}, 0, ""},
		"pieces that overlap":          {[]string{"a\n\nb\n", "b\nd\n"}, 0, ""},
		"the same piece a second time": {[]string{"a\n", "a\n"}, 3, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			number, line := notQuoted("a\n\nb\nd\n", c.pieces)
			assert.Equal(t, c.number, number)
			assert.Equal(t, c.line, line)
		})
	}
}
