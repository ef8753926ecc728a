package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const page = `// First says it.
package main

import "fmt"

func main() {
	name := "bell" // a comment
	if err := say(name); err != nil {
		panic(err)
	}
}

func say(name string) error {
	_, err := fmt.Println(name)
	if err != nil {
		return err
	}
	return nil
}
`

// repository has one stage, whose finished program is main.go and say.go.
func repository(t *testing.T, main, say string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{"first/main.go": page, "main.go": main, "say.go": say} {
		file := filepath.Join(root, "01-say", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	return root
}

// grown keeps three of the four body lines: one is in another file, and one has another indentation.
const (
	grownMain = "package main\n\nfunc main() {\n\tname := \"bell\" /* as before */\n\tfor range 2 {\n\t\tif err := say(name); err != nil {\n\t\t\treturn\n\t\t}\n\t}\n}\n"
	grownSay  = "package main\n\nimport \"fmt\"\n\nfunc say(name string) error {\n\t// It says it.\n\t_, err := fmt.Println(name)\n\treturn err\n}\n"
)

func TestTheShareOfAPageThatIsKept(t *testing.T) {
	tests := map[string]struct{ main, say, line, printed, wrong string }{
		"above its floor": {grownMain, grownSay, "01-say 75 main.go say.go", "01-say keeps 3 of 4 lines of its page: 75 %, the floor is 75 %\n", ""},
		"below its floor": {grownMain, grownSay, "01-say 76 main.go say.go", "75 %, the floor is 76 %\n",
			"01-say: write it as its page with more lines; make grow-1 shows the difference"},
		"a line that has changed": {
			strings.ReplaceAll(page, "\tname", "\tother"), "package main\n\nfunc main() { name := \"bell\" }\n", "01-say 75 main.go say.go", "keeps 3 of 4", ""},
		"a stage that a branch doesn't have": {grownMain, grownSay, "# a comment\n\n02-later 60 main.go", "", ""},
		"a line that isn't one":              {grownMain, grownSay, "01-say main.go", "", `stages.txt: "01-say main.go" isn't a stage, its floor and its files`},
		"a file that isn't there":            {grownMain, grownSay, "01-say 60 none.go", "", "none.go: no such file"},
		"a file that doesn't parse":          {grownMain, "package", "01-say 60 main.go say.go", "", "01-say: 1:8: expected"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			stages, err := read(repository(t, tc.main, tc.say), tc.line)
			if err == nil {
				err = check(stages, &out)
			}
			assert.Contains(t, out.String(), tc.printed)
			if tc.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.wrong)
			}
		})
	}
}

func TestTheDifference(t *testing.T) {
	stages, err := read(repository(t, grownMain, grownSay), "01-say 60 main.go say.go")
	require.NoError(t, err)
	require.Equal(t, "1", stages[0].number())
	var out strings.Builder
	require.NoError(t, stages[0].show(&out))
	assert.Contains(t, out.String(), "+\tfor range 2 {\n")
	assert.Contains(t, out.String(), " \t\tif err := say(name); err != nil {\n", "another indentation is no difference")
	assert.Contains(t, out.String(), "+// say.go\n")
	assert.NotContains(t, out.String(), "import")
}

func TestStagesOfThisRepository(t *testing.T) {
	require.ErrorContains(t, run("../../..", []string{"9"}, nil), "there is no stage 9")
	stages, err := read("../../..", table)
	require.NoError(t, err)
	for _, s := range stages {
		_, of, err := s.share()
		require.NoError(t, err)
		assert.Positive(t, of, s.folder)
	}
}
