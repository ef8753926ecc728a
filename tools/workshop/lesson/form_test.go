package lesson

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

var watch = Ref{Stage: repository.Stage{Number: 3, Folder: "03-watch"}}

func TestALessonIsRead(t *testing.T) {
	l, err := Read(t.Context(), newFixture(t).repository(), watch)
	require.NoError(t, err)
	assert.Equal(t, "Stage 3: listen", l.Title)
	assert.Equal(t, "About it.\n", l.Introduction)
	next, found := l.Section(Beyond)
	assert.True(t, found)
	assert.Equal(t, "Stage 4.\n", next.Text)
	_, found = l.Section("Step 3: ")
	assert.False(t, found)

	require.Len(t, l.Steps, 2)
	step := l.Steps[1]
	assert.Equal(t, 2, step.Number)
	assert.Equal(t, "Write again", step.Title)
	assert.Equal(t, "lesson/checks/step2.sh", step.Check)
	assert.Equal(t, "03-watch/README.md:18", l.at(step.Line))
	assert.True(t, strings.HasPrefix(step.Text, "Twice:\n\n```bash exec\n"), step.Text)
	assert.Equal(t, []Block{
		{Line: 22, Code: "echo two > two.txt\n"},
		{Line: 26, Code: "false; echo \"exit code $?\"\n", OnlyLab: true},
	}, step.Blocks)
}

func TestWhatIsNotOfTheFormIsSaid(t *testing.T) {
	tests := map[string]struct {
		edit func(*fixture)
		want string
	}{
		"a title is missing": {
			func(f *fixture) { f.readme("# Stage 3: listen\n", "\n") },
			`03-watch/README.md:1: the lesson has no title; begin it with one, such as: # Stage 3: ...`,
		},
		"a section is called something else": {
			func(f *fixture) { f.readme("## What comes next", "## What the next stage adds") },
			`03-watch/README.md:38: the heading is "## What the next stage adds", and the form wants "## What comes next" here; every lesson has: Why; Step 1: ...`,
		},
		"a section is missing at the end": {
			func(f *fixture) { f.readme("## What comes next\n", "") },
			`03-watch/README.md:34: the section "## What comes next" is missing; it comes after this one`,
		},
		"two sections are the wrong way round": {
			func(f *fixture) {
				f.readme("## Exercises", "## X")
				f.readme("## What comes next", "## Exercises")
				f.readme("## X", "## What comes next")
			},
			`03-watch/README.md:30: the heading is "## What comes next", and the form wants "## Exercises" here`,
		},
		"a section too many in the middle": {
			func(f *fixture) { f.readme("## Exercises", "## What it costs\n\n## Exercises") },
			`03-watch/README.md:30: the heading is "## What it costs", and the form wants "## Exercises" here`,
		},
		"a section too many at the end": {
			func(f *fixture) { f.readme("Stage 4.", "## The checklist") },
			`03-watch/README.md:40: the heading "## The checklist" is one too many; make it a third-level one, or remove it`,
		},
		"a step is left out in the count": {
			func(f *fixture) { f.readme("## Step 2:", "## Step 3:") },
			`03-watch/README.md:18: the heading is "## Step 3: Write again", and the form wants "## Step 2: " here`,
		},
		"there is no step": {
			func(f *fixture) {
				f.readme("## Step 1:", "### Step 1:")
				f.readme("## Step 2:", "### Step 2:")
			},
			`03-watch/README.md:30: the heading is "## Exercises", and the form wants "## Step 1: " here`,
		},
		"a step has nothing to run": {
			func(f *fixture) { f.readme("```bash exec\necho one", "```bash\necho one") },
			`03-watch/README.md:9: step 1 has nothing to run; give it a fenced block with the info string bash exec`,
		},
		"a step has no check": {
			func(f *fixture) { delete(f.files, "03-watch/lesson/checks/step2.sh") },
			`03-watch/README.md:18: step 2 has no check; write lesson/checks/step2.sh`,
		},
		"a check has no step": {
			func(f *fixture) { f.files["03-watch/lesson/checks/step3.sh"] = "exit 0" },
			`03-watch/README.md:1: lesson/checks/step3.sh has no step; remove it, or write the step`,
		},
		"a file beside the checks": {
			func(f *fixture) { f.files["03-watch/lesson/checks/last.sh"] = "exit 0" },
			`03-watch/README.md:1: lesson/checks/last.sh is not the check of a step`,
		},
		"a fence of a hosted scenario": {
			func(f *fixture) { f.readme("> one.txt\n```\n", "> one.txt\n```{{exec}}\n```\n") },
			`03-watch/README.md:13: {{exec}} and {{copy}} stand only in generated files; give the fence the info string bash exec instead`,
		},
		"a block to run in a list": {
			func(f *fixture) { f.readme("Twice:", "1. Twice:\n\n   ```bash exec\n   true\n   ```") },
			`03-watch/README.md:22: a block to run stands in a step, and not in a list or a quotation; nothing would run this one`,
		},
		"a block to run outside of the steps": {
			func(f *fixture) { f.readme("Nothing.", "```bash exec\ntrue\n```") },
			`03-watch/README.md:36: a block to run stands in a step`,
		},
		"an info string that nobody knows": {
			func(f *fixture) { f.readme("bash exec lab", "bash exec again") },
			`03-watch/README.md:26: the info string is bash exec, or bash exec lab for what only the lab has; not "bash exec again"`,
		},
		"a block is long": {
			func(f *fixture) { f.readme("echo two > two.txt", "true"+strings.Repeat("\n", 8)+"echo two > two.txt") },
			`03-watch/README.md:22: the block has 9 lines, and may have 8; take the choreography out`,
		},
		"more blocks are long than were": {
			func(f *fixture) {
				f.files["tools/workshop/lesson/long-blocks.txt"] = "02-resource-builder 2\n03-watch 1\n"
				f.readme("echo one > one.txt", strings.Repeat("true\n", 8)+"echo one > one.txt")
				f.readme("echo two > two.txt", strings.Repeat("true\n", 8)+"echo two > two.txt")
			},
			`03-watch/README.md:30: the block has 9 lines`,
		},
		"fewer blocks are long than were": {
			func(f *fixture) { f.files["tools/workshop/lesson/long-blocks.txt"] = "03-watch 1\n" },
			`03-watch/README.md:1: 0 blocks have more than 8 lines, and tools/workshop/lesson/long-blocks.txt says 1; write down the new number`,
		},
		"a list of long blocks that cannot be read": {
			func(f *fixture) { f.files["tools/workshop/lesson/long-blocks.txt"] = "03-watch many\n" },
			`reading tools/workshop/lesson/long-blocks.txt: "03-watch many" is not a folder and a number`,
		},
		"a loop until something is so": {
			func(f *fixture) { f.readme("echo two >", "until [ -e one.txt ]; do sleep 1; done; echo two >") },
			`03-watch/README.md:22: the loop "until [ -e one.txt ]" may never end; wait with: lab await 'COMMAND'`,
		},
		"a loop while something is so": {
			func(f *fixture) {
				f.readme("echo two >", "(while read -r line; do :; done < one.txt; while true; do :; done) & echo two >")
			},
			`03-watch/README.md:22: the loop "while true" may never end`,
		},
		"an image without words": {
			func(f *fixture) { f.readme("A file.", "![](pictures/states.svg)") },
			`03-watch/README.md:7: the image pictures/states.svg has no text alternative`,
		},
		"an output is left blank": {
			func(f *fixture) { f.readme("```sh\n```", "```text\n```") },
			`03-watch/README.md:15: the output is still to be filled in; run the step and paste it`,
		},
		"an output is a placeholder": {
			func(f *fixture) { f.readme("```sh\n```", "```text\nOUT\n```") },
			`03-watch/README.md:15: the output is still to be filled in`,
		},
		"a passage for the lab has no end": {
			func(f *fixture) { f.readme("A file.", "<!-- lab -->\n\nA file.") },
			`03-watch/README.md:7: <!-- lab --> has no <!-- /lab --> after it`,
		},
		"a passage for the lab has no beginning": {
			func(f *fixture) { f.readme("A file.", "A file.\n\n<!-- /lab -->") },
			`03-watch/README.md:9: a passage that is only for the lab begins with <!-- lab --> and ends with <!-- /lab -->`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.edit(f)
			_, err := Read(t.Context(), f.repository(), watch)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAMapIsRead(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	refs, err := Refs(t.Context(), f.repository(), watch)
	require.NoError(t, err)
	assert.Equal(t, []Ref{{watch.Stage, "log"}, {watch.Stage, "sum"}}, refs)

	l, err := Read(t.Context(), f.repository(), refs[1])
	require.NoError(t, err)
	assert.Equal(t, "Stage 3, part 2: listen", l.Title)
	assert.Equal(t, "lesson/checks/sum/step2.sh", l.Steps[1].Check)

	refs, err = Refs(t.Context(), newFixture(t).repository(), watch)
	require.NoError(t, err)
	assert.Equal(t, []Ref{watch}, refs, "without a map the stage is a lesson")
}

func TestAPartMayBeAMap(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.nest()
	refs, err := Refs(t.Context(), f.repository(), watch)
	require.NoError(t, err)
	assert.Equal(t, []Ref{{watch.Stage, "log"}, {watch.Stage, "sum/one"}, {watch.Stage, "sum/two"}}, refs)
	refs, err = Refs(t.Context(), f.repository(), Ref{watch.Stage, "sum"})
	require.NoError(t, err)
	assert.Equal(t, []Ref{{watch.Stage, "sum/one"}, {watch.Stage, "sum/two"}}, refs)

	l, err := Read(t.Context(), f.repository(), refs[1])
	require.NoError(t, err)
	assert.Equal(t, "lesson/checks/sum/two/step2.sh", l.Steps[1].Check)
	lessons, err := Of(f.repository(), watch.Stage)
	require.NoError(t, err)
	require.Len(t, lessons, 3)
	assert.Equal(t, "stage 3/sum/two", lessons[2].String())

	f.files["03-watch/sum/two/README.md"] = strings.Replace(passing, "Stage 3: ", "Stage 3, part 3: ", 1)
	_, err = Refs(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, `the title of 03-watch/sum/two/README.md:1 is "# Stage 3, part 3: listen"; as the map has it, it begins with: # Stage 3, part 2.2: `)
}

func TestAPartMayBeInTheFolderOfAnother(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.readme("after [Log](log/README.md)", "and [Product](sum/product/README.md)")
	f.files["03-watch/sum/product/README.md"] = strings.Replace(passing, "Stage 3: ", "Stage 3, part 3: ", 1)
	for _, step := range []string{"step1.sh", "step2.sh"} {
		f.files["03-watch/lesson/checks/sum/product/"+step] = f.files["03-watch/lesson/checks/sum/"+step]
	}
	refs, err := Refs(t.Context(), f.repository(), watch)
	require.NoError(t, err)
	assert.Equal(t, []Ref{{watch.Stage, "log"}, {watch.Stage, "sum"}, {watch.Stage, "sum/product"}}, refs)
	for _, ref := range refs {
		_, err = Read(t.Context(), f.repository(), ref)
		require.NoError(t, err)
	}

	delete(f.files, "03-watch/sum/product/README.md")
	_, err = Read(t.Context(), f.repository(), refs[1])
	require.ErrorContains(t, err, "lesson/checks/sum/product is not the check of a step", "nobody's checks")
}

func TestWhatIsNotOfTheFormInAMapIsSaid(t *testing.T) {
	tests := map[string]struct {
		edit func(*fixture)
		want string
	}{
		"it has steps": {
			func(f *fixture) { f.readme("## The parts", "## Step 1: Go\n\n## The parts") },
			`03-watch/README.md:9: the heading is "## Step 1: Go", and the form wants "## The parts" here; every map of parts has: Why; The parts; What comes next`,
		},
		"it has no part": {
			func(f *fixture) {
				f.readme("- [Log](log/README.md)\n- [Sum](sum/README.md), after [Log](log/README.md)", "None.")
			},
			`03-watch/README.md:9: the map has no part; link to the README.md of each`,
		},
		"a part is not there": {
			func(f *fixture) { delete(f.files, "03-watch/sum/README.md") },
			`03-watch/README.md:9: there is no lesson 03-watch/sum/README.md; write it, or remove the link`,
		},
		"a part has another number": {
			func(f *fixture) {
				f.readme("- [Log](log/README.md)\n- [Sum](sum/README.md), after", "- [Sum](sum/README.md)\n-")
			},
			`03-watch/README.md:9: the title of 03-watch/sum/README.md:1 is "# Stage 3, part 2: listen"; as the map has it, it begins with: # Stage 3, part 1: `,
		},
		"checks of no part": {
			func(f *fixture) { f.files["03-watch/lesson/checks/product/step1.sh"] = "exit 1\n" },
			`03-watch/README.md:1: lesson/checks/product belongs to no part`,
		},
		"checks of steps": {
			func(f *fixture) { f.files["03-watch/lesson/checks/step1.sh"] = "exit 1\n" },
			`03-watch/README.md:1: lesson/checks/step1.sh belongs to no part`,
		},
		"a block to run": {
			func(f *fixture) { f.readme("Stage 4.", "```bash exec\ntrue\n```") },
			`03-watch/README.md:16: a block to run stands in a step`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.inParts()
			test.edit(f)
			_, err := Refs(t.Context(), f.repository(), watch)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	f := newFixture(t)
	f.readme("## Exercises", "## Training")
	delete(f.files, "03-watch/lesson/checks/step1.sh")
	_, err := Read(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, "README.md:30")
	require.ErrorContains(t, err, "README.md:9")
}

func TestACheckCanBeRun(t *testing.T) {
	r := newFixture(t).repository()
	require.NoError(t, os.Chmod(r.Path("03-watch/lesson/checks/step2.sh"), 0o644))
	_, err := Read(t.Context(), r, watch)
	require.ErrorContains(t, err, "03-watch/README.md:18: the reader cannot run the check of step 2; run: chmod +x lesson/checks/step2.sh")
}

func TestALessonThatIsNotThere(t *testing.T) {
	f := newFixture(t)
	delete(f.files, "03-watch/README.md")
	_, err := Read(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, "reading the lesson of stage 3")
}
