package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
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
func (m Module) Replaced() ([]string, error) {
	name := filepath.Join(m.Dir, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(name, content, nil)
	if err != nil {
		return nil, err
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
