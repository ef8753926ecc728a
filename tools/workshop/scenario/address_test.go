package scenario

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

func TestThePageNamesTheAddressOfTheCourse(t *testing.T) {
	const page = "Twice:\n\n    git clone https://old.example/x.git\n    cd x\n\nSee git clone --help.\n"
	got, err := address{page: "README.md", before: "    git clone "}.put(page, "https://new.example/y.git")
	require.NoError(t, err)
	assert.Equal(t, "Twice:\n\n    git clone https://new.example/y.git\n    cd x\n\nSee git clone --help.\n", got)
}

func TestACitationLeavesOutTheSuffix(t *testing.T) {
	got, err := address{page: "CITATION.cff", before: "repository-code: ", suffix: ".git"}.put("repository-code: here\n", "https://new.example/y.git")
	require.NoError(t, err)
	assert.Equal(t, "repository-code: https://new.example/y\n", got)
}

func TestAPageWithoutTheLineIsAnError(t *testing.T) {
	_, err := address{page: "README.md", before: "    git clone "}.put("no commands\n", "https://new.example/y.git")
	assert.ErrorContains(t, err, "README.md has no line")
}

func TestThePagesOfThisRepositoryHaveALineForTheAddress(t *testing.T) {
	r, err := repository.Find(t.Context(), ".")
	require.NoError(t, err)
	for _, a := range addresses {
		page, err := os.ReadFile(r.Path(a.page))
		require.NoError(t, err)
		_, err = a.put(string(page), "https://new.example/y.git")
		require.NoError(t, err)
	}
}
