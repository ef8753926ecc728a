package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts returns what was found, by line: "3: a pause proves nothing ...".
func texts(found []finding) map[int]string {
	all := map[int]string{}
	for _, f := range found {
		all[f.line] = f.text
	}
	return all
}

// in is what texts returns if only one thing was found, or nothing.
func in(line int, text string) map[int]string {
	if text == "" {
		return map[int]string{}
	}
	return map[int]string{line: text}
}

func TestGo(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"a measured time":                         {`assert.Less(t, time.Since(began), time.Minute)`, measure},
		"a measured time, the other way round":    {`assert.GreaterOrEqual(t, time.Minute, time.Since(began))`, measure},
		"a time that is at least as long":         {`assert.GreaterOrEqual(t, time.Since(began), time.Minute)`, ""},
		"a number that is compared":               {`assert.Less(t, count, 3)`, ""},
		"a time-out of its own":                   {`ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)`, limit},
		"a time-out in another order":             {`require.Eventually(t, ready, time.Second*10, time.Millisecond)`, limit},
		"a time-out of minutes":                   {`require.Eventually(t, ready, 2*time.Minute, time.Millisecond)`, ""},
		"a limit for each try":                    {"require.Eventually(t, func() bool {\n\tctx, cancel := context.WithTimeout(t.Context(), time.Second)\n}, testTimeout, time.Second)", ""},
		"the helper's time-out":                   {`require.Eventually(t, ready, testTimeout, time.Second)`, ""},
		"the helper's time-out, called":           {`require.Eventually(t, ready, testenv.Timeout(), time.Second)`, ""},
		"a date a few seconds ahead":              {`at(time.Now().Add(4 * time.Second))`, soon},
		"the same in UTC":                         {`at(time.Now().UTC().Add(time.Second))`, soon},
		"a date in the past":                      {`at(time.Now().Add(-4 * time.Second))`, ""},
		"a date far ahead":                        {`at(time.Now().Add(time.Hour))`, ""},
		"a time that is fake":                     {"synctest.Test(t, func(t *testing.T) {\n\tassert.Less(t, time.Since(began), time.Minute)\n})", ""},
		"a port of the machine":                   {`l, err := net.Listen("tcp", "127.0.0.1:8443")`, fixed},
		"any port":                                {`l, err := net.Listen("tcp", "127.0.0.1:0")`, ""},
		"a pid that is asked whether it is there": {`err := syscall.Kill(pid, 0)`, counting},
		"a pid that is killed":                    {`err := syscall.Kill(pid, syscall.SIGKILL)`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := checkGo([]byte("package p\n\nfunc TestX(t *testing.T) {\n" + tc.body + "\n}\n"))
			require.NoError(t, err)
			assert.Equal(t, in(4, tc.want), texts(found))
		})
	}
}

func TestAPortThatIsLetGo(t *testing.T) {
	for name, tc := range map[string]struct{ function, want string }{
		"is returned": {`func freePort(t *testing.T) int {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
	return l.Addr().(*net.TCPAddr).Port
}`, letGo},
		"is held": {`func listen(t *testing.T) string {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}`, ""},
		"is nobody's": {`func TestX(t *testing.T) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := checkGo([]byte("package p\n\n" + tc.function + "\n"))
			require.NoError(t, err)
			assert.Equal(t, in(5, tc.want), texts(found))
		})
	}
}

func TestShell(t *testing.T) {
	for name, tc := range map[string]struct{ code, want string }{
		"until, for ever":                 {"until grep -q x log; do sleep 1; done", endless},
		"while, for ever":                 {"while ! grep -q x log; do sleep 1; done", endless},
		"a loop that counts":              {`n=60; until grep -q x log; do n=$((n - 1)); [ "$n" != 0 ] || exit 1; sleep 1; done`, ""},
		"a loop of tries":                 {"for try in 1 2 3; do grep -q x log && break; sleep 1; done", ""},
		"a loop that reads":               {"while read -r line; do echo \"$line\"; done", ""},
		"one loop in another":             {"for name in a b; do until grep -q \"$name\" log; do sleep 1; done; done", endless},
		"a pause":                         {"sleep 5", pause},
		"a pause before it looks":         {"(sleep 5; cat log)", pause},
		"a container that sleeps":         {"kubectl run bell --image=busybox -- sleep 3600", ""},
		"a time-out of seconds":           {"kubectl wait pod/bell --for=delete --timeout=30s", short + ` ("--timeout=30s")`},
		"a time-out of minutes":           {"kubectl wait pod/bell --for=delete --timeout=5m", ""},
		"a port of the machine":           {"curl -s http://127.0.0.1:8016/metrics", taken},
		"a port that is read from a file": {`curl -s "http://127.0.0.1:$(cat port)/metrics"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := checkScript([]byte("#!/bin/sh\n" + tc.code + "\n"))
			require.NoError(t, err)
			assert.Equal(t, in(2, tc.want), texts(found))
		})
	}
}

// Only what the reader runs counts, and a lesson may name ports.
func TestALesson(t *testing.T) {
	found, err := checkLesson([]byte("# A lesson\n\n```bash exec\ncurl -s localhost:8016\nsleep 1\n```\n\n```text\n$ sleep 1\n```\n\n```bash exec lab\nsleep 2\n```\n"))
	require.NoError(t, err)
	assert.Equal(t, map[int]string{5: pause, 13: pause}, texts(found))

	found, err = checkLesson([]byte("# A lesson\n\n<!-- luck: it shows that time passes -->\n```bash exec\nsleep 1\n```\n"))
	require.NoError(t, err)
	assert.Empty(t, found)
}

func TestALineIsExcusedByAReason(t *testing.T) {
	root := t.TempDir()
	lay := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, "run.sh"), []byte(script), 0o600))
	}
	lay("sleep 1\n")
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "init", "--quiet").CombinedOutput()
	require.NoError(t, err, "%s", out)

	for name, tc := range map[string]struct {
		script string
		code   int
	}{
		"none":                       {"sleep 1\n", 1},
		"on the line":                {"sleep 1 # luck: it shows a pause\n", 0},
		"on the line above":          {"# luck: it shows a pause\nsleep 1\n", 0},
		"without a reason":           {"# luck: \nsleep 1\n", 1},
		"of another line":            {"# luck: it shows a pause\n\nsleep 1\n", 1},
		"that excuses only one line": {"# luck: it shows a pause\nsleep 1\nsleep 1\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			lay(tc.script)
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tc.code, run(root, &stdout, &stderr))
			if tc.code == 1 {
				assert.Regexp(t, `^run\.sh:[123]: `+pause+"\n$", stderr.String())
			} else {
				assert.Equal(t, "1 tests, lessons and scripts leave nothing to luck\n", stdout.String())
			}
		})
	}
}

func TestWrongInputIsOneSentence(t *testing.T) {
	for name, root := range map[string]string{"no repository": t.TempDir(), "nothing": "/nonexistent"} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, run(root, &stdout, &stderr))
			assert.Contains(t, stderr.String(), "luck: listing the files of "+root)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
		})
	}
}
