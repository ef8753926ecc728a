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

func TestWhatZshReadsOtherwiseIsNamed(t *testing.T) {
	for _, c := range []struct{ code, why string }{
		{"curl -s localhost:8001/pods?limit=5", "a pattern"},
		{"kubectl get pod -o jsonpath={.items[0].kind}", "a pattern"},
		{"grep -r --include=*.go Lister .", "a pattern"},
		{"go test -run Test[AB] .", "a pattern"},
		{"echo $(curl -s localhost/?watch)", "a pattern"},
		{"[ a == b ]", "the path of a program"},
		{"status=$?", "named status"},
		{"for path in a b; do ls; done", "named path"},
		{"lab load $image:latest", "write ${image}"},
		{"lab load \"$image:latest\"", "write ${image}"},
		{"echo $pod[1]", "write ${pod}"},
	} {
		err := Check(repositorytest.New(t, map[string]string{"README.md": "```sh\n" + c.code + "\n```\n"}))
		require.ErrorContains(t, err, "README.md:2: ", c.code)
		require.ErrorContains(t, err, c.why, c.code)
	}
	for _, code := range []string{
		"curl -s 'localhost/pods?limit=5' \"x?[$a]\" x\\?", "kubectl -o jsonpath='{.items[0]}'", "[ a = b ] && [[ a == b ]]",
		"rm -f ./*.log", "ls bin/*", "a=b?c", "case $a in x?) ;; esac", "lab load ${image}:latest $host:8080 \"$host:$port\"",
		"cat >x <<'END'\nls ?\nstatus=1\nEND", "echo \"a\"=b $?", "status_code=1",
	} {
		require.NoError(t, Check(repositorytest.New(t, map[string]string{"README.md": "```sh\n" + code + "\n```\n"})), code)
	}
}
