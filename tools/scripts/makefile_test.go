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

// What a user's shell has in its environment does not change what a recipe does.
func TestRecipesHaveAnEnvironmentOfTheirOwn(t *testing.T) {
	printing := filepath.Join(t.TempDir(), "print.mk")
	recipe := "print:\n\t@echo \"$$GOWORK|$$GOFLAGS|$$CDPATH$$GIT_DIR$$GIT_WORK_TREE$$GIT_INDEX_FILE\"\n"
	require.NoError(t, os.WriteFile(printing, []byte(recipe), 0o600))
	for flags, want := range map[string]string{
		"-buildvcs=auto":                         "off|-buildvcs=false|\n",
		"-mod=readonly '-ldflags=-s -w'":         "off|-mod=readonly '-ldflags=-s -w' -buildvcs=false|\n",
		"-buildvcs=true -mod=mod -buildvcs=auto": "off|-mod=mod -buildvcs=false|\n",
	} {
		command := exec.CommandContext(t.Context(), "make", "-s", "--no-print-directory", "-f", "Makefile", "-f", printing, "print")
		command.Dir = "../.."
		command.Env = append(os.Environ(), "GOFLAGS="+flags, "GOWORK=/nowhere/go.work", "CDPATH=/elsewhere",
			"GIT_DIR=/elsewhere/.git", "GIT_WORK_TREE=/elsewhere", "GIT_INDEX_FILE=/elsewhere/index", "MAKEFLAGS=", "MAKELEVEL=")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		assert.Equal(t, want, string(output))
	}
}

// git refuses to say anything about a clone that belongs to another user, and Go asks it.
func TestWhatMakeBuildsNeedsNoWordFromGit(t *testing.T) {
	printing := filepath.Join(t.TempDir(), "print.mk")
	recipe := "built-by-go:\n\t@go -C tools build -o '" + filepath.Join(t.TempDir(), "targets") + "' ./cmd/pictures\n"
	require.NoError(t, os.WriteFile(printing, []byte(recipe), 0o600))
	command := exec.CommandContext(t.Context(), "make", "-s", "--no-print-directory", "-f", "Makefile", "-f", printing, "built-by-go")
	command.Dir = "../.."
	command.Env = append(os.Environ(), "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GOFLAGS=-buildvcs=auto")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
