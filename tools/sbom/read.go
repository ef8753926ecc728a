package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
)

// Names in the archive, below its folder.
const (
	goVersion = "go/VERSION"
	downloads = "modules/cache/download/"
	postgres  = "workshop/bin/postgres.tar"
	// npmSource has the version of the npm package that PostgreSQL comes from.
	npmSource = "workshop/05-crd-operator/postgres/image/npm.go"
)

var npmVersion = regexp.MustCompile(`(?m)^const npmVersion = "(.+)"$`)

// read returns what the archive contains.
func read(archive io.Reader) ([]component, error) {
	var components []component
	var version, npm string // of Go, and of PostgreSQL's package
	var hasPostgres bool
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		_, name, _ := strings.Cut(header.Name, "/")
		switch {
		case strings.HasPrefix(name, downloads):
			err = addModule(&components, strings.TrimPrefix(name, downloads))
		case name == goVersion:
			_, err = fmt.Fscanf(files, "go%s", &version)
		case name == npmSource:
			npm, err = constant(files)
		case name == postgres:
			hasPostgres = true
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	if version == "" {
		return nil, errors.New("there is no " + goVersion + " in it; name an archive of make offline-bundle")
	}
	components = append(components, packaged("platform", "go", version, "pkg:generic/go@"+version))
	if hasPostgres {
		components = append(components, packaged("application", "@embedded-postgres", npm, "pkg:npm/%40embedded-postgres@"+npm))
	}
	return components, nil
}

// addModule adds the module that a file of the module cache is the hash of: Go writes one for
// each module that it has fetched. A capital letter in a path is a ! and the small letter.
func addModule(components *[]component, file string) error {
	escaped, ok := strings.CutSuffix(file, ".ziphash")
	if !ok {
		return nil
	}
	path, version, _ := strings.Cut(escaped, "/@v/")
	path, err := module.UnescapePath(path)
	if err != nil {
		return err
	}
	version, err = module.UnescapeVersion(version)
	if err != nil {
		return err
	}
	*components = append(*components, packaged("library", path, version, "pkg:golang/"+path+"@"+version))
	return nil
}

func constant(source io.Reader) (string, error) {
	content, err := io.ReadAll(source)
	if err != nil {
		return "", err
	}
	found := npmVersion.FindSubmatch(content)
	if found == nil {
		return "", errors.New("it has no constant npmVersion any more: see tools/sbom/read.go")
	}
	return string(found[1]), nil
}
