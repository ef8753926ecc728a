package image

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

// TestTheDockerfileMakesTheSame goes through the Dockerfile as Docker would: it
// runs the commands of its first stage, and compares the second with the image.
func TestTheDockerfileMakesTheSame(t *testing.T) {
	folder := copyModule(t)
	_, index := makeImage(t, folder, here)
	image, err := index.Image(only(t, index).Digest)
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)

	d := newDocker(t, filepath.Dir(folder), map[string]string{
		"VERSION": "v1.2.3", "REVISION": "abc123",
		"TARGETOS": config.OS, "TARGETARCH": config.Architecture,
	})
	stages := d.stages(outside(t, "../../Dockerfile"))
	require.Len(t, stages, 2)
	for _, instruction := range stages[0] {
		d.build(instruction)
	}
	assert.Regexp(t, `^--platform=\$BUILDPLATFORM golang:[0-9.]+-bookworm@sha256:[0-9a-f]{64} AS build$`, d.from[0])
	sameContent(t, d.root+"/src/manager", programOf(t, image))

	var labels []string
	for _, key := range slices.Sorted(maps.Keys(config.Config.Labels)) {
		labels = append(labels, key+"="+config.Config.Labels[key])
	}
	assert.Equal(t, "scratch", d.from[1])
	assert.Equal(t, []string{
		`ARG VERSION REVISION`,
		`LABEL ` + strings.Join(labels, " "),
		`COPY --from=build --chmod=0555 /src/manager ` + config.Config.Entrypoint[0],
		`USER ` + config.Config.User,
		`ENTRYPOINT ["` + config.Config.Entrypoint[0] + `"]`,
	}, stages[1])
}

// outside returns a file of another module, of which Go's test cache knows nothing: see
// tools/inputs.
func outside(t *testing.T, path string) string {
	t.Helper()
	_ = os.Getenv("TEST_INPUTS")
	return read(t, path)
}

// TestTheDockerfilesGo: what it builds with is the Go of go.mod, and that of the
// scenarios.
func TestTheDockerfilesGo(t *testing.T) {
	from := regexp.MustCompile(` golang:((\d+\.\d+)\.\d+)-`).FindStringSubmatch(outside(t, "../../Dockerfile"))
	require.NotNil(t, from)
	assert.Regexp(t, `(?m)^go `+regexp.QuoteMeta(from[2])+`\.`, outside(t, "../../go.mod"))
	assert.Regexp(t, `(?m)^go: `+regexp.QuoteMeta(from[1])+`$`, outside(t, "../../../katacoda/course.yaml"))
}

// TestDockerIsSentWhatItNeeds: .dockerignore lets through the folders that are
// copied, and no others.
func TestDockerIsSentWhatItNeeds(t *testing.T) {
	copied := map[string]bool{}
	for _, args := range regexp.MustCompile(`(?m)^COPY ([^-\n]\S*.*) \S+$`).FindAllStringSubmatch(outside(t, "../../Dockerfile"), -1) {
		for source := range strings.FieldsSeq(args[1]) {
			folder, _, _ := strings.Cut(source, "/")
			copied["!"+folder] = true
		}
	}
	rules := regexp.MustCompile(`(?m)^[^#\n].*$`).FindAllString(outside(t, "../../Dockerfile.dockerignore"), -1)
	assert.Equal(t, append([]string{"*"}, slices.Sorted(maps.Keys(copied))...), rules)
	assert.Len(t, rules, 4)
}

// docker does what Docker does with the few instructions of our Dockerfile, in
// a folder instead of a container.
type docker struct {
	t       *testing.T
	context string
	root    string            // the container's /
	args    map[string]string // given on the command line
	from    []string          // the base of each stage
	workdir string
	env     []string
}

func newDocker(t *testing.T, context string, args map[string]string) *docker {
	t.Helper()
	env, err := oci.Environment(t.Context(), here)
	require.NoError(t, err)
	env = append(env, "CGO_ENABLED=1", "GOOS=", "GOARCH=", "GOWORK=") // as in a new container
	return &docker{t: t, context: context, root: t.TempDir(), args: args, env: env}
}

// stages returns the instructions of each stage. Variables are filled in where
// Docker does that; a command's are the shell's.
func (d *docker) stages(file string) (stages [][]string) {
	file = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(file, "")
	file = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(file, "")
	for line := range strings.Lines(file) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if instruction == "" {
			continue
		}
		if instruction != "RUN" {
			rest = os.Expand(rest, func(name string) string {
				if value := d.args[name]; value != "" {
					return value
				}
				return "$" + name
			})
		}
		switch {
		case instruction == "FROM":
			d.from = append(d.from, rest)
			stages = append(stages, nil)
		case len(stages) == 0:
			require.Equal(d.t, "ARG", instruction)
		default:
			stages[len(stages)-1] = append(stages[len(stages)-1], instruction+" "+rest)
		}
	}
	return stages
}

// build obeys an instruction of the first stage.
func (d *docker) build(instruction string) {
	instruction, rest, _ := strings.Cut(instruction, " ")
	words := strings.Fields(rest)
	switch instruction {
	case "ARG":
		for _, name := range words {
			d.env = append(d.env, name+"="+d.args[name])
		}
	case "ENV":
		d.env = append(d.env, words...)
	case "WORKDIR":
		d.workdir = filepath.Join(d.root, rest)
		require.NoError(d.t, os.MkdirAll(d.workdir, 0o700))
	case "COPY":
		target := words[len(words)-1]
		for _, source := range words[:len(words)-1] {
			d.copy(filepath.Join(d.context, source), filepath.Join(d.root, target), strings.HasSuffix(target, "/"))
		}
	case "RUN":
		shell := exec.CommandContext(d.t.Context(), "sh", "-c", strings.ReplaceAll(rest, "/src/", d.root+"/src/"))
		shell.Dir, shell.Env = d.workdir, d.env
		out, err := shell.CombinedOutput()
		require.NoError(d.t, err, "%s: %s", rest, out)
	default:
		require.Fail(d.t, "unknown instruction", instruction)
	}
}

// copy copies a folder's content, or a file into a folder.
func (d *docker) copy(source, target string, into bool) {
	if !into {
		require.NoError(d.t, exec.Command("cp", "-R", source+"/.", target).Run())
		return
	}
	require.NoError(d.t, os.MkdirAll(target, 0o700))
	content := read(d.t, source)
	require.NoError(d.t, os.WriteFile(filepath.Join(target, filepath.Base(source)), []byte(content), 0o600))
}
