package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlanCountsStalePackagesAndKnowsTheProgram(t *testing.T) {
	got := parsePlan("runtime false\nk8s.io/api/core/v1 true\nexample.com/lab/cmd/lab true\n")

	assert.Equal(t, plan{
		packages: map[string]bool{"runtime": true, "k8s.io/api/core/v1": true, "example.com/lab/cmd/lab": true},
		stale:    1,
		main:     "example.com/lab/cmd/lab",
	}, got)
}

func TestProgressLine(t *testing.T) {
	list := "runtime false\nerrors true\nnet true\nk8s.io/api true\nmain true\n"
	tests := map[string]struct {
		list  string
		lines []string
		want  string
	}{
		"before the first package": {list, nil, "compiling 0 of 3 packages, 2m10s"},
		"counts what Go compiles":  {list, []string{"net", "k8s.io/api"}, "compiling 2 of 3 packages, 2m10s"},
		"ignores the compiler's complaints": {
			list, []string{"net", "# k8s.io/api", "api.go:1:1: syntax error"}, "compiling 1 of 3 packages, 2m10s",
		},
		"links after the program is compiled": {list, []string{"net", "k8s.io/api", "main"}, "linking, 2m10s"},
		"links at once when all is cached":    {"runtime false\nmain true\n", nil, "linking, 2m10s"},
		"never counts past the total": {
			"runtime false\nnet true\nmain true\n", []string{"runtime", "net"}, "compiling 2 of 2 packages, 2m10s",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := parsePlan(test.list)
			p := progress{plan: plan, linking: plan.stale == 0}
			for _, line := range test.lines {
				p.read(line)
			}
			assert.Equal(t, test.want, p.line(2*time.Minute+10*time.Second+300*time.Millisecond))
		})
	}
}

func TestDownloadingLine(t *testing.T) {
	assert.Equal(t, "finding what to compile, 1s", downloading(0, time.Second))
	assert.Equal(t, "downloading modules, 57 so far, 12s", downloading(57, 12*time.Second))
}

func TestLowDiskWarns(t *testing.T) {
	assert.Contains(t, lowDisk(1<<30), "1.0 GB are free")
	assert.Empty(t, lowDisk(needed), "enough room")
	assert.Empty(t, lowDisk(0), "free space not known")
}

func TestATemporaryFolderThatIsFullIsAnError(t *testing.T) {
	require.EqualError(t, fullTemporary("/tmp", neededToLink-1), "599 MB are free for temporary files in /tmp, linking needs 600; make room, or export TMPDIR=/var/tmp")
	require.NoError(t, fullTemporary("/tmp", neededToLink), "enough room")
	require.NoError(t, fullTemporary("/tmp", 0), "free space not known")
}

func TestTheTemporaryFolderIsGosOwnIfItHasOne(t *testing.T) {
	t.Setenv("TMPDIR", "/somewhere")
	t.Setenv("GOTMPDIR", "")
	assert.Equal(t, "/somewhere", temporary(t.Context()))
	t.Setenv("GOTMPDIR", "/elsewhere")
	assert.Equal(t, "/elsewhere", temporary(t.Context()))
}

func TestTheLinkerTellsKubernetesItsVersion(t *testing.T) {
	flags := linkerFlags("v1.37.2")

	assert.Contains(t, flags, "-X k8s.io/component-base/version.gitVersion=v1.37.2")
	assert.Contains(t, flags, "-X k8s.io/component-base/version.gitMajor=1")
	assert.Contains(t, flags, "-X k8s.io/client-go/pkg/version.gitMinor=37")
}
