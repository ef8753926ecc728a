package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The programs here only note how they were called: what the pages are is tested in cmd/book.
func TestTheBookIsMadeWithThePrograms(t *testing.T) {
	for name, tc := range map[string]struct {
		programs map[string]string
		fails    bool
		want     []string
	}{
		"none": {
			map[string]string{}, false,
			[]string{"run ./cmd/book .. ../bin/book\n", "in bin/book: index.html\n", "LEFT OUT: book.epub, since there's no pandoc: apt-get install pandoc,", "LEFT OUT: book.pdf and boards.pdf, since there's no Chromium: apt-get install chromium,"},
		},
		"both": {
			map[string]string{"pandoc": "echo pandoc made an EPUB", "google-chrome": "echo a PDF >book.pdf; echo a PDF >boards.pdf"}, false,
			[]string{"run ./cmd/book .. ../bin/book book.epub book.pdf boards.pdf\n", "pandoc made an EPUB\n", "in bin/book: index.html book.epub book.pdf boards.pdf\n"},
		},
		"one that fails":        {map[string]string{"chromium": "echo no display; exit 1"}, true, []string{"Chromium made no book.pdf: no display\n"}},
		"one that makes no PDF": {map[string]string{"chromium": "echo too old"}, true, []string{"Chromium made no book.pdf: too old\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			script, err := filepath.Abs("book.sh")
			require.NoError(t, err)
			top, path := t.TempDir(), t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(top, "bin", "book"), 0o755))
			tc.programs["go"], tc.programs["sed"] = `shift 2; echo "$@"`, "echo the book"
			for program, does := range tc.programs {
				require.NoError(t, os.WriteFile(filepath.Join(path, program), []byte("#!/bin/sh\n"+does+"\n"), 0o755))
			}
			command := exec.CommandContext(t.Context(), "/bin/sh", script)
			command.Dir, command.Env = top, []string{"PATH=" + path}
			output, err := command.CombinedOutput()
			assert.Equal(t, tc.fails, err != nil, "%s", output)
			for _, want := range tc.want {
				assert.Contains(t, string(output), want)
			}
		})
	}
}
