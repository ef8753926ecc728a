package links

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestEachBrokenLinkIsNamed(t *testing.T) {
	files := map[string]string{
		"README.md":         "# Top\n\n[a](01-list/README.md#step-1-list-it), [b](01-list/#top), [c](01-list/main.go#L3), [d](https://go.dev/#gone)\n\n![map](map.svg)\n",
		"01-list/README.md": "# Top\n\n## Step 1: List `it`\n\n[up](../README.md) and [here](#step-1-list-it)\n",
		"01-list/main.go":   "package main\n",
		"map.svg":           "<svg/>",
		".lab/README.md":    "[a](gone.md)\n",
	}
	require.NoError(t, Check(repositorytest.New(t, files)))

	delete(files, "map.svg")
	files["01-list/README.md"] = "# Top\n\n## Step 1: Watch\n\n[up](../READ.md), [here](#step-2), [there](../README.md#bottom), [code](main.go#L3)\n"
	require.EqualError(t, Check(repositorytest.New(t, files)), `01-list/README.md links to ../READ.md, which is not there
01-list/README.md links to #step-2, which is no heading there
01-list/README.md links to ../README.md#bottom, which is no heading there
README.md links to 01-list/README.md#step-1-list-it, which is no heading there
README.md links to map.svg, which is not there`)
}

func TestLinksOutOfTheRepositoryAreLeftAlone(t *testing.T) {
	var paths []string
	for _, link := range markdown.Parse("[a](main.go#L3) [b](https://example.com/x) [c](#below) [d](../a%20folder/) `[e](code)`\n\n```go\nx := f[g](h)\n```\n").Links {
		if path, within := Path(link); within {
			paths = append(paths, path)
		}
	}
	assert.Equal(t, []string{"main.go", "../a folder/"}, paths)
}
