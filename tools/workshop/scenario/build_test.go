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
	"## Step 2: Read\n\n```bash exec\ngo build -o watch .\n```\n\n```bash exec lab\nlab logs audit\n```\n\n" +
	"## Exercises\n\n1. Write more.\n\n## In production\n\nNothing.\n\n## What comes next\n\n[Stage 4](../04-queue/).\n"

const (
	sumAMD64 = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
	sumARM64 = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
)

const courseText = `repository: https://example.com/course.git
branch: main
title: A course
description: About it.
image: kubernetes-kubeadm-1node-4GB
go: 1.26.8
sums:
  amd64: ` + sumAMD64 + `
  arm64: ` + sumARM64 + `
scenarios:
  03-watch: A program that listens.
  04-queue: A stage that is not on this branch.
prepare:
  03-watch: sh demo.sh
`

// katacoda is this repository's own folder of that name. Go's test cache sees nothing that
// is outside of the module, but it does see a variable: see tools/inputs.
func katacoda() string {
	_ = os.Getenv("TEST_INPUTS")
	return "../../../katacoda"
}

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
	require.NoError(t, os.CopyFS(r.Path("katacoda", "templates"), os.DirFS(katacoda()+"/templates")))
	var out bytes.Buffer
	require.NoError(t, Build(t.Context(), r, &out))
	require.Contains(t, out.String(), "the scenarios in katacoda/ are current: 10 files, of which 10 have changed")
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
	assert.Equal(t, "## Step 2: Read\n\n```bash\ngo build -o watch .\n```{{exec}}\n\n"+onlyToRead+"```bash\nlab logs audit\n```\n",
		repositorytest.Read(t, r.Path("katacoda/03-watch/step2/text.md")))
	intro := repositorytest.Read(t, r.Path("katacoda/03-watch/intro.md"))
	assert.Contains(t, intro, "# Stage 3: listen\n\nAbout it.\n\n## Why\n\nA file, see `main.go`.\n\n## Your node\n")
	finish := repositorytest.Read(t, r.Path("katacoda/03-watch/finish.md"))
	assert.Contains(t, finish, "## In production\n\nNothing.\n\n## What")
	assert.Contains(t, finish, "Stage 4 (`04-queue`).\n")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-watch/background.sh")), "--branch=main https://example.com/course.git ")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-watch/background.sh")), "\t03-watch 03-watch 1.26.8 \\\n\t\t\t"+sumAMD64+" \\\n\t\t\t"+sumARM64+"\n")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-watch/compile.sh")), "\ngo build -o /dev/null .\nsh demo.sh\ntrue\n")
}

// inParts makes of the lesson a map with two parts, which have images.
func inParts(t *testing.T, r repository.Repository) {
	t.Helper()
	for name, content := range map[string]string{
		"03-watch/README.md": "# Stage 3: listen\n\n## Why\n\nSee ![the whole](pictures/all.svg) of [`main.go`](main.go).\n\n" +
			"## The parts\n\n- [Log](log/README.md)\n- [Sum](sum/README.md)\n\n## What comes next\n\n[Stage 4](../04-queue/).\n",
		"03-watch/log/README.md":              strings.NewReplacer("Stage 3: ", "Stage 3, part 1: ", "```text\nmade", "![One](../pictures/one.svg)\n\n```text\nmade").Replace(readme),
		"03-watch/sum/README.md":              strings.Replace(readme, "Stage 3: ", "Stage 3, part 2: ", 1),
		"03-watch/pictures/all.svg":           "<svg>all</svg>",
		"03-watch/pictures/one.svg":           "<svg>one</svg>",
		"03-watch/lesson/checks/log/step1.sh": "exit 1\n",
		"03-watch/lesson/checks/log/step2.sh": "exit 1\n",
		"03-watch/lesson/checks/sum/step1.sh": "exit 1\n",
		"03-watch/lesson/checks/sum/step2.sh": "exit 1\n",
		"katacoda/course.yaml":                strings.NewReplacer("  03-watch: A program that listens.", "  03-log: A log.\n  03-sum: A sum.", "  03-watch: sh", "  03-log: sh").Replace(courseText),
	} {
		repositorytest.Write(t, r.Path(name), content)
	}
	for _, check := range []string{"step1.sh", "step2.sh"} {
		require.NoError(t, os.Remove(r.Path("03-watch/lesson/checks", check)))
	}
}

func TestAPartIsAScenario(t *testing.T) {
	r := newRepository(t)
	inParts(t, r)
	require.NoError(t, Build(t.Context(), r, &bytes.Buffer{}))
	assert.JSONEq(t, `{"title": "A course", "description": "About it.", "items": [{"path": "03-log"}, {"path": "03-sum"}]}`,
		repositorytest.Read(t, r.Path("katacoda", "structure.json")))
	assert.NoDirExists(t, r.Path("katacoda/03-watch"))
	intro := repositorytest.Read(t, r.Path("katacoda/03-log/intro.md"))
	assert.Contains(t, intro, "# Stage 3, part 1: listen\n\nAbout it.\n\n## Why this stage\n\nSee ![the whole](all.svg) of `main.go`.\n\n## Why\n\nA file, see `main.go`.\n\n## Your node\n")
	assert.NotContains(t, repositorytest.Read(t, r.Path("katacoda/03-sum/intro.md")), "Why this stage")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-sum/background.sh")), "\t03-watch 03-sum 1.26.8 ")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-sum/step1/verify.sh")), "said=$(sh lesson/checks/sum/step1.sh 2>&1)")
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-sum/finish.md")), "`03-watch/sum/README.md`")
}

func TestImagesAreBesideTheTextThatShowsThem(t *testing.T) {
	r := newRepository(t)
	inParts(t, r)
	require.NoError(t, Build(t.Context(), r, &bytes.Buffer{}))
	assert.Contains(t, repositorytest.Read(t, r.Path("katacoda/03-log/step1/text.md")), "![One](one.svg)\n")
	assert.Equal(t, "<svg>one</svg>", repositorytest.Read(t, r.Path("katacoda/03-log/step1/one.svg")))
	assert.Equal(t, "<svg>all</svg>", repositorytest.Read(t, r.Path("katacoda/03-log/all.svg")))

	repositorytest.Write(t, r.Path("03-watch/pictures/one.svg"), "<svg>1</svg>")
	require.ErrorContains(t, check(t.Context(), r, &bytes.Buffer{}), "katacoda/03-log/step1/one.svg is stale")
	require.NoError(t, os.Remove(r.Path("03-watch/pictures/one.svg")))
	require.ErrorContains(t, Build(t.Context(), r, &bytes.Buffer{}), "making the scenario of stage 3/log: copying an image: ")
}

func TestAPlaceholderIsNotPublished(t *testing.T) {
	r := newRepository(t)
	err := publishable(t.Context(), r, &bytes.Buffer{})
	require.EqualError(t, err, "katacoda/course.yaml: repository is still the placeholder https://example.com/course.git, which no node can clone; write there the address of the published repository, then: make generate")

	repositorytest.Write(t, r.Path("katacoda/course.yaml"), strings.Replace(courseText, "https://example.com/", "https://git.example.io/example.com/", 1))
	require.ErrorContains(t, publishable(t.Context(), r, &bytes.Buffer{}), "katacoda/03-watch/background.sh is stale")
	require.NoError(t, Build(t.Context(), r, &bytes.Buffer{}))
	require.NoError(t, publishable(t.Context(), r, &bytes.Buffer{}))
	for repository, placeholder := range map[string]bool{
		"git@example.org:a/b.git": true, "https://course.example/a.git": true, "https://sub.example.net/a": true,
		"https://example.community/a.git": false, "git@git.io:example.com/b.git": false,
	} {
		assert.Equal(t, placeholder, course{Repository: repository}.publishable() != nil, repository)
	}
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
			"katacoda/course.yaml", strings.ReplaceAll(courseText, "03-watch", "02-watch"),
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
		"a sum of Go that is none": {
			"katacoda/course.yaml", strings.Replace(courseText, sumARM64, "h1:abc", 1),
			`katacoda/course.yaml: the sum of Go for arm64 is "h1:abc"; it must be one of sha256sum`,
		},
		"what is prepared for no scenario": {
			"katacoda/course.yaml", strings.Replace(courseText, "  03-watch: sh", "  03-wacht: sh", 1),
			"katacoda/course.yaml: prepare names 03-wacht, which is not under scenarios",
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
		"a link with other words":               {"the [runbook](runbooks/A.md#why) of [stage 3](../03-watch/)\n", "the runbook (`runbooks/A.md`) of stage 3 (`03-watch`)\n"},
		"an image of the repository":            {"![a `b`](../pictures/a.svg)\n", "![a `b`](a.svg)\n"},
		"an image of the outside":               {"![a](https://go.dev/a.svg)\n", "![a](https://go.dev/a.svg)\n"},
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
	assert.Len(t, scripts, 8, "the templates, and what is made of them")
	node, err := filepath.Glob(katacoda() + "/node/*.sh")
	require.NoError(t, err)
	assert.NotEmpty(t, node)
	for _, script := range append(scripts, node...) {
		output, err := exec.CommandContext(t.Context(), "sh", "-n", script).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, output)
	}
}
