package proof

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestAPatchMayTouchATestThatTheLearnerWrites(t *testing.T) {
	const folder, own = "01-sums/lesson/exercises/build/", "01-sums/sum/own_test.go"
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path(own), "package sum\n\nconst own = 1\n")
	require.NoError(t, r.Commit(t.Context(), "a test"))
	exercisetest.AddBuild(t, r)
	change := "diff --git a/" + own + " b/" + own + "\n--- a/" + own + "\n+++ b/" + own + "\n@@ -1,3 +1,3 @@\n package sum\n \n"
	for name, lines := range map[string]string{"break.patch": "-const own = 1\n+const own = 2\n", "steps/2.patch": "-const own = 2\n+const own = 1\n"} {
		repositorytest.Write(t, r.Path(folder, name), repositorytest.Read(t, r.Path(folder, name))+change+lines)
	}
	require.NoError(t, r.Commit(t.Context(), "which the learner writes"))
	out, err := proveTested(t, r, "1/build")
	require.Error(t, err, out)
	assert.Contains(t, out, "break.patch touches "+own+": it may touch neither tests nor text")

	exercisetest.Edit(t, r.Path(folder, "judge.yaml"), "write: [sum/sum.go]", "write: [sum/sum.go, sum/own_test.go]")
	require.NoError(t, r.Commit(t.Context(), "as judge.yaml says"))
	out, err = proveTested(t, r, "1/build")
	require.NoError(t, err, out)
}

func TestALaterGroupMayHaveATestThatPassesAlready(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddBuild(t, r)
	judge := r.Path("01-sums/lesson/exercises/build/judge.yaml")
	sum := "  - {package: ./sum, test: TestSum, output: \"the sum is 0, not 3\", because: A sum is of all numbers.}\n"
	exercisetest.Edit(t, judge, "- name: The largest\n  tests:\n", "- name: The largest\n  tests:\n"+sum)
	require.NoError(t, r.Commit(t.Context(), "a test in two groups"))
	out, err := proveTested(t, r, "1/build")
	require.NoError(t, err, out)
	assert.Contains(t, out, "1-build is honest (")
}

func TestWhatStandsBesidesTheGroupsIsNotRun(t *testing.T) {
	const folder = "01-sums/lesson/exercises/build/"
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path("01-sums/sum/whole_test.go"), `package sum

import "testing"

func TestWhole(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		if Max(1, 2) != 2 {
			t.Error("not 2")
		}
	})
	t.Run("large", func(t *testing.T) {
		if Sum(Max(8, 9), 1) != 10 {
			t.Error("not 10")
		}
	})
}
`)
	require.NoError(t, r.Commit(t.Context(), "a test of the whole"))
	exercisetest.AddBuild(t, r)
	judge := r.Path(folder, "judge.yaml")
	exercisetest.Edit(t, judge, "one of them.}\n", "one of them.}\n  - {package: ./sum, test: TestWhole/small, output: not 2, because: It is.}\n")
	require.NoError(t, r.Commit(t.Context(), "one of the whole"))
	p := newProver(t, r)
	p.Tested = true
	out, err := p.run(t, "1/build")
	require.Error(t, err, out)
	assert.Contains(t, out, "with the patch TestWhole/large of ./sum fails too")

	exercisetest.Edit(t, judge, "groups:\n", "besides: [TestWhole]\ngroups:\n")
	require.NoError(t, r.Commit(t.Context(), "and none but that"))
	out, err = p.run(t, "1/build")
	require.NoError(t, err, out)

	exercisetest.Edit(t, judge, "output: not 2", "output: not 3")
	require.NoError(t, r.Commit(t.Context(), "for another reason"))
	out, err = p.run(t, "1/build")
	require.Error(t, err, out)
	assert.Contains(t, out, "with the patch TestWhole/small of ./sum fails, but does not print \"not 3\"")
}

func TestAStepThatIsNotHonestIsNamed(t *testing.T) {
	const folder = "01-sums/lesson/exercises/build/"
	for name, test := range map[string]struct {
		breakIt func(*testing.T, repository.Repository)
		want    string
	}{
		"the stubs fail for another reason": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "judge.yaml"), "the sum is 0", "the sum is 1")
			},
			"with the patch TestSum of ./sum fails, but does not print \"the sum is 1, not 3\"",
		},
		"its group does not pass": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "steps/1.patch"), "+\t\ttotal += n", "+\t\ttotal = n")
			},
			"with steps/1.patch TestSum of ./sum does not pass, but its group is written: \n    sum_test.go:13: the sum is 2, not 3",
		},
		"it does not compile": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "steps/1.patch"), "+\t\ttotal += n", "+\t\ttotal += m")
			},
			"with steps/1.patch ./sum does not compile:",
		},
		"it writes a later group, too": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "steps/1.patch"), " func Max(numbers ...int) int { return 0 }", "-func Max(numbers ...int) int { return 0 }\n+func Max(numbers ...int) int { return 3 }")
			},
			"with steps/1.patch the group \"The largest\" passes already: nothing of it is left to write",
		},
		"it does not apply": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "steps/2.patch"), "-func Max(numbers ...int) int { return 0 }", "-func Max(numbers ...int) int { return 1 }")
			},
			"steps/2.patch does not apply after what comes before it: ",
		},
		"the end is not the code of the stage": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "steps/2.patch"), "+\tlargest := numbers[0]", "+\tlargest := 0")
			},
			"after the last of steps the code is not that of the stage",
		},
		"it touches the judge": {
			func(t *testing.T, r repository.Repository) {
				patch := r.Path(folder, "steps/2.patch")
				repositorytest.Write(t, patch, "diff --git a/01-sums/sum/sum_test.go b/01-sums/sum/sum_test.go\n--- a/01-sums/sum/sum_test.go\n+++ b/01-sums/sum/sum_test.go\n@@ -1 +1 @@\n-package sum\n+package sums\n")
			},
			"steps/2.patch touches 01-sums/sum/sum_test.go: it may touch neither tests nor text",
		},
		"it writes elsewhere": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "judge.yaml"), "write: [sum/sum.go]", "write: [words/words.go]")
			},
			"its patches touch 01-sums/sum/sum.go, which judge.yaml does not name under write",
		},
		"a wrong program passes": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "wrong/smallest.patch"), "+\t\tif n < largest", "+\t\tif n >= largest")
			},
			"wrong/smallest.patch: with the patch TestMax of ./sum passes, but judge.yaml says that it fails",
		},
		"a wrong program fails for another reason": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "judge.yaml"), "the largest is 1", "the largest is 2")
			},
			"wrong/smallest.patch: with the patch TestMax of ./sum fails, but does not print \"the largest is 2, not 3\"",
		},
		"a wrong program does not compile": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "wrong/smallest.patch"), "+\t\tif n < largest", "+\t\tif m < largest")
			},
			"wrong/smallest.patch: with the patch ./sum does not compile:",
		},
		"a wrong program is not of this code": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path(folder, "wrong/smallest.patch"), "-\t\tif n > largest", "-\t\tif n >= largest")
			},
			"wrong/smallest.patch does not apply to the code of the stage: ",
		},
		"a wrong program touches the judge": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path(folder, "wrong/smallest.patch"), "diff --git a/01-sums/sum/sum_test.go b/01-sums/sum/sum_test.go\n--- a/01-sums/sum/sum_test.go\n+++ b/01-sums/sum/sum_test.go\n@@ -1 +1 @@\n-package sum\n+package sums\n")
			},
			"wrong/smallest.patch touches 01-sums/sum/sum_test.go: it may touch neither tests nor text",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := exercisetest.New(t)
			exercisetest.AddBuild(t, r)
			test.breakIt(t, r)
			require.NoError(t, r.Commit(t.Context(), "break it"))
			out, err := proveTested(t, r, "1/build")
			require.Error(t, err, out)
			assert.Contains(t, out, "01-sums/lesson/exercises/build: "+test.want)
		})
	}
}
