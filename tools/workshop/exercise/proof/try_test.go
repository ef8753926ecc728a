package proof

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestTriesAreProvedOneUponTheOther(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddTries(t, r)
	out, err := proveTested(t, r, "1/tries")
	require.NoError(t, err, out)
	assert.Regexp(t, `^1-tries is honest \(.*s\)\n\nexercises: 1 passed, 0 failed\n$`, out)
}

func TestTriesMayBeginWithASkeleton(t *testing.T) {
	for more, want := range map[string]string{
		"":                "1-tries is honest",
		"\n// The end.\n": "after the last try the code is not that of the stage",
	} {
		r := exercisetest.New(t)
		exercisetest.AddTries(t, r)
		folder, file := "01-sums/lesson/exercises/tries/", r.Path("01-sums", "sum", "sum.go")
		repositorytest.Git(t, r, "apply", folder+"none.patch", folder+"twice.patch")
		repositorytest.Write(t, file, repositorytest.Read(t, file)+more)
		repositorytest.Write(t, r.Path(folder, "break.patch"), repositorytest.Git(t, r, "diff", "-R", "--src-prefix=b/", "--dst-prefix=a/", "--", "01-sums/sum")+"\n")
		require.NoError(t, r.Commit(t.Context(), "the tries write the code of the stage"))
		out, _ := proveTested(t, r, "1/tries")
		assert.Contains(t, out, want)
	}
}

func TestTriesThatAreNotHonestAreFound(t *testing.T) {
	before := soon
	defer func() { soon = before }()
	for name, test := range map[string]struct {
		file, old, replacement, want string
		soon                         time.Duration
	}{
		"solved already":          {"../../../sum/sum.go", "total += n", "total += 2 * n", "twice: before its solution TestTryTwice of ./sum passes, but judge.yaml says that it fails", before},
		"for another reason":      {"judge.yaml", "twice the sum is 3", "twice the sum is 4", `twice: before its solution TestTryTwice of ./sum fails, but does not print "twice the sum is 4, not 6"`, before},
		"a solution that is none": {"none.patch", "return 0", "panic(0)", "twice: TestTryNone does not pass, but its try is solved", before},
		"a patch that is stale":   {"none.patch", " \tlargest := numbers[0]", " \tlargest := numbers[1]", "none.patch does not apply after what comes before it", before},
		"another file":            {"judge.yaml", "write: [sum/sum.go]", "write: [sum/sum_test.go]", "its patches touch 01-sums/sum/sum.go, which judge.yaml does not name under write", before},
		"a test that waits":       {"../../../sum/try_test.go", "\tMax()\n", "\tdefer time.Sleep(time.Second)\n\tMax()\n", "none: TestTryNone takes 1s to fail", time.Second / 2},
	} {
		t.Run(name, func(t *testing.T) {
			soon = test.soon
			r := exercisetest.New(t)
			exercisetest.AddTries(t, r)
			exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "tries", test.file), test.old, test.replacement)
			if test.soon != before {
				exercisetest.Edit(t, r.Path("01-sums", "sum", "try_test.go"), `import "testing"`, "import (\n\t\"testing\"\n\t\"time\"\n)")
			}
			require.NoError(t, r.Commit(t.Context(), name))
			out, err := proveTested(t, r, "1/tries")
			require.Error(t, err, out)
			assert.Contains(t, out, test.want)
		})
	}
}

func TestATryIsSmall(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddTries(t, r)
	path := r.Path("01-sums", "lesson", "exercises", "tries", "none.patch")
	patch := repositorytest.Read(t, path)
	repositorytest.Write(t, path, patch+"+\n+\n+\n+\n+\n+\n+\n+\n")
	require.NoError(t, r.Commit(t.Context(), "large"))
	out, err := proveTested(t, r, "1/tries")
	require.Error(t, err, out)
	assert.Contains(t, out, "none.patch adds 11 lines; a try is of 10 at most: make two of it")
}
