package targets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

const ours = `.PHONY: help lab-up lab-down stage-1 stage-2 env
help lab-up lab-down env:
	@true
stage-1 stage-2: stage-%: lab-up
	@true
branch-%: lab-up
	@echo $*
stage-%:
	@echo "there is no stage $*" >&2; exit 1
VALUE := stage-7
`

func TestEachTargetThatIsNotThereIsNamed(t *testing.T) {
	files := map[string]string{
		"Makefile": ours,
		"README.md": "# Top\n\nRun `make lab-up`, `make stage-N CLUSTER=current`, `make branch-4` or `make lab-down lab-up`.\n\n" +
			"    make stage-1 ARGS=\"-o wide\"   wide\n\n```sh\n(make -s -C .. stage-2 | tee stage.log)\neval \"$(make -s env)\"\n```\n\n" +
			"```text\nmake believe\n```\n\nYou make it.\n",
		"05-crd-operator/clientgo/README.md": "```sh\nmake manifests\nmake install\n```\n",
	}
	require.NoError(t, Check(t.Context(), repositorytest.New(t, files)))

	files["README.md"] = "Run `make lab-upp`, `make test-N`, `make lab-down stage-3`.\n\n    make help-maintain\n\n" +
		"```bash exec\ntrue && make -s reset 2> log\neval \"$(make env)\"\n```\n\n`make VALUE`\n"
	files["START.md"] = "```sh\nmake manifests\n```\n"
	require.EqualError(t, Check(t.Context(), repositorytest.New(t, files)), `README.md names make reset, which is no target
README.md names make lab-upp, which is no target
README.md names make test-N, which is no target
README.md names make stage-3, which is no target
README.md names make VALUE, which is no target
README.md names make help-maintain, which is no target
README.md has $(make env): write eval "$(make -s env)"
START.md names make manifests, which is no target`)
}

func TestWithoutAMakefileThereIsNothingToCompareWith(t *testing.T) {
	require.NoError(t, Check(t.Context(), repositorytest.New(t, map[string]string{"README.md": "`make lab-up`\n"})))
}

func TestWhatMakeHas(t *testing.T) {
	m := parse("a b: c\n\td\n# Not a target:\ne:\nf-%: a\n\t@g\nh-%:\n\t@exit 1\ni := j\nk:: a\n")
	assert.Equal(t, &makefile{targets: []string{"a", "b", "k"}, patterns: []string{"f-"}, refused: []string{"h-"}}, m)
}
