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

// TestTheDockerfileMakesTheSame runs the first stage of the Dockerfile as a script, in a folder
// instead of a container, and compares the second with the image.
func TestTheDockerfileMakesTheSame(t *testing.T) {
	folder := copyModule(t)
	_, index := makeImage(t, folder, here)
	image, config := onlyImage(t, index)

	file := regexp.MustCompile(`(?m)^#.*\n|\\\n\s*`).ReplaceAllString(outside(t, "../../Dockerfile"), "")
	stages := strings.Split(file, "\nFROM ")
	require.Len(t, stages, 3, "what comes before the first, and two")
	base, instructions, _ := strings.Cut(stages[1], "\n")
	assert.Regexp(t, `^--platform=\$BUILDPLATFORM golang:[0-9.]+-bookworm@sha256:[0-9a-f]{64} AS build$`, base)

	root := t.TempDir() // the container's /
	environment, err := oci.Environment(t.Context(), here)
	require.NoError(t, err)
	shell := exec.CommandContext(t.Context(), "sh", "-e", "-c", script(instructions))
	shell.Env = append(environment, "CONTEXT="+filepath.Dir(folder), "ROOT="+root,
		"CGO_ENABLED=1", "GOOS=", "GOARCH=", "GOWORK=", // as in a new container
		"GIVEN_VERSION=v1.2.3", "GIVEN_REVISION=abc123", "GIVEN_TARGETOS="+config.OS, "GIVEN_TARGETARCH="+config.Architecture)
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s: %s", shell, out)
	_, program := programOf(t, image)
	sameContent(t, filepath.Join(root, "src/manager"), program)

	var labels []string
	for _, key := range slices.Sorted(maps.Keys(config.Config.Labels)) {
		labels = append(labels, key+"="+config.Config.Labels[key])
	}
	assert.Equal(t, `scratch
ARG VERSION REVISION
LABEL `+strings.Join(labels, " ")+`
COPY --from=build --chmod=0555 /src/manager `+config.Config.Entrypoint[0]+`
USER `+config.Config.User+`
ENTRYPOINT ["`+config.Config.Entrypoint[0]+`"]
`, strings.NewReplacer("$VERSION", "v1.2.3", "$REVISION", "abc123").Replace(stages[2]))
}

// script says in the language of the shell what the few instructions do that our Dockerfile has.
// The shell finds no command for any other.
func script(instructions string) string {
	script := strings.ReplaceAll(instructions, "/src/", `"$ROOT"/src/`)
	for _, rule := range [][2]string{
		{`ARG (.*)`, `for name in $1; do export "$$name=$$(printenv GIVEN_$$name)"; done`},
		{`ENV (.*)`, `export $1`},
		{`WORKDIR (.*)`, `mkdir -p $1 && cd $1`},
		{`COPY (.*) (\S*/)`, `mkdir -p $2 && (cd "$$CONTEXT" && cp $1 $2)`},
		{`COPY (\S*) (\S*)`, `mkdir -p $2 && cp -R "$$CONTEXT"/$1/. $2`},
		{`RUN (.*)`, `$1`},
	} {
		script = regexp.MustCompile(`(?m)^`+rule[0]+`$`).ReplaceAllString(script, rule[1])
	}
	return script
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
