package scripts

import (
	"os"
	"os/exec"
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

// A lesson quotes what make diff-N prints, so it prints that for everybody.
func TestNobodysSettingsChangeADiff(t *testing.T) {
	diff := func(settings string) string {
		config := filepath.Join(t.TempDir(), "gitconfig")
		require.NoError(t, os.WriteFile(config, []byte(settings), 0o600))
		make := exec.CommandContext(t.Context(), "make", "--no-print-directory", "diff-4")
		make.Dir, make.Env = "../..", append(os.Environ(), "GIT_CONFIG_GLOBAL="+config)
		output, err := make.CombinedOutput()
		require.NoError(t, err, string(output))
		return string(output)
	}
	plain := diff("")
	assert.Contains(t, plain, "diff --git a/03-watch/first/main.go b/04-informer-queue/first/main.go\n")
	assert.Equal(t, plain, diff("[diff]\nnoprefix = true\nmnemonicPrefix = true\nexternal = false\ncontext = 9\n[color]\nui = always\n"))
}
