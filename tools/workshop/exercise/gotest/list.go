package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Listing is what go list says of a package. Paths within the module are relative, as
// in a Report.
type Listing struct {
	Path                                        string `json:"ImportPath"`
	Imports, TestImports, XTestImports          []string
	EmbedFiles, TestEmbedFiles, XTestEmbedFiles []string
	Module                                      struct{ Path string }
}

// List returns the packages of the module, with flags for go list, such as -tags=try.
func (m Module) List(ctx context.Context, flags ...string) ([]Listing, error) {
	const fields = "-json=ImportPath,Imports,TestImports,XTestImports,EmbedFiles,TestEmbedFiles,XTestEmbedFiles,Module"
	output, err := m.runGo(ctx, append(append([]string{"list", fields}, flags...), "./...")...)
	if err != nil {
		return nil, err
	}
	var listings []Listing
	for decoder := json.NewDecoder(strings.NewReader(output)); ; {
		var l Listing
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return listings, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says: %w", err)
		}
		l.Path = relative(l.Module.Path, l.Path)
		for _, imports := range [][]string{l.Imports, l.TestImports, l.XTestImports} {
			for i := range imports {
				imports[i] = relative(l.Module.Path, imports[i])
			}
		}
		listings = append(listings, l)
	}
}

// Replaced returns the folders that the module's go.mod replaces other modules by, from
// its own folder.
func (m Module) Replaced(ctx context.Context) ([]string, error) {
	output, err := m.runGo(ctx, "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var file struct {
		Replace []struct {
			New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(output), &file); err != nil {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	var folders []string
	for _, replace := range file.Replace {
		if replace.New.Version == "" {
			folders = append(folders, replace.New.Path)
		}
	}
	return folders, nil
}

// Env returns variables of the go command, in order.
func (m Module) Env(ctx context.Context, names ...string) ([]string, error) {
	output, err := m.runGo(ctx, append([]string{"env"}, names...)...)
	return strings.Split(strings.TrimSuffix(output, "\n"), "\n"), err
}
