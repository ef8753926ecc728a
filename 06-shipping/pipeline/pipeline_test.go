// Package pipeline tests the script without what it runs. The lesson runs it.
package pipeline

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// recorder is each program that the pipeline runs. It records its calls, and fails if FAIL begins the call.
const recorder = `#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >>"$(dirname "$0")/calls"
case $call in
"go list "*)
	echo 'mine/decide [testing] []'
	echo 'mine/cmd/manager [] [sigs.k8s.io/controller-runtime/pkg/envtest testing]' ;;
"go env GOOS") echo linux ;;
"go env GOARCH") echo amd64 ;;
"image "*) echo 'made cnat-manager:v0.2.0 of revision 4f5c, in 1s' ;;
*restartCount*) echo "$RESTARTS" ;;
*data.labels*) echo team=coast ;;
esac
case $call in "${FAIL:-nothing}"*) exit 1 ;; esac
`

// run runs the script in a copy, and returns what it printed and the calls that matter.
func run(t *testing.T, variables []string, stages ...string) (output string, calls []string, err error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(".")))
	programs := filepath.Join(dir, "programs")
	require.NoError(t, os.Mkdir(programs, 0o755))
	for _, name := range []string{"go", "image", "helm", "lab", "kubectl"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(recorder), 0o755))
	}
	command := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(dir, "pipeline.sh")}, stages...)...)
	command.Env = append([]string{"PATH=" + programs + ":" + os.Getenv("PATH"), "SOAK=0", "RESTARTS=0 0", "VERSION=v0.2.0"}, variables...)
	combined, err := command.CombinedOutput()
	recorded, _ := os.ReadFile(filepath.Join(programs, "calls")) // there is none if nothing was called
	for call := range strings.Lines(strings.ReplaceAll(string(recorded), dir+"/", "")) {
		if !strings.HasPrefix(call, "go env") && !strings.HasPrefix(call, "go list") {
			calls = append(calls, strings.TrimSuffix(call, "\n"))
		}
	}
	return string(combined), calls, err
}

func TestTheStagesComeOneAfterTheOther(t *testing.T) {
	output, calls, err := run(t, nil)
	require.NoError(t, err, output)
	const install = "helm upgrade --install namespace-labels out/namespace-labels-0.2.0.tgz -n namespace-labels --create-namespace --set=image=cnat-manager:v0.2.0"
	want := []string{
		"go vet ./...", "go test mine/decide",
		"go test mine/cmd/manager",
		"image --platform=linux/amd64 --version=v0.2.0 --output=out/image.tar",
		"helm lint --strict chart", "helm package chart --version=0.2.0 --app-version=v0.2.0 --destination=out",
		"lab load out/image.tar", install, "kubectl rollout restart deployment/namespace-labels -n namespace-labels",
	}
	require.Greater(t, len(calls), len(want))
	assert.Equal(t, want, calls[:len(want)])
	assert.Contains(t, calls, "kubectl delete pods -n namespace-labels --all --wait=false")
	assert.Contains(t, output, "0 rounds in 0 seconds, and no restart\n")
}

func TestTheFirstFailureEndsIt(t *testing.T) {
	for sentence, tc := range map[string]struct{ variable, stage, last string }{
		"vet":                       {"FAIL=go vet", "unit", "go vet ./..."},
		"a unit test":               {"FAIL=go test mine/decide", "unit", "go test mine/decide"},
		"a test with an API server": {"FAIL=go test mine/cmd", "envtest", "go test mine/cmd/manager"},
		"the image":                 {"FAIL=image", "image", "image --platform=linux/amd64 --version=v0.2.0 --output=out/image.tar"},
		"the linter of charts":      {"FAIL=helm lint", "chart", "helm lint --strict chart"},
		"the rollout":               {"FAIL=kubectl rollout status", "smoke", "kubectl rollout status deployment/namespace-labels -n namespace-labels --timeout=2m"},
		"a container that restarts": {"RESTARTS=0 3", "soak", "kubectl get pods -n namespace-labels -o jsonpath={.items[*].status.containerStatuses[*].restartCount}"},
	} {
		t.Run(sentence, func(t *testing.T) {
			output, calls, err := run(t, []string{tc.variable})
			require.Error(t, err)
			assert.True(t, strings.HasSuffix(output, "pipeline.sh: "+tc.stage+" failed\n"), output)
			assert.Equal(t, tc.last, calls[len(calls)-1])
		})
	}
}

func TestOneStageCanBeRunAlone(t *testing.T) {
	_, calls, err := run(t, nil, "envtest")
	require.NoError(t, err)
	assert.Equal(t, []string{"go test mine/cmd/manager"}, calls)
}

func TestAnUnknownStageIsRefused(t *testing.T) {
	output, calls, err := run(t, nil, "unit", "deploy")
	require.Error(t, err)
	assert.Equal(t, "there is no stage \"deploy\"; there are unit envtest image chart smoke soak\n", output)
	assert.Empty(t, calls)
}

// The workflow runs the stages of the script, in its order.
func TestTheWorkflowRunsEachStage(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	content, err := os.ReadFile("pipeline.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, &workflow))
	steps := workflow.Jobs["pipeline"].Steps
	var stages []string
	for _, step := range steps {
		if rest, is := strings.CutPrefix(step.Run, "sh pipeline.sh "); is {
			stages = append(stages, strings.Fields(rest)...)
		}
	}
	script, err := os.ReadFile("pipeline.sh")
	require.NoError(t, err)
	assert.Equal(t, regexp.MustCompile(`stages="(unit .*)"`).FindStringSubmatch(string(script))[1], strings.Join(stages, " "))

	// The logs are those of the namespace that the script installs into: kubectl logs reads no other.
	const name = `$(sed -n 's/^name: //p' chart/Chart.yaml)`
	assert.Contains(t, string(script), "\nname="+name+"\n")
	assert.Contains(t, steps[len(steps)-1].Run, `kubectl logs -n "`+name+`" `)
}
