package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	head = "title: A boat\nalt: A boat & its berth.\nsize 200x100\n"
	wide = "title: A boat\nalt: A boat & its berth.\nsize 400x100\n"
)

// repository has one picture, in a stage, which is current.
func repository(t *testing.T) (root, source, picture string) {
	t.Helper()
	root = t.TempDir()
	folder := filepath.Join(root, "01-boats", "pictures")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	source, picture = filepath.Join(folder, "boat.txt"), filepath.Join(folder, "boat.svg")
	require.NoError(t, os.WriteFile(source, []byte(head+"box boat 10,10 80x40: `Boat` < 1\n"), 0o600))
	assert.Zero(t, run([]string{root}, io.Discard, io.Discard))
	return root, source, picture
}

func runCheck(root string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run([]string{"--check", root}, &out, &err)
	return code, out.String(), err.String()
}

func TestCurrent(t *testing.T) {
	root, _, _ := repository(t)
	code, stdout, stderr := runCheck(root)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "pictures that are current: 1\n", stdout)
}

func TestStaleSourceIsNamed(t *testing.T) {
	root, source, picture := repository(t)
	before, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(source, []byte(head+"box boat 10,10 90x40: Boat\n"), 0o600))

	code, _, stderr := runCheck(root)
	assert.Equal(t, 1, code)
	assert.Equal(t, picture+" is not what "+source+" describes: run make generate\n", stderr)
	after, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Equal(t, before, after, "a check must write nothing")
}

func TestMissingPictureIsNamed(t *testing.T) {
	root, source, picture := repository(t)
	require.NoError(t, os.Remove(picture))
	code, _, stderr := runCheck(root)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, source)
}

func TestPictureWithoutSourceIsNamed(t *testing.T) {
	root, _, picture := repository(t)
	other := filepath.Join(filepath.Dir(picture), "raft.svg")
	require.NoError(t, os.WriteFile(other, []byte("<svg/>"), 0o600))
	code, _, stderr := runCheck(root)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, other+" has no source")
}

func TestFolderWithoutPictures(t *testing.T) {
	code, _, stderr := runCheck(t.TempDir())
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "name the root of the repository")
}

func TestDraw(t *testing.T) {
	svg, err := draw(wide + "box boat 10,10 80x40: `Boat` < 1\nbox berth 120,60 60x30 state server: berth\narrow boat.s-10 _,75 berth.w bad: moor\n")
	require.NoError(t, err)
	text := string(svg)
	assert.Contains(t, text, `<desc id="alt">A boat &amp; its berth.</desc>`)
	assert.Contains(t, text, "prefers-color-scheme: dark")
	assert.Contains(t, text, `<tspan class="code">Boat</tspan> &lt; 1`)
	assert.Contains(t, text, `<path class="arrow bad" d="M40 50 L40 67 Q40 75 48 75 L120 75"/>`)

	shell, err := draw(wide + "shell 20,40: $ get `pods` | wc  # : 1 < 2\nshell 20,60: NAME  AGE\n")
	require.NoError(t, err)
	assert.Contains(t, string(shell), "<text class=\"code start strong\" x=\"20\" y=\"45\">$\u00a0get\u00a0`pods`\u00a0|\u00a0wc\u00a0\u00a0#\u00a0:\u00a01\u00a0&lt;\u00a02</text>")
	assert.Contains(t, string(shell), "<text class=\"code start\" x=\"20\" y=\"65\">NAME\u00a0\u00a0AGE</text>")

	for decoder := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if !assert.NoError(t, err) {
			return
		}
	}
}

func TestLegend(t *testing.T) {
	const oneColour = wide + "box boat 10,10 80x40 server: Boat\n"
	tests := map[string]struct{ source, want, height string }{
		"one colour needs none":          {oneColour, "", `height="100"`},
		"two are explained":              {oneColour + "line 10,60 90,60 bad\n", ">the API server</text>", `height="128"`},
		"one is what it's about":         {oneColour + "legend shown: the berth\nbox berth 110,10 80x40 shown: Berth\n", ">the berth</text>", `height="128"`},
		"green alone":                    {wide + "legend shown: the berth\nbox berth 110,10 80x40 shown: Berth\n", ">the berth</text>", `height="128"`},
		"wherever the line stands":       {oneColour + "box berth 110,10 80x40 shown: Berth\nlegend shown: the berth\n", ">the berth</text>", `height="128"`},
		"words in a colour count, too":   {oneColour + "text 60,80 bad: it sinks\n", ">what goes wrong</text>", `height="128"`},
		"each colour stands there once":  {oneColour + "box berth 110,10 80x40 yours: Berth\nbox b 110,55 80x40 yours: B\n", ">code that you write</text>", `height="128"`},
		"a colour of which there's none": {wide + "box boat 10,10 80x40: Boat\n", "", `height="100"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			svg, err := draw(tc.source)
			require.NoError(t, err)
			assert.Contains(t, string(svg), tc.height)
			words := strings.Count(string(svg), tc.want)
			assert.True(t, tc.want == "" || words == 1, "%d times", words)
		})
	}
}

func TestBrokenInput(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"a word that there is not": {"circle 1,2", `4: cannot read "circle 1,2"; lines are`},
		"a line without a word":    {": Boat", `4: cannot read ""; lines are`},
		"a box without a size":     {"box boat 10,10: Boat", `4: cannot read "box boat 10,10"`},
		"a size that is none":      {"box boat 10,10 80: Boat", `4: "80" are not two numbers with a "x" between them`},
		"a box beyond the rim":     {"box boat 150,10 80x40: Boat", "4: the box boat is not within the 200x100 of the picture"},
		"an arrow from no box":     {"arrow raft.e 10,10", "4: there is no box raft above this line"},
		"an arrow to nowhere":      {"arrow 10,10 bad", "4: arrow needs two points, such as cache.e and 20,40"},
		"a text at no point":       {"text 10: Boat", `4: "10" are not two numbers with a "," between them`},
		"a text beyond its box":    {"box boat 10,10 80x40: a boat, berthed", `4: "a boat, berthed" is 132 wide in a wide font, and reaches 29 too far`},
		"code beyond the rim":      {"text 190,60 start: `a`", "4: \"`a`\" is 8 wide in a wide font, and reaches 1 too far"},
		"a command beyond the rim": {"shell 20,60: $ kubectl get namespaces", `4: "$ kubectl get namespaces" is 181 wide in a wide font, and reaches 4 too far`},
		"a label beyond the rim":   {"arrow 100,10 190,10: moor at the berth", `4: "moor at the berth" is 116 wide in a wide font, and reaches 6 too far`},
		"green without a meaning":  {"box boat 10,10 80x40 shown: Boat", "1: a box is green, and nothing says what that is"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := draw(head + tc.line + "\n")
			require.ErrorContains(t, err, tc.want)
			assert.NotContains(t, err.Error(), "\n", "one sentence")
		})
	}
	for _, missing := range []string{"title", "alt", "size"} {
		t.Run("without "+missing, func(t *testing.T) {
			lines := strings.SplitAfter(head, "\n")
			source := ""
			for _, line := range lines {
				if !strings.HasPrefix(line, missing) {
					source += line
				}
			}
			_, err := draw(source)
			require.EqualError(t, err, "1: a picture needs a title, an alt and a size")
		})
	}
}

func TestBrokenSourceIsNamed(t *testing.T) {
	root, source, _ := repository(t)
	require.NoError(t, os.WriteFile(source, []byte(head+"arrow raft.e 10,10\n"), 0o600))
	code, _, stderr := runCheck(root)
	assert.Equal(t, 1, code)
	assert.Equal(t, source+":4: there is no box raft above this line\n", stderr)
}
