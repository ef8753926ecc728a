package main

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lay lays out files and returns the folder that they are in.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	return root
}

// complain runs the program over files and returns its exit code and what it complained
// about.
func complain(t *testing.T, files map[string]string, programs ...program) (code int, complaint string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = run(t.Context(), lay(t, files), programs, &stdout, &stderr)
	return code, strings.TrimSpace(stderr.String())
}

// declared is what is wrong with go.mod files, whatever is compiled.
func declared(t *testing.T, files map[string]string) []string {
	t.Helper()
	m, err := readModules(lay(t, files))
	require.NoError(t, err)
	return append(m.disagreements(), m.missingReplaces()...)
}

func TestModulesThatAgree(t *testing.T) {
	assert.Empty(t, declared(t, map[string]string{
		"go.work":       "go 1.26.0\n",
		"one/go.mod":    "module one\ngo 1.26.0\nrequire k8s.io/api v0.37.2\nrequire k8s.io/klog/v2 v2.140.0\nrequire k8s.io/utils v0.0.0-20260210185600-b8788abfbbc2\n",
		"lab/go.mod":    "module lab\ngo 1.26.0\nrequire k8s.io/kubernetes v1.37.2\nrequire k8s.io/api v0.0.0\nreplace k8s.io/api => k8s.io/api v0.37.2\n",
		".lab/x/go.mod": "module pod\ngo 1.1\n",
	}))
}

func TestDisagreements(t *testing.T) {
	const one = "module one\ngo 1.26.0\nrequire k8s.io/api v0.37.2\nrequire sigs.k8s.io/controller-runtime v0.25.2\n"
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
			map[string]string{"one/go.mod": one + "require k8s.io/client-go v0.37.1 // indirect\n"},
			"the version of Kubernetes differs: v1.37.1 in one (k8s.io/client-go), v1.37.2 in one (k8s.io/api); make them one",
		},
		"Kubernetes and its modules": {
			map[string]string{"one/go.mod": one, "lab/go.mod": "module lab\ngo 1.26.0\nrequire k8s.io/kubernetes v1.37.3\n"},
			"the version of Kubernetes differs: v1.37.2 in one (k8s.io/api), v1.37.3 in lab (k8s.io/kubernetes); make them one",
		},
		"a replacement in the lab": {
			map[string]string{"one/go.mod": one, "lab/go.mod": "module lab\ngo 1.26.0\nreplace k8s.io/kubelet => k8s.io/kubelet v0.36.0\n"},
			"the version of Kubernetes differs: v1.36.0 in lab, v1.37.2 in one (k8s.io/api); make them one",
		},
		"a replacement that is not repeated": {
			map[string]string{
				"05/go.mod":          "module five\ngo 1.26.0\nrequire x v0.0.0\nreplace x => ../x\n",
				"05/postgres/go.mod": "module five/postgres\ngo 1.26.0\nrequire five v0.0.0\nreplace five => ..\n",
				"06/go.mod":          "module six\ngo 1.26.0\nreplace five => ../05\nreplace x => ../x\n",
			},
			"05/postgres takes 05 from its folder, which replaces x by x; 05/postgres/go.mod has to do so, too",
		},
		"a module that two require": {
			map[string]string{"one/go.mod": one, "two/go.mod": "module two\ngo 1.26.0\nrequire sigs.k8s.io/controller-runtime v0.24.1\n"},
			"sigs.k8s.io/controller-runtime differs: v0.24.1 in two, v0.25.2 in one; make them one",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, complaint := complain(t, test.files)
			assert.Equal(t, test.want, complaint)
			assert.Equal(t, 1, code)
		})
	}
}

func TestIndirectRequirementsOfOtherModulesMayDiffer(t *testing.T) {
	assert.Empty(t, declared(t, map[string]string{
		"one/go.mod": "module one\ngo 1.26.0\nrequire golang.org/x/sys v0.1.0 // indirect\n",
		"two/go.mod": "module two\ngo 1.26.0\nrequire golang.org/x/sys v0.2.0\n",
	}))
}

func TestNothingToCheckIsAnError(t *testing.T) {
	code, complaint := complain(t, nil)

	assert.Contains(t, complaint, "there is no go.mod under")
	assert.Equal(t, 1, code)
}

func TestBrokenModuleFileIsNamed(t *testing.T) {
	code, complaint := complain(t, map[string]string{"one/go.mod": "modul one\n"})

	assert.Contains(t, complaint, "one/go.mod:1")
	assert.Equal(t, 1, code)
}

// These modules need nothing but each other: two versions of sail, and a mast that needs
// one of them.
var fleet = map[string]string{
	"sail/1/go.mod":  "module example.com/sail\ngo 1.26.0\n",
	"sail/1/sail.go": "package sail\n\nconst Name = \"jib\"\n",
	"sail/2/go.mod":  "module example.com/sail\ngo 1.26.0\n",
	"sail/2/sail.go": "package sail\n\nconst Name = \"genoa\"\n",
	"mast/go.mod":    "module example.com/mast\ngo 1.26.0\nrequire example.com/sail v0.0.0\n",
	"mast/mast.go":   "package mast\n\nimport \"example.com/sail\"\n\nvar Carries = sail.Name\n",
}

// boat is a program with a mast and the sail in a folder.
func boat(name, sail string) map[string]string {
	return map[string]string{
		name + "/go.mod": "module " + name + "\ngo 1.26.0\nrequire example.com/mast v0.0.0\nrequire example.com/sail v0.0.0 // indirect\n" +
			"replace example.com/mast => ../mast\nreplace example.com/sail => ../sail/" + sail + "\n",
		name + "/main.go": "package main\n\nimport \"example.com/mast\"\n\nfunc main() { println(mast.Carries) }\n",
	}
}

func TestPackagesThatAreCompiledTwiceAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		sail string
		want []string
	}{
		"the same sail": {"1", nil},
		"another one": {"2", []string{
			"example.com/mast is compiled 2 times: differently in one and in two",
			"example.com/sail is compiled 2 times: differently in one and in two",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(fleet)
			maps.Copy(files, boat("one", "1"))
			maps.Copy(files, boat("two", test.sail))
			sentences, err := compiledTwice(t.Context(), lay(t, files), program{"one", "."}, program{"two", "."})
			require.NoError(t, err)
			assert.Equal(t, test.want, sentences)
		})
	}
}

// publish puts two versions of a module into a module proxy of files, and lets go use it.
func publish(t *testing.T, module string) {
	t.Helper()
	proxy := t.TempDir()
	for _, version := range []string{"v1.0.0", "v1.1.0"} {
		base := filepath.Join(proxy, module, "@v", version)
		require.NoError(t, os.MkdirAll(filepath.Dir(base), 0o755))
		require.NoError(t, os.WriteFile(base+".info", []byte(`{"Version":"`+version+`"}`), 0o644))
		require.NoError(t, os.WriteFile(base+".mod", []byte("module "+module+"\n"), 0o644))
		var archive bytes.Buffer
		w := zip.NewWriter(&archive)
		for name, content := range map[string]string{"go.mod": "module " + module + "\n", "sail.go": "package sail\n", "mast/mast.go": "package mast\n"} {
			file, err := w.Create(module + "@" + version + "/" + name)
			require.NoError(t, err)
			_, err = file.Write([]byte(content))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(base+".zip", archive.Bytes(), 0o644))
	}
	for name, value := range map[string]string{"GOPROXY": "file://" + proxy, "GOSUMDB": "off", "GOMODCACHE": t.TempDir(), "GOFLAGS": "-mod=mod -modcacherw"} {
		t.Setenv(name, value)
	}
}

func TestWhatTwoCompileInDifferentVersionsIsNamed(t *testing.T) {
	publish(t, "example.com/sail")
	module := func(name, version, imports string) map[string]string {
		return map[string]string{
			name + "/go.mod":     "module " + name + "\ngo 1.26.0\nrequire example.com/sail " + version + " // indirect\n",
			name + "/of_test.go": "package of\n\nimport _ \"" + imports + "\"\n",
		}
	}
	for name, test := range map[string]struct {
		folder, version, imports string
		want                     string
	}{
		"the same version":         {"two", "v1.0.0", "example.com/sail", ""},
		"another one, in its test": {"two", "v1.1.0", "example.com/sail/mast", "example.com/sail differs: v1.0.0 in one, v1.1.0 in two; make them one"},
		"required, not compiled":   {"two", "v1.1.0", "fmt", ""},
		"a tool's own version":     {"tools/two", "v1.1.0", "example.com/sail", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := module("one", "v1.0.0", "example.com/sail")
			maps.Copy(files, module(test.folder, test.version, test.imports))
			code, complaint := complain(t, files)
			assert.Equal(t, test.want, complaint)
			assert.Equal(t, test.want == "", code == 0)
		})
	}
}
