package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheSBOMIsWhatIsInTheProgram asks the go command what is.
func TestTheSBOMIsWhatIsInTheProgram(t *testing.T) {
	o := options(t, here)
	made := makeImage(t, o)
	index := readArchive(t, o.Output)
	image, err := index.Image(only(t, index).Digest)
	require.NoError(t, err)
	program := programOf(t, image)

	bom := readSBOM(t, made.SBOM)
	assert.Equal(t, "cnat-manager v1.2.3", bom.Metadata.Component.Name+" "+bom.Metadata.Component.Version)
	assert.Equal(t, "pkg:oci/cnat-manager@sha256%3A"+made.Digest.Hex+"?tag=v1.2.3", bom.Metadata.Component.PackageURL)
	assert.Equal(t, "2023-11-14T22:13:20Z", bom.Metadata.Timestamp)
	assert.Equal(t, cyclonedx.SpecVersion1_6, bom.SpecVersion)
	assert.Equal(t, licences("Apache-2.0"), bom.Metadata.Component.Licenses)

	sum := sha256.Sum256([]byte(read(t, program)))
	var modules []string
	for _, c := range *bom.Components {
		switch {
		case c.Type == cyclonedx.ComponentTypeApplication:
			assert.Equal(t, []cyclonedx.Hash{{Algorithm: "SHA-256", Value: hex.EncodeToString(sum[:])}}, *c.Hashes)
			assert.Equal(t, "v1.2.3 "+here+" abc123", c.Version+" "+property(c, "platform")+" "+property(c, "revision"))
			modules = append(modules, "path "+c.Name)
		case c.Name == "stdlib":
			modules = append(modules, "go"+c.Version)
		default:
			modules = append(modules, strings.Join(strings.Fields("dep "+c.Name+" "+c.Version+" "+property(c, "go:sum")+property(c, "go:folder")), " "))
		}
	}
	want := goVersion(t, program)
	assert.ElementsMatch(t, want, modules)
	assert.Len(t, want, 4, "the stand-in has two modules")
}

// goVersion returns what go version -m says of a program: the version of Go, its
// path, and its modules.
func goVersion(t *testing.T, program string) (lines []string) {
	t.Helper()
	first, rest, _ := strings.Cut(output(t, "go", "version", "-m", program), "\n")
	lines = append(lines, strings.TrimPrefix(first, program+": "))
	for line := range strings.Lines(rest) {
		switch fields := strings.Split(strings.TrimRight(line, "\t\n"), "\t"); {
		case len(fields) < 2:
		case fields[1] == "path", fields[1] == "dep":
			lines = append(lines, strings.Join(fields[1:], " "))
		case fields[1] == "=>": // in the stand-in always a folder, so the version before it means nothing
			require.Equal(t, "(devel)", fields[3])
			module := strings.Fields(lines[len(lines)-1])[1]
			lines[len(lines)-1] = "dep " + module + " " + fields[2]
		}
	}
	return lines
}

func TestTheModulesOfAllProgramsAreListedOnce(t *testing.T) {
	amd64, arm64 := v1.Platform{OS: "linux", Architecture: "amd64"}, v1.Platform{OS: "linux", Architecture: "arm64"}
	built := func(modules ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.8", Path: "example.com/x/cmd/manager", Deps: modules}
	}
	bom := newSBOM(About{Name: "x", Version: "v1"}, v1.Hash{Algorithm: "sha256", Hex: "12"}, []program{
		{platform: amd64, sum: "1", built: built(
			&debug.Module{Path: "example.com/b", Version: "v2.0.0+incompatible", Sum: "h1:b"},
			&debug.Module{Path: "example.com/A", Version: "v1.0.0", Sum: "h1:a"},
		)},
		{platform: arm64, sum: "2", built: built(
			&debug.Module{Path: "example.com/A", Version: "v1.0.0", Sum: "h1:a"},
			&debug.Module{Path: "example.com/c", Version: "v3.0.0", Sum: "h1:c", Replace: &debug.Module{Path: "example.com/fork", Version: "v3.0.1", Sum: "h1:f"}},
			&debug.Module{Path: "example.com/d", Version: "v0.0.0", Replace: &debug.Module{Path: "../d", Version: "(devel)"}},
		)},
	})
	var got []string
	for _, c := range *bom.Components {
		line := c.Name + " " + c.Version + " " + c.PackageURL
		if c.Properties != nil {
			for _, p := range *c.Properties {
				line += " " + p.Name + "=" + p.Value
			}
		}
		got = append(got, line)
	}
	assert.Equal(t, []string{
		"example.com/x/cmd/manager v1  platform=linux/amd64 revision=",
		"example.com/x/cmd/manager v1  platform=linux/arm64 revision=",
		"example.com/A v1.0.0 pkg:golang/example.com/a@v1.0.0 go:sum=h1:a",
		"example.com/b v2.0.0+incompatible pkg:golang/example.com/b@v2.0.0%2Bincompatible go:sum=h1:b",
		"example.com/d  pkg:golang/example.com/d go:folder=../d",
		"example.com/fork v3.0.1 pkg:golang/example.com/fork@v3.0.1 go:replaces=example.com/c@v3.0.0 go:sum=h1:f",
		"stdlib 1.26.8 pkg:golang/stdlib@1.26.8",
	}, got)
}

func TestTheSBOMFollowsItsSchema(t *testing.T) {
	schema := cycloneDX(t)
	content := read(t, makeImage(t, options(t, here)).SBOM)
	require.NoError(t, schema.Validate(document(t, content)))

	// The schema is the real one, with the list of licences that it refers to.
	for sentence, change := range map[string][2]string{
		"a licence that does not exist": {"BSD-3-Clause", "BSD-300-Clause"},
		"a property that is not known":  {`"bomFormat"`, `"bombFormat"`},
		"a time that is none":           {"2023-11-14T", "2023-11-34T"},
	} {
		t.Run(sentence, func(t *testing.T) {
			wrong := strings.Replace(content, change[0], change[1], 1)
			require.Error(t, schema.Validate(document(t, wrong)))
		})
	}
}

// cycloneDX is the published schema. The library's module has a copy.
func cycloneDX(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder := filepath.Join(output(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"), "schema")
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, file := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		require.NoError(t, compiler.AddResource("http://cyclonedx.org/schema/"+name, document(t, read(t, filepath.Join(folder, file)))))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	return schema
}

func document(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return value
}

func readSBOM(t *testing.T, path string) *cyclonedx.BOM {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	bom := new(cyclonedx.BOM)
	require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(content), cyclonedx.BOMFileFormatJSON).Decode(bom))
	return bom
}

func property(c cyclonedx.Component, name string) string {
	if c.Properties != nil {
		for _, p := range *c.Properties {
			if p.Name == name {
				return p.Value
			}
		}
	}
	return ""
}
