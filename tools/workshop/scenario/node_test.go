package scenario

import (
	"archive/tar"
	"bytes"
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

// sh runs a script with programs of our own before those of the machine.
func sh(t *testing.T, dir string, programs map[string]string, args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range programs {
		repositorytest.Write(t, filepath.Join(bin, name), "#!/bin/sh\n"+script)
	}
	command := exec.CommandContext(t.Context(), "sh", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestTheStandInOfTheLabTellsProcessesAsLessonsReadThem(t *testing.T) {
	output, err := sh(t, katacoda()+"/node", map[string]string{
		// The kernel's names of processes are cut off.
		"pgrep": `case $3 in kube-apiserver) echo 41;; kube-controller) echo 42;; *) exit 1;; esac`,
	}, "-c", "sh lab.sh status > status; cat status; awk '/^kube-apiserver/ { print $2 }' status; rm status")
	require.NoError(t, err, output)
	assert.Equal(t, `COMPONENT                PID
etcd                     -
kube-apiserver           41
kube-controller-manager  42
kube-scheduler           -
kubelet                  -
41
`, output)
}

func TestTheStandInOfTheLabLoadsAnImage(t *testing.T) {
	dir := t.TempDir()
	index := `{"schemaVersion":2,"manifests":[{"annotations":{"io.containerd.image.name":"docker.io/library/cnat-manager:v0.6.0","org.opencontainers.image.ref.name":"v0.6.0"}}]}`
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "index.json", Size: int64(len(index)), Mode: 0o644}))
	_, err := w.Write([]byte(index))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	repositorytest.Write(t, filepath.Join(dir, "an image.tar"), archive.String())
	lab, err := filepath.Abs(katacoda() + "/node/lab.sh")
	require.NoError(t, err)

	imports := `echo "$@" >> asked; echo unpacking`
	output, err := sh(t, dir, map[string]string{"ctr": imports}, lab, "load", "an image.tar")
	require.NoError(t, err, output)
	assert.Equal(t, "loaded docker.io/library/cnat-manager:v0.6.0\n", output)
	assert.Equal(t, "--namespace k8s.io images import an image.tar\n", repositorytest.Read(t, filepath.Join(dir, "asked")))

	output, err = sh(t, dir, map[string]string{"ctr": "echo no space >&2; exit 1"}, lab, "load", "an image.tar")
	require.Error(t, err)
	assert.Equal(t, "no space\n", output)
	output, err = sh(t, dir, nil, lab, "load", "nothing.tar")
	require.Error(t, err)
	assert.Equal(t, "error: there is no archive nothing.tar\n", output)
	output, err = sh(t, dir, nil, lab, "load")
	require.Error(t, err)
	assert.Contains(t, output, "the archive is missing: lab load IMAGE.tar")
	output, err = sh(t, dir, nil, lab, "up")
	require.Error(t, err)
	assert.Contains(t, output, "here are only: lab status, lab load IMAGE.tar, lab await 'COMMAND'")
}

func TestTheStandInOfTheLabHasFaults(t *testing.T) {
	lab, err := filepath.Abs(katacoda() + "/node/lab.sh")
	require.NoError(t, err)
	programs := map[string]string{"lab-faults": `for word; do echo "<$word>"; done`}
	output, err := sh(t, t.TempDir(), programs, lab, "run", "./first", "a b")
	require.NoError(t, err, output)
	assert.Equal(t, "<run>\n<./first>\n<a b>\n", output)
	output, err = sh(t, t.TempDir(), programs, lab, "logs", "etcd")
	require.Error(t, err)
	assert.Equal(t, "error: on this node there is only: lab logs requests\n", output)
}

// timeout stands for that of a node where the machine has none.
const timeout = "shift 2; exec \"$@\"\n"

func TestTheStandInOfTheLabAwaits(t *testing.T) {
	lab, err := filepath.Abs(katacoda() + "/node/lab.sh")
	require.NoError(t, err)
	programs := map[string]string{}
	if _, err := exec.LookPath("timeout"); err != nil {
		programs["timeout"] = timeout
	}

	output, err := sh(t, t.TempDir(), programs, lab, "await", `echo try >> tries; wc -l < tries | tr -d ' '; echo aside >&2; test "$(wc -l < tries)" -eq 3`)
	require.NoError(t, err, output)
	assert.Equal(t, "3\n", output, "what the last try printed, and nothing of the others")

	unhurried := map[string]string{"timeout": timeout}
	output, err = sh(t, t.TempDir(), unhurried, lab, "await", "--for=1s", "echo seen; echo refused >&2; exit 3")
	require.Error(t, err)
	assert.Equal(t, "seen\nrefused\nerror: still not so after 0m1s: echo seen; echo refused >&2; exit 3\n", output)

	if programs["timeout"] == "" {
		output, err = sh(t, t.TempDir(), programs, lab, "await", "--for", "3s", "echo begun; sleep 1000")
		require.Error(t, err)
		assert.Equal(t, "begun\nerror: still not so after 0m3s: echo begun; sleep 1000\n", output)
	}

	for want, args := range map[string][]string{
		"error: name the command, in quotes: lab await 'test -e ready'\n": {"--for=1m30s"},
		"error: --for is a time like 90s or 2m\n":                         {"--for=soon", "true"},
	} {
		output, err = sh(t, t.TempDir(), programs, append([]string{lab, "await"}, args...)...)
		require.Error(t, err)
		assert.Equal(t, want, output)
	}
}

func TestAnInterruptEndsTheStandInsTry(t *testing.T) {
	lab, err := filepath.Abs(katacoda() + "/node/lab.sh")
	require.NoError(t, err)
	programs := map[string]string{}
	if _, err := exec.LookPath("timeout"); err != nil {
		programs["timeout"] = timeout
	}
	output, err := sh(t, t.TempDir(), programs, "-c", `
		sh "$1" await --for=10h 'echo $$ > pid; exec sleep 1000' &
		until test -s pid; do sleep 0.05; done
		kill $!
		wait $!
		echo "exit code $?"
		while kill -0 "$(cat pid)" && ! grep -q ' Z ' "/proc/$(cat pid)/stat"; do sleep 0.05; done 2>/dev/null
		echo ended`, "sh", lab)
	require.NoError(t, err, output)
	assert.Equal(t, "exit code 1\nended\n", output)
}

// A node is a folder that stands for a hosted one, with the scripts of a scenario in it.
type node struct {
	t       *testing.T
	root    string
	scripts string
	// programs are those that come before the programs of the machine.
	programs map[string]string
}

// newNode takes the scenario of a repository whose setup.sh is only setup.
func newNode(t *testing.T, setup string) *node {
	t.Helper()
	r := newRepository(t)
	n := &node{t: t, root: t.TempDir(), scripts: r.Path("katacoda/03-watch")}
	repositorytest.Write(t, r.Path("katacoda/node/setup.sh"), setup)
	repositorytest.Write(t, r.Path("katacoda/node/env.sh"), "export TOLD=yes\n")
	_, err := r.Git(t.Context(), "init", "--quiet", "--initial-branch=main")
	require.NoError(t, err)
	require.NoError(t, r.Commit(t.Context(), "first"))
	n.repair(r)
	return n
}

// repair lets the scripts use the folder, and clone the repository that is here.
func (n *node) repair(r repository.Repository) {
	n.t.Helper()
	for _, script := range []string{"background.sh", "foreground.sh", "step1/verify.sh"} {
		file := filepath.Join(n.scripts, script)
		repositorytest.Write(n.t, file, strings.NewReplacer("/tmp/", n.root+"/", "/root/", n.root+"/", "https://example.com/course.git", "file://"+r.Root).Replace(repositorytest.Read(n.t, file)))
	}
}

func (n *node) run(args ...string) (string, error) {
	n.t.Helper()
	return sh(n.t, n.scripts, n.programs, args...)
}

func TestANodeIsMadeReady(t *testing.T) {
	n := newNode(t, "echo \"installing Go $3\" >> \"$(dirname \"$0\")/../../../workshop.progress\"\n")
	output, err := n.run("step1/verify.sh")
	require.Error(t, err)
	assert.Equal(t, "the node is not ready yet: wait until the terminal says so\n", output)

	_, err = n.run("background.sh")
	require.NoError(t, err)
	output, err = n.run("-c", ". ./foreground.sh; echo \"$TOLD\"; pwd")
	require.NoError(t, err)
	assert.Equal(t, "Preparing stage 3. This takes some minutes.\nReady.\nyes\n"+filepath.Join(n.root, "hacking-a-controller/03-watch")+"\n", output)
	assert.Equal(t, "getting the repository\ninstalling Go 1.26.8\n", repositorytest.Read(t, filepath.Join(n.root, "workshop.progress")))

	output, err = n.run("step1/verify.sh")
	require.Error(t, err)
	assert.Equal(t, "one.txt is not there yet\n", output)
	repositorytest.Write(t, filepath.Join(n.root, "hacking-a-controller/03-watch/one.txt"), "one")
	output, err = n.run("step1/verify.sh")
	require.NoError(t, err)
	assert.Equal(t, "done\n", output)
}

// The host shows nothing of what a check prints.
func TestACheckWritesIntoTheReadersTerminal(t *testing.T) {
	n := newNode(t, "exit 0\n")
	terminal := filepath.Join(n.root, "terminal")
	repositorytest.Write(t, terminal, "")
	_, err := n.run("background.sh")
	require.NoError(t, err)
	n.programs = map[string]string{"tty": "echo '" + terminal + "'\n"}
	_, err = n.run("-c", ". ./foreground.sh")
	require.NoError(t, err)
	_, err = n.run("step1/verify.sh")
	require.Error(t, err)
	assert.Equal(t, "\none.txt is not there yet\n", repositorytest.Read(t, terminal))

	require.NoError(t, os.Remove(filepath.Join(n.root, "workshop.ended")))
	repositorytest.Write(t, terminal, "")
	_, err = n.run("step1/verify.sh")
	require.Error(t, err)
	assert.Equal(t, "\nthe node is not ready yet: wait until the terminal says so\n", repositorytest.Read(t, terminal))

	n.programs = map[string]string{"tty": "echo not a tty; exit 1\n"}
	repositorytest.Write(t, filepath.Join(n.root, "workshop.ended"), "0\n")
	_, err = n.run("-c", ". ./foreground.sh")
	require.NoError(t, err)
	repositorytest.Write(t, terminal, "")
	output, err := n.run("step1/verify.sh")
	require.Error(t, err)
	assert.Equal(t, "one.txt is not there yet\n", output)
	assert.Empty(t, repositorytest.Read(t, terminal))
	assert.NoFileExists(t, filepath.Join(n.root, "workshop.terminal"), "not a tty is no file")
}

func TestTheReaderSeesProgressWhileItIsMadeReady(t *testing.T) {
	n := newNode(t, "exit 0\n")
	output, err := n.run("-c", `
		. ./foreground.sh > told &
		echo 'installing Go' > "`+n.root+`/workshop.progress"
		until grep -q 'installing Go' told; do sleep 0.1; done
		sh background.sh
		wait
		cat told; rm told`)
	require.NoError(t, err)
	assert.Contains(t, output, "  installing Go\n")
	assert.Contains(t, output, "Ready.\n")
}

func TestANodeThatCannotBeMadeReadySaysWhy(t *testing.T) {
	n := newNode(t, "echo there is no network >&2; exit 7\n")
	_, err := n.run("background.sh")
	require.NoError(t, err)
	output, err := n.run("-c", ". ./foreground.sh; echo the shell is still there")
	require.NoError(t, err)
	assert.Contains(t, output, "This node could not be made ready. Reload the page to get another.")
	assert.Contains(t, output, "there is no network\n")
	assert.NotContains(t, output, "Ready.")
	assert.Contains(t, output, "the shell is still there\n")
	output, err = n.run("step1/verify.sh")
	require.Error(t, err)
	assert.Equal(t, "the node is not ready yet: wait until the terminal says so\n", output)
}
