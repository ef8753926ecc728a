package gotest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testEnvScript is a module's own: it builds the programs that its tests run, and names them in variables.
const testEnvScript = "test-env.sh"

// withTestEnv sources it, as tools/scripts/test-module.sh does, and runs a command in the module. What the script
// prints is no event of go test.
const withTestEnv = `set -e; cd "$1"; . "./$2/` + testEnvScript + `" >&2; cd "$2"; shift 2; exec "$@"`

// testCommand returns the command that runs go test with the arguments, and more of its environment.
func (m Module) testCommand(args []string) (name string, all, environment []string) {
	all = append([]string{"test", "-json", testTimeout}, args...)
	top, found := m.inputsScript()
	if !found {
		return "go", all, nil
	}
	folder, err := filepath.Rel(top, m.Dir)
	if err != nil {
		return "go", all, nil
	}
	if _, err := os.Stat(filepath.Join(m.Dir, testEnvScript)); err != nil {
		return "go", all, nil
	}
	if heavy(top, filepath.ToSlash(folder), args) {
		environment = append(environment, "HEAVY=1")
	}
	return "sh", append([]string{"-c", withTestEnv, "sh", top, folder, "go"}, all...), environment
}

// heavy reports whether the arguments of go test name a package of the module that needs what only `make test-heavy`
// builds: one of tools/heavy-tests.txt, whose lines are a module, a package, and why.
func heavy(top, module string, args []string) bool {
	list, err := os.ReadFile(filepath.Join(top, "tools", "heavy-tests.txt"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(list)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == module && (slices.Contains(args, words[1]) || slices.Contains(args, "./...")) {
			return true
		}
	}
	return false
}
