package scripts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// make puts $(CURDIR) into a recipe before the shell reads it, so a quote in the clone's path
// ends a word, and what is between backticks runs. "$$PWD" is the shell's own.
func TestNoRecipeHasThePathOfTheCloneInIt(t *testing.T) {
	stages, err := filepath.Glob("../../[0-9][0-9]-*/lesson/stage.mk")
	require.NoError(t, err)
	for _, file := range append(stages, "../../Makefile", "../maintain.mk") {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(content), "$(CURDIR)", file)
	}
}
