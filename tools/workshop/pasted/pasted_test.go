package pasted

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestEachCommentThatIsPastedIsNamed(t *testing.T) {
	fine := "```sh\nsed 's# #x#' a#b $# ${a#b} \\# \"a # b\" 'one\n# two'\ncat >x <<'END'\n# in a file\nEND\necho end\n```\n\n" +
		"```sh\n#!/bin/sh\n# a file\n```\n\n```yaml\n# no shell\n```\n"
	require.NoError(t, Check(repositorytest.New(t, map[string]string{"README.md": fine, "katacoda/a.md": "```sh\nls\n```{{exec}}\n# words\n"})))

	wrong := "# Top\n\n```sh\n# first\nls # second\n```\n\n```bash exec\ncat <<END\n# no\nEND\necho 'a' \"b\";# third\n```\n"
	require.EqualError(t, Check(repositorytest.New(t, map[string]string{"README.md": wrong})),
		`README.md:4: zsh takes this for no comment: say it above the block: # first
README.md:5: zsh takes this for no comment: say it above the block: ls # second
README.md:12: zsh takes this for no comment: say it above the block: echo 'a' "b";# third`)
}
