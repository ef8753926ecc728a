package scenario

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

func TestThePageNamesTheAddressOfTheCourse(t *testing.T) {
	clone := address{page: "README.md", before: "    git clone "}
	got, err := clone.put("Twice:\n\n    git clone https://old.example/x.git\n    cd x\n\nSee git clone --help.\n", "https://new.example/y.git")
	require.NoError(t, err)
	assert.Equal(t, "Twice:\n\n    git clone https://new.example/y.git\n    cd x\n\nSee git clone --help.\n", got)
	got, err = address{page: "CITATION.cff", before: "repository-code: ", suffix: ".git"}.put("repository-code: here\n", "https://new.example/y.git")
	require.NoError(t, err)
	assert.Equal(t, "repository-code: https://new.example/y\n", got, "a citation leaves out the suffix")
	_, err = clone.put("no commands\n", "https://new.example/y.git")
	assert.ErrorContains(t, err, "README.md has no line")
}

func TestBadgesComeWithTheAddress(t *testing.T) {
	const page = "# Boats\n\n" + badgesBegin + "old\n" + badgesEnd + "\nWrite.\n"
	for repository, want := range map[string]string{
		"https://example.com/boats.git": "",
		"git@new.example:me/boats.git":  "",
		"https://git.example.io/me/boats.git": "[![lessons proved](https://git.example.io/me/boats/raw/badges/lessons.svg)](https://git.example.io/me/boats/actions/workflows/ci.yml)\n" +
			"[![exercises proved](https://git.example.io/me/boats/raw/badges/exercises.svg)](https://git.example.io/me/boats/actions/workflows/ci.yml)\n",
	} {
		got, err := course{Repository: repository}.badges(page)
		require.NoError(t, err)
		assert.Equal(t, "# Boats\n\n"+badgesBegin+want+badgesEnd+"\nWrite.\n", got, repository)
	}
	_, err := course{}.badges("# Boats\n")
	assert.ErrorContains(t, err, "README.md has no place for badges")
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
