package glossary

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

const (
	list  = "- **List**: Reads all objects of a type. [Stage 1, step 2](../01-list/README.md#step-2)\n"
	queue = "- **work queue** (of keys): Holds the keys of objects. [Stage 1](../01-list/)\n"
	watch = "- **`watch`**: Tells of each change. [Stage 1](../01-list/main.go#L3)\n"
)

func TestTheGlossary(t *testing.T) {
	head := "# Glossary\n\nEach term once.\n\n"
	for name, c := range map[string]struct{ text, want string }{
		"all is well":              {head + list + watch, ""},
		"a term in two lines":      {head + "- **work queue**: Holds keys. [Stage 1](../01-list/)\n", ""},
		"a term that is explained": {head + "- **watch (verb)**: Tells. [Stage 1](../01-list/main.go)\n", ""},
		"not sorted":               {head + watch + list, `docs/GLOSSARY.md:6: "list" comes after "watch"; the terms are sorted, and each stands there once`},
		"a term twice":             {head + list + "- **list**: Again. [Stage 1](../01-list/)\n", `docs/GLOSSARY.md:6: "list" comes after "list"; the terms are sorted`},
		"no sentence":              {head + "- **list**: [Stage 1](../01-list/)\n", "docs/GLOSSARY.md:5: a term is one line: - **term**: sentence. [Stage 3, step 4]"},
		"no link":                  {head + "- **list**: Reads all objects.\n", "docs/GLOSSARY.md:5: a term is one line"},
		"words after the term":     {head + queue, "docs/GLOSSARY.md:5: a term is one line"},
		"a link to the outside":    {head + "- **list**: Reads. [Go](https://go.dev)\n", `docs/GLOSSARY.md:5: "list" links to nothing of the repository: https://go.dev`},
		"a lesson without it":      {head + "- **informer**: Watches. [Stage 1](../01-list/README.md)\n", `docs/GLOSSARY.md:5: "informer" does not occur in 01-list/README.md; link to the lesson that explains it`},
		"a lesson that is not":     {head + "- **informer**: Watches. [Stage 9](../09-none/README.md)\n", `docs/GLOSSARY.md:5: "informer" links to 09-none/README.md, which cannot be read`},
	} {
		t.Run(name, func(t *testing.T) {
			r := repositorytest.New(t, map[string]string{
				"docs/GLOSSARY.md":  c.text,
				"01-list/README.md": "# One\n\n## Step 2\n\nTo *list* is to read. A **work\nqueue** holds keys.\n",
				"01-list/main.go":   "package main\n\n// Watch it.\n",
			})
			if c.want == "" {
				require.NoError(t, Check(r))
			} else {
				require.ErrorContains(t, Check(r), c.want)
			}
		})
	}
}

func TestARepositoryWithoutAGlossary(t *testing.T) {
	assert.NoError(t, Check(repositorytest.New(t, map[string]string{"README.md": "# Top\n"})))
}
