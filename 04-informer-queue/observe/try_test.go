//go:build try

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// What the lesson of part 6 asks the reader to write. Until then, these tests fail.

func TestTryADryRunRunsNothing(t *testing.T) {
	e := newEnv(t, "--dry-run", "--delete", "false", "--", "false")
	defer e.queue.ShutDown()
	a := e.configMap(t, "a", "1", "1")
	e.OnAdd(a, false)
	require.NoError(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)), "false did run")
	e.OnDelete(a)
	require.NoError(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)), "false did run for the deletion")
	assert.Equal(t, []string{"Added false ns a", "Deleted false ns a"}, events(e.out.String()), "the lines are printed")

	e = newEnv(t, "--", "false")
	defer e.queue.ShutDown()
	e.OnAdd(e.configMap(t, "a", "1", "1"), false)
	assert.Error(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)), "without --dry-run it runs")
}

func TestTryAChangeOfTheStatusIsNoEvent(t *testing.T) {
	for _, flag := range []string{"--generation", "--generation=false"} {
		e := newEnv(t, flag)
		defer e.queue.ShutDown()
		was, is := e.configMap(t, "a", "1", "1"), e.configMap(t, "a", "1", "2")
		was.SetGeneration(7)
		is.SetGeneration(7)
		e.OnUpdate(was, is)
		assert.Equal(t, flag == "--generation", e.queue.Len() == 0, "%s: only the status has changed", flag)
		is.SetGeneration(8)
		e.OnUpdate(was, is)
		assert.Equal(t, 1, e.queue.Len(), "%s: the spec has changed", flag)
	}
}

func TestTryOnlyHostsOfOurDomain(t *testing.T) {
	calls := filepath.Join(t.TempDir(), "calls")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(calls), "kubectl"), []byte("#!/bin/sh\necho called >>"+calls+"\n"), 0o700))
	t.Setenv("PATH", filepath.Dir(calls)+":"+os.Getenv("PATH"))
	for host, good := range map[string]bool{"": true, "www.example.com": true, "web.example.net": false, "web.example.com.example.net": false} {
		require.NoError(t, os.RemoveAll(calls))
		output, err := exec.CommandContext(t.Context(), "examples/ingress/apply.sh", "quay", "web", "80", host).CombinedOutput()
		require.Equal(t, good, err == nil, "a host of another domain: %s: %s", host, output)
		assert.Equal(t, good, content(calls) != "", "kubectl is called")
		assert.Equal(t, good, len(output) == 0, "an error says why")
	}
}

func TestTryTheLimitIsAVariable(t *testing.T) {
	for limit, printed := range map[string]bool{"LIMIT=200": false, "LIMIT=50": true, "LIMIT=": true} {
		command := exec.CommandContext(t.Context(), "examples/restarts.sh", "quay", "web", "99 2")
		command.Env = append(os.Environ(), limit)
		output, err := command.Output()
		require.NoError(t, err)
		assert.Equal(t, printed, len(output) > 0, "%s, and 101 restarts", limit)
	}
}
