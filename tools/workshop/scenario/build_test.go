package scenario

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

const readme = "# Stage 3: listen\n\nAbout it.\n\n" +
	"## Why\n\n<!-- lab -->\n\nStart the lab:\n\n```sh\nmake lab-up\n```\n\n<!-- /lab -->\n\nA file, see [`main.go`](main.go).\n\n" +
	"## Step 1: Write\n\n```bash exec\necho one > one.txt\n```\n\n```text\nmade\n```\n\n" +
	"## Step 2: Read\n\n```bash exec\ntrue\n```\n\n```bash exec lab\nlab logs audit\n```\n\n" +
	"## Exercises\n\n1. Write more.\n\n## In production\n\nNothing.\n\n## What comes next\n\n[Stage 4](../04-queue/).\n"

const courseText = `repository: https://example.com/course.git
branch: main
title: A course
description: About it.
image: kubernetes-kubeadm-1node-4GB
go: 1.26.8
scenarios:
  03-watch: A program that listens.
  04-queue: A stage that is not on this branch.
`

// katacoda is this repository's own folder of that name.
const katacoda = "../../../katacoda"

// newRepository makes a small one with a lesson, and with its scenario.
func newRepository(t *testing.T) repository.Repository {
	t.Helper()
	r := repository.Repository{Root: t.TempDir()}
	for name, content := range map[string]string{
		"03-watch/go.mod":                 "module watch\n",
		"03-watch/README.md":              readme,
		"03-watch/lesson/checks/step1.sh": "test -f one.txt || { echo one.txt is not there yet; exit 1; }; echo done\n",
		"03-watch/lesson/checks/step2.sh": "exit 1\n",
		"katacoda/course.yaml":            courseText,
		"katacoda/mine":                   "a file that nobody generated",
	} {
		repositorytest.Write(t, r.Path(name), content)
	}
	require.NoError(t, os.CopyFS(r.Path("katacoda", "templates"), os.DirFS(katacoda+"/templates")))
	var out bytes.Buffer
	require.NoError(t, Build(t.Context(), r, &out))
	require.Contains(t, out.String(), "the scenarios in katacoda/ are current: 9 files, of which 9 have changed")
	return r
}

// tree is all files in katacoda/.
func tree(t *testing.T, r repository.Repository) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(r.Path("katacoda"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all[path] = repositorytest.Read(t, path)
		}
		return err
	}))
	return all
}

func TestAScenarioIsMadeOfALesson(t *testing.T) {
	r := newRepository(t)
	assert.JSONEq(t, `{"title": "A course", "description": "About it.", "items": [{"path": "03-watch"}]}`,
		repositorytest.Read(t, r.Path("katacoda", "structure.json")), "a stage that there is not is not listed")
	assert.JSONEq(t, `{
		"title": "Stage 3: listen", "description": "A program that listens.",
		"details": {
			"intro": {"title": "Introduction", "text": "intro.md", "background": "background.sh", "foreground": "foreground.sh"},
			"steps": [
				{"title": "Write", "text": "step1/text.md", "verify": "step1/verify.sh"},
				{"title": "Read", "text": "step2/text.md"}
			],
			"finish": {"title": "What comes next", "text": "finish.md"}
		},
		"backend": {"imageid": "kubernetes-kubeadm-1node-4GB"}}`, repositorytest.Read(t, r.Path("katacoda/03-watch/index.json")))
	assert.Equal(t, "## Step 1: Write\n\n```bash\necho one > one.txt\n```{{exec}}\n\n```text\nmade\n```\n",
		repositorytest.Read(t, r.Path("katacoda/03-watch/step1/text.md")))
	assert.Equal(t, "## Step 2: Read\n\n```bash\ntrue\n```{{exec}}\n\n"+onlyToRead+"```bash\nlab logs audit\n```\n",
		repositorytest.Read(t, r.Path("katacoda/03-watch/step2/text.md")))
	intro := repositorytest.Read(t, r.Path("katacoda/03-watch/intro.md"))
	assert.Contains(t, intro, "# Stage 3: listen\n\nAbout it.\n\n## Why\n\nA file, see `main.go`.\n\n## Your node\n")
	finish := repositorytest.Read(t, r.Path("katacoda/03-watch/finish.md"))
	assert.Contains(t, finish, "## In production\n\nNothing.\n\n## What")
	assert.Contains(t, finish, "Stage 4 (`04-queue`).\n")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-watch/background.sh")), "--branch=main https://example.com/course.git ")
}

func TestBuildingAgainChangesNothing(t *testing.T) {
	r := newRepository(t)
	before := tree(t, r)
	var out bytes.Buffer
	require.NoError(t, Build(t.Context(), r, &out))
	assert.Contains(t, out.String(), "of which 0 have changed")
	require.NoError(t, check(t.Context(), r, &out))
	assert.Equal(t, before, tree(t, r))
}

func TestCheckNamesWhatIsNotCurrent(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, r repository.Repository)
		want   []string
	}{
		"a file was edited by hand": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("katacoda/03-watch/step1/text.md"), "mine")
			},
			[]string{"katacoda/03-watch/step1/text.md is stale"},
		},
		"the lesson has changed": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("03-watch/README.md"), strings.Replace(readme, "About it.", "About that.", 1))
			},
			[]string{"katacoda/03-watch/intro.md is stale"},
		},
		"a file is gone": {
			func(t *testing.T, r repository.Repository) {
				require.NoError(t, os.Remove(r.Path("katacoda/03-watch/step1/verify.sh")))
			},
			[]string{"katacoda/03-watch/step1/verify.sh is missing"},
		},
		"the whole scenario is gone": {
			func(t *testing.T, r repository.Repository) {
				require.NoError(t, os.RemoveAll(r.Path("katacoda/03-watch")))
			},
			[]string{"katacoda/03-watch/index.json is missing", "katacoda/03-watch/intro.md is missing"},
		},
		"a step was removed from the lesson": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("katacoda/03-watch/step3/text.md"), "")
			},
			[]string{"katacoda/03-watch/step3/text.md is superfluous"},
		},
		"a stage was removed": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("katacoda/04-queue/index.json"), repositorytest.Read(t, r.Path("katacoda/03-watch/index.json")))
			},
			[]string{"katacoda/04-queue/index.json is superfluous"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			test.change(t, r)
			before := tree(t, r)
			err := check(t.Context(), r, &bytes.Buffer{})
			require.Error(t, err)
			for _, want := range test.want {
				assert.Contains(t, err.Error(), want)
			}
			assert.True(t, strings.HasSuffix(err.Error(), "\nrun: make generate"), err)
			assert.Equal(t, before, tree(t, r), "to look changes nothing")

			require.NoError(t, Build(t.Context(), r, &bytes.Buffer{}), "make generate puts it right")
			require.NoError(t, check(t.Context(), r, &bytes.Buffer{}))
			assert.NoDirExists(t, r.Path("katacoda/04-queue"))
			assert.FileExists(t, r.Path("katacoda/mine"))
		})
	}
}

func TestWhatCannotBeMadeIsSaid(t *testing.T) {
	tests := map[string]struct {
		file, content string
		want          string
	}{
		"a fence of a hosted scenario in the lesson": {
			"03-watch/README.md", strings.Replace(readme, "one.txt\n```", "one.txt\n```{{exec}}", 1),
			"03-watch/README.md:23: {{exec}} and {{copy}} stand only in generated files",
		},
		"a lesson of another form": {
			"03-watch/README.md", strings.Replace(readme, "## Exercises", "## Training", 1),
			`the form wants "## Exercises" here`,
		},
		"a lesson about which the course says nothing": {
			"katacoda/course.yaml", strings.Replace(courseText, "03-watch", "02-watch", 1),
			"katacoda/course.yaml has no sentence for 03-watch; add one under scenarios",
		},
		"a repository that a shell would take for more": {
			"katacoda/course.yaml", strings.Replace(courseText, "course.git", "course.git; reboot", 1),
			`katacoda/course.yaml: repository is "https://example.com/course.git; reboot"; it must be a word`,
		},
		"a misspelt field of the course": {
			"katacoda/course.yaml", courseText + "brunch: main\n",
			`katacoda/course.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "brunch"`,
		},
		"an image that nobody has": {
			"katacoda/course.yaml", strings.Replace(courseText, "-4GB", "-64GB", 1),
			`katacoda/course.yaml: image is "kubernetes-kubeadm-1node-64GB"; the nodes have one of: ubuntu, ubuntu-4GB, `,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			before := tree(t, r)
			repositorytest.Write(t, r.Path(test.file), test.content)
			require.ErrorContains(t, Build(t.Context(), r, &bytes.Buffer{}), test.want)
			require.ErrorContains(t, check(t.Context(), r, &bytes.Buffer{}), test.want)
			delete(before, r.Path(test.file))
			after := tree(t, r)
			delete(after, r.Path(test.file))
			assert.Equal(t, before, after)
		})
	}
}

func TestTextForAHostedNode(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a link whose words are its path":       {"[`main.go`](main.go), [`config/`](config/)\n", "`main.go`, `config/`\n"},
		"a link with other words":               {"the [runbook](runbooks/A.md) of [stage 3](../03-watch/)\n", "the runbook (`runbooks/A.md`) of stage 3 (`03-watch`)\n"},
		"a link to the outside":                 {"[Go](https://go.dev)\n", "[Go](https://go.dev)\n"},
		"code that looks like a link":           {"```go\na[i](x)\n```\n", "```go\na[i](x)\n```\n"},
		"a fence within a longer one":           {"````text\n```bash exec\n```\n````\n", "````text\n```bash exec\n```\n````\n"},
		"a fence of tildes":                     {"~~~bash exec\nls\n~~~\n", "~~~bash\nls\n~~~{{exec}}\n"},
		"a fence that is closed by a longer":    {"```bash exec\nls\n````\n", "```bash\nls\n````{{exec}}\n"},
		"two passages for the lab":              {"a\n\n<!-- lab -->\n\nb\n\n<!-- /lab -->\n\nc\n\n<!-- lab -->\nd\n<!-- /lab -->\n", "a\n\nc\n\n"},
		"empty lines within a fence":            {"```text\n\n\n\na\n```\n", "```text\n\n\n\na\n```\n"},
		"a passage for the lab in a code block": {"```text\n<!-- lab -->\n```\nb\n", "```text\n<!-- lab -->\n```\nb\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, hosted(test.text))
		})
	}
}

func TestAllScriptsAreCorrect(t *testing.T) {
	r := newRepository(t)
	var scripts []string
	for file := range tree(t, r) {
		if strings.HasSuffix(file, ".sh") {
			scripts = append(scripts, file)
		}
	}
	assert.Len(t, scripts, 6, "the templates, and what is made of them")
	node, err := filepath.Glob(katacoda + "/node/*.sh")
	require.NoError(t, err)
	assert.NotEmpty(t, node)
	for _, script := range append(scripts, node...) {
		output, err := exec.CommandContext(t.Context(), "sh", "-n", script).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, output)
	}
}
