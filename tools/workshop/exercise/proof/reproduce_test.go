package proof

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/testenv"
)

// Says whether the code adds, or is as the patch of the exercise lost makes it.
const honestBlock = "if grep -q 'total += n' 01-sums/sum/sum.go; then echo adds; else echo 'forgets after 12ms'; fi"

// writePage gives the exercise lost a page whose section Reproduce it is this.
func writePage(t *testing.T, r repository.Repository, section string) {
	t.Helper()
	repositorytest.Write(t, r.Path("01-sums", "lesson", "exercises", "lost", "README.md"),
		"# Something is lost\n\n## Reproduce it\n\n"+section+"\n```sh\nmake exercise N=1 NAME=lost\n```\n")
}

func writeBlock(t *testing.T, r repository.Repository, block, output string) {
	t.Helper()
	writePage(t, r, fmt.Sprintf("```sh\n%s\n```\n\n```text\n%s\n```\n", block, output))
}

func (p *Prover) runReproductions(t *testing.T, args ...string) (string, error) {
	t.Helper()
	targets, err := Targets(p.Repository, args)
	require.NoError(t, err)
	var out bytes.Buffer
	p.Out = &out
	err = p.Reproduce(t.Context(), targets)
	return out.String(), err
}

func TestAReproductionShowsTheMistake(t *testing.T) {
	r := exercisetest.New(t)
	writeBlock(t, r, honestBlock, "forgets after 340ms")
	out, err := newProver(t, r).runReproductions(t)
	require.NoError(t, err, out)
	assert.Regexp(t, `^1-lost is reproduced \(.*s\)\n\nreproductions: 1 passed, 0 failed\n$`, out, "the others have none")
}

func TestAReproductionThatIsNone(t *testing.T) {
	for name, tc := range map[string]struct{ block, output, want string }{
		"that prints something else than its page": {
			honestBlock, "remembers after 340ms",
			"with the patch the block prints something else than the page shows:\n    forgets after 12ms\n",
		},
		"that prints the same without the patch": {
			"echo forgets", "forgets",
			"without the patch the block prints the same, so it does not show whether a fix works:\n    forgets\n",
		},
		"that fails": {
			honestBlock + "; exit 3", "forgets after 12ms",
			"with the patch the block ended with exit code 3; it printed:\n    forgets after 12ms\n",
		},
		"that fails without the patch": {
			honestBlock + "; grep -q 'total = n' 01-sums/sum/sum.go", "forgets after 12ms",
			"without the patch the block ended with exit code 1; it printed:\n    adds\n",
		},
		"that needs a cluster where none is": {
			"kubectl get pods", "No resources found",
			"with the patch the block ended with exit code ",
		},
	} {
		t.Run("one "+name, func(t *testing.T) {
			r := exercisetest.New(t)
			writeBlock(t, r, tc.block, tc.output)
			out, err := newProver(t, r).runReproductions(t, "1/lost")
			require.EqualError(t, err, "there is one problem with the exercises, see above")
			assert.Regexp(t, `^1-lost is NOT reproduced \(.*s\)\n`, out)
			assert.Contains(t, out, "\n01-sums/lesson/exercises/lost/README.md:5: "+tc.want)
			assert.True(t, strings.HasSuffix(out, "\nreproductions: 0 passed, 1 failed\n"), out)
		})
	}
}

func TestAPageThatDoesNotSayHowToReproduceIt(t *testing.T) {
	r := exercisetest.New(t)
	p := newProver(t, r)
	writePage(t, r, "Somehow.\n")
	out, err := p.runReproductions(t, "1")
	require.Error(t, err)
	assert.Contains(t, out, "README.md:3: the block has no output below it (a block of text)\n")
	assert.Contains(t, out, "reproductions: 0 passed, 1 failed\n")
}

func TestAReproductionThatHangsIsKilled(t *testing.T) {
	r := exercisetest.New(t)
	pid := filepath.Join(t.TempDir(), "pid")
	writeBlock(t, r, "echo waiting; sleep 3600 & echo $! > "+pid+"; wait", "waiting")
	p := newProver(t, r)
	p.Timeout = 2 * time.Second
	out, err := p.runReproductions(t, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "README.md:5: with the patch the block did not end within 2s, and was killed; it printed:\n    waiting\n")
	testenv.RequireGone(t, pid)
}

func TestWhatAReproductionLeavesRunningIsKilled(t *testing.T) {
	if process.Mark("PATH=").Running() == "" {
		return // nothing is looked for without /proc
	}
	r := exercisetest.New(t)
	pid := filepath.Join(t.TempDir(), "pid")
	writeBlock(t, r, "set -m; sleep 3600 & echo $! > "+pid+"; "+honestBlock, "forgets after 12ms")
	out, err := newProver(t, r).runReproductions(t, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, `README.md:5: with the patch the block left "sleep 3600" running, which was killed; it printed:`)
	testenv.RequireGone(t, pid)
}

// A lab that notes what it is told. Its objects are in a file.
const fakeLab = `#!/bin/sh
mkdir -p "$LAB_DIR"
case $1 in
kubectl) cat "$LAB_DIR/objects" ;;
up) echo up >> VERBS; echo namespace/default > "$LAB_DIR/objects"; echo "a cluster" > "$LAB_DIR/kubeconfig" ;;
*) echo "$1" >> VERBS; rm -r "$LAB_DIR" ;;
esac
`

func addFakeLab(t *testing.T, r repository.Repository) (verbs string) {
	t.Helper()
	verbs = filepath.Join(t.TempDir(), "verbs")
	for name, program := range map[string]string{
		"lab":     strings.ReplaceAll(fakeLab, "VERBS", verbs),
		"kubectl": "#!/bin/sh\ncat \"$KUBECONFIG\"\n",
	} {
		repositorytest.Write(t, r.Path("lab", "bin", name), program)
		require.NoError(t, os.Chmod(r.Path("lab", "bin", name), 0o755))
	}
	return verbs
}

func TestReproductionsShareALab(t *testing.T) {
	r := exercisetest.New(t)
	verbs := addFakeLab(t, r)
	writeBlock(t, r, "kubectl; "+honestBlock, "a cluster\nforgets after 12ms")
	out, err := newProver(t, r).runReproductions(t, "1")
	require.NoError(t, err, out)
	assert.Equal(t, "up\nup\nreset\n", repositorytest.Read(t, verbs))
}

func TestAReproductionRemovesItsObjects(t *testing.T) {
	r := exercisetest.New(t)
	addFakeLab(t, r)
	p := newProver(t, r)
	p.Timeout = 2 * time.Second
	writeBlock(t, r, honestBlock+`; echo namespace/pier >> "$LAB_DIR/objects"`, "forgets after 12ms")
	out, err := p.runReproductions(t, "1")
	require.Error(t, err)
	assert.Contains(t, out, "README.md:5: with the patch the block did not remove namespace/pier; it printed:\n")

	writeBlock(t, r, honestBlock+`; echo pod/slow >> "$LAB_DIR/objects"; (sleep 0.5; echo > "$LAB_DIR/objects") &`, "forgets after 12ms")
	p = newProver(t, r)
	out, err = p.runReproductions(t, "1")
	require.NoError(t, err, out)
}

func TestWhatMatches(t *testing.T) {
	for name, tc := range map[string]struct {
		printed, shown string
		want           bool
	}{
		"the same":                       {"a\nb\n", "a\nb\n", true},
		"another line":                   {"a\nc\n", "a\nb\n", false},
		"a line more":                    {"a\nb\n", "a\n", false},
		"a line less":                    {"a\n", "a\nb\n", false},
		"more at the end":                {"a\nb\nc\n", "a\n...\n", true},
		"nothing more at the end":        {"a\n", "a\n...\n", true},
		"more in the middle":             {"a\nb\nb\nc\n", "a\n...\nc\n", true},
		"more in the middle, and no end": {"a\nb\nb\n", "a\n...\nc\n", false},
		"an address":                     {"at 127.0.0.1:22928\n", "at 127.0.0.1:4711\n", true},
		"a time":                         {"03:59:07.641970 I\n", "23:01:07.1 I\n", true},
		"a date":                         {`"2026-11-25T22:43:40.871973177Z"`, `"2026-11-23T03:57:01Z"`, true},
		"a duration":                     {"in 1.2s, 3m\n", "in 131ms, 1m30s\n", true},
		"a digest":                       {strings.Repeat("0a", 32), strings.Repeat("f7", 32), true},
		"a version of many digits":       {"from 970 to 53412\n", "from 12 to 13\n", true},
		"a number of one digit":          {"failures=2\n", "failures=1\n", false},
		"a number of two digits":         {"failures=12\n", "failures=1\n", false},
		"wider columns":                  {"NAME     AGE\nweb      19s\n", "NAME   AGE\nweb    2s\n", true},
		"what Go downloads":              {"go: downloading k8s.io/api v0.35.0\na\n", "a\n", true},
		"a word of hexadecimal digits":   {"decade\n", "facade\n", false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, matches(tc.printed, tc.shown)) })
	}
}
