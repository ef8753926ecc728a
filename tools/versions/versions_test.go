package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check lays out files, runs the program over them and returns its exit code
// and what it complained about.
func check(t *testing.T, files map[string]string) (code int, complaint string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	var stdout, stderr strings.Builder
	code = run(root, &stdout, &stderr)
	return code, strings.TrimSpace(stderr.String())
}

func TestHouseThatAgrees(t *testing.T) {
	code, complaint := check(t, map[string]string{
		"go.work":       "go 1.26.0\n",
		"one/go.mod":    "module one\ngo 1.26.0\nrequire k8s.io/api v0.36.3\nrequire k8s.io/klog/v2 v2.140.0\nrequire k8s.io/utils v0.0.0-20260210185600-b8788abfbbc2\n",
		"lab/go.mod":    "module lab\ngo 1.26.0\nrequire k8s.io/kubernetes v1.36.3\nrequire k8s.io/api v0.0.0\nreplace k8s.io/api => k8s.io/api v0.36.3\n",
		".lab/x/go.mod": "module pod\ngo 1.1\n",
	})

	assert.Empty(t, complaint)
	assert.Zero(t, code)
}

func TestDisagreements(t *testing.T) {
	const one = "module one\ngo 1.26.0\nrequire k8s.io/api v0.36.3\nrequire sigs.k8s.io/controller-runtime v0.24.1\n"
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"the version of Go": {
			map[string]string{"one/go.mod": one, "two/go.mod": "module two\ngo 1.25.0\n"},
			"the version of Go differs: 1.25.0 in two, 1.26.0 in one; make them one",
		},
		"the version of Go in go.work": {
			map[string]string{"one/go.mod": one, "go.work": "go 1.26.1\n"},
			"the version of Go differs: 1.26.0 in one, 1.26.1 in go.work; make them one",
		},
		"two modules of Kubernetes in one go.mod": {
			map[string]string{"one/go.mod": one + "require k8s.io/client-go v0.36.2 // indirect\n"},
			"the version of Kubernetes differs: v1.36.2 in one (k8s.io/client-go), v1.36.3 in one (k8s.io/api); make them one",
		},
		"Kubernetes and its modules": {
			map[string]string{"one/go.mod": one, "lab/go.mod": "module lab\ngo 1.26.0\nrequire k8s.io/kubernetes v1.36.4\n"},
			"the version of Kubernetes differs: v1.36.3 in one (k8s.io/api), v1.36.4 in lab (k8s.io/kubernetes); make them one",
		},
		"a replacement in the lab": {
			map[string]string{"one/go.mod": one, "lab/go.mod": "module lab\ngo 1.26.0\nreplace k8s.io/kubelet => k8s.io/kubelet v0.35.0\n"},
			"the version of Kubernetes differs: v1.35.0 in lab, v1.36.3 in one (k8s.io/api); make them one",
		},
		"a module that two require": {
			map[string]string{"one/go.mod": one, "two/go.mod": "module two\ngo 1.26.0\nrequire sigs.k8s.io/controller-runtime v0.23.0\n"},
			"sigs.k8s.io/controller-runtime differs: v0.23.0 in two, v0.24.1 in one; make them one",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, complaint := check(t, test.files)
			assert.Equal(t, test.want, complaint)
			assert.Equal(t, 1, code)
		})
	}
}

func TestIndirectRequirementsOfOtherModulesMayDiffer(t *testing.T) {
	code, complaint := check(t, map[string]string{
		"one/go.mod": "module one\ngo 1.26.0\nrequire golang.org/x/sys v0.1.0 // indirect\n",
		"two/go.mod": "module two\ngo 1.26.0\nrequire golang.org/x/sys v0.2.0\n",
	})

	assert.Empty(t, complaint)
	assert.Zero(t, code)
}

func TestNothingToCheckIsAnError(t *testing.T) {
	code, complaint := check(t, nil)

	assert.Contains(t, complaint, "there is no go.mod under")
	assert.Equal(t, 1, code)
}

func TestBrokenModuleFileIsNamed(t *testing.T) {
	code, complaint := check(t, map[string]string{"one/go.mod": "modul one\n"})

	assert.Contains(t, complaint, "one/go.mod:1")
	assert.Equal(t, 1, code)
}
