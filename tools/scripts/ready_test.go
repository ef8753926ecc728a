package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ready runs the script where there are only these files beside it. Each is a script.
func ready(t *testing.T, shell string, files map[string]string) (line, advice string, err error) {
	t.Helper()
	script, err := os.ReadFile("ready.sh")
	require.NoError(t, err)
	folder := t.TempDir()
	write := func(name, content string) {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o755))
	}
	write("tools/scripts/preflight.sh", "")
	write("bin/kubectl", "#!/bin/sh\nexit 1\n")
	write("lab/bin/lab", "#!/bin/sh\n[ $1 != status ] && touch \"$LAB_DIR.$1\"\n")
	write("bin/uptime", "#!/bin/sh\necho '11:40:02 up 2:01, load average: 0.51, 0.5, 0.5'\n")
	for name, content := range files {
		if write(name, content); content == "" {
			require.NoError(t, os.Remove(filepath.Join(folder, name)))
		}
	}
	var out, errors strings.Builder
	command := exec.CommandContext(t.Context(), "sh", "-c", string(script))
	command.Dir = folder
	command.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "bin")+":"+os.Getenv("PATH"), "SHELL="+shell, "TMPDIR="+t.TempDir())
	command.Stdout, command.Stderr = &out, &errors
	err = command.Run()
	left, _ := os.ReadDir(command.Env[len(command.Env)-1][len("TMPDIR="):])
	assert.Empty(t, left)
	return out.String(), errors.String(), err
}

func TestAMachineIsReady(t *testing.T) {
	line, advice, err := ready(t, "/bin/zsh", nil)
	require.NoError(t, err, line)
	assert.Regexp(t, `^ready: yes · \w+/\w+ · \d+ CPUs, load 0 · memory \d+ GB · disk \d+ GB · go1\.\d+\S* · zsh · ports free · kubectl: no cluster · lab up \d+ s, down \d+ s\n$`, line)
	assert.Empty(t, advice)
}

func TestAMachineThatIsNotReadySaysWhy(t *testing.T) {
	for name, test := range map[string]struct {
		shell        string
		files        map[string]string
		line, advice string
	}{
		"the shell":         {"/usr/bin/fish", nil, "ready: NO (shell) ", "run first: bash"},
		"Go":                {"/bin/sh", map[string]string{"tools/scripts/preflight.sh": "echo Go is too old\nexit 1\n"}, "ready: NO (Go, shell) ", "Go: Go is too old"},
		"the lab":           {"/bin/bash", map[string]string{"lab/bin/lab": "#!/bin/sh\necho starting\necho no port is free\nexit 1\n"}, " · NO lab", "\n  lab: no port is free; to see more: make lab-up\n"},
		"a busy machine":    {"/bin/bash", map[string]string{"lab/bin/lab": "#!/bin/sh\nexit 1\n", "bin/uptime": "#!/bin/sh\necho 'up 3 days, load averages: 999.12 4 4'\n"}, ", load 999 · ", "lab: other programs take the cores: wait"},
		"a lab that is ill": {"/bin/bash", map[string]string{"lab/bin/lab": "#!/bin/sh\necho supervisor\n! true\n"}, " · NO lab", "lab: it runs, but"},
		"a lab that runs":   {"/bin/bash", map[string]string{"lab/bin/lab": "#!/bin/sh\n[ $1 = status ]\n"}, " · lab runs\n", ""},
		"a lab not built":   {"/bin/bash", map[string]string{"lab/bin/lab": "", "bin/make": "#!/bin/sh\necho no compiler\n"}, " · NO lab", "isn't built yet. That takes 5 to 15 minutes, once.\nno compiler"},
		"the disk":          {"/bin/bash", map[string]string{"bin/df": "#!/bin/sh\necho head\necho /dev/sda 9 9 2000000 50% /\n"}, "NO disk 2 GB", "5 GB must be free"},
		"a port":            {"/bin/bash", map[string]string{"01-list/README.md": "curl 127.0.0.1:8025\n", "bin/curl": "#!/bin/sh\nexit 0\n"}, "NO ports 8025", "something listens at 8025"},
		"a proxy":           {"/bin/bash", map[string]string{"01-list/README.md": "curl 127.0.0.1:8025\n", "bin/curl": "#!/bin/sh\n[ $1 = --noproxy ] && exit 7\n"}, "ports free", ""},
		"another cluster":   {"/bin/bash", map[string]string{"bin/kubectl": "#!/bin/sh\necho prod\n"}, "ready: yes ", "a new terminal talks to prod"},
		"the lab's cluster": {"/bin/bash", map[string]string{"bin/kubectl": "#!/bin/sh\necho lab\n"}, "kubectl: lab · ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			line, advice, err := ready(t, test.shell, test.files)
			assert.Contains(t, line, test.line)
			assert.Contains(t, advice, test.advice)
			assert.Equal(t, strings.HasPrefix(line, "ready: yes"), err == nil)
		})
	}
}
