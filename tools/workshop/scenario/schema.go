package scenario

import (
	"cmp"
	_ "embed" // the schema is in the program
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed index.schema.json
var schemaText string

// validate says which index.json breaks the schema, or names a file that is not among
// the files, and which scenario of structure.json there is not.
func (f files) validate() []string {
	schema, err := compiled()
	if err != nil {
		return []string{err.Error()}
	}
	var sentences []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		switch {
		case name == "structure.json":
			sentences = append(sentences, f.validateStructure()...)
		case path.Base(name) == "index.json":
			sentences = append(sentences, f.validateIndex(schema, name)...)
		}
	}
	return sentences
}

func (f files) validateIndex(schema *jsonschema.Schema, name string) []string {
	shown := path.Join("katacoda", name)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(f[name]))
	if err != nil {
		return []string{fmt.Sprintf("%s is not JSON: %v", shown, err)}
	}
	if err := schema.Validate(value); err != nil {
		return []string{fmt.Sprintf("%s breaks the schema of tools/workshop/scenario/index.schema.json %s", shown, reasons(err))}
	}
	var i index
	if err := json.Unmarshal([]byte(f[name]), &i); err != nil {
		return []string{fmt.Sprintf("%s: %v", shown, err)}
	}
	var sentences []string
	for _, p := range append([]page{i.Details.Intro, i.Details.Finish}, i.Details.Steps...) {
		for _, file := range []string{p.Text, p.Verify, p.Background, p.Foreground} {
			if _, there := f[path.Join(path.Dir(name), file)]; file != "" && !there {
				sentences = append(sentences, fmt.Sprintf("%s names %s, which is not there", shown, file))
			}
		}
	}
	return sentences
}

func (f files) validateStructure() []string {
	var s structure
	if err := json.Unmarshal([]byte(f["structure.json"]), &s); err != nil {
		return []string{fmt.Sprintf("katacoda/structure.json: %v", err)}
	}
	var sentences []string
	for _, item := range s.Items {
		if _, there := f[path.Join(item.Path, "index.json")]; !there {
			sentences = append(sentences, fmt.Sprintf("katacoda/structure.json names %s, which has no index.json", item.Path))
		}
	}
	return sentences
}

func compiled() (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText))
	if err != nil {
		return nil, fmt.Errorf("tools/workshop/scenario/index.schema.json is not JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("index.schema.json", document); err != nil {
		return nil, fmt.Errorf("tools/workshop/scenario/index.schema.json: %w", err)
	}
	schema, err := compiler.Compile("index.schema.json")
	if err != nil {
		return nil, fmt.Errorf("tools/workshop/scenario/index.schema.json: %w", err)
	}
	return schema, nil
}

// reasons says what breaks the schema, and where in the file.
func reasons(err error) string {
	broken := new(jsonschema.ValidationError)
	if !errors.As(err, &broken) {
		return err.Error()
	}
	var found []string
	var leaves func(jsonschema.OutputUnit)
	leaves = func(unit jsonschema.OutputUnit) {
		if len(unit.Errors) == 0 && unit.Error != nil {
			found = append(found, fmt.Sprintf("at %s: %s", cmp.Or(unit.InstanceLocation, "/"), unit.Error))
		}
		for _, inner := range unit.Errors {
			leaves(inner)
		}
	}
	leaves(*broken.DetailedOutput())
	return strings.Join(found, "; ")
}
