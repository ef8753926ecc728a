package exercise

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A test starts an API server by this package, or finds its programs by this variable.
const (
	envtest = "sigs.k8s.io/controller-runtime/pkg/envtest"
	assets  = "KUBEBUILDER_ASSETS"
)

// NeedAPIServer returns those of some exercises of which a judging test may start an API server,
// so that they need the lab. It follows the names in the source from the tests to envtest, or to
// the variable that names the folder of its programs. It compiles nothing and downloads nothing:
// in a new clone, too, it takes milliseconds.
//
// Names have no types here: a call of a method named Start is taken for a call of each Start
// that could be meant. So what can happen is that a lab is built which is not used.
func NeedAPIServer(r repository.Repository, exercises ...Exercise) ([]Exercise, error) {
	packages := map[string]declarations{}
	var needing []Exercise
	for _, e := range exercises {
		s := source{map[string]string{}, packages, map[reference]bool{}}
		reaches, err := s.judgeReaches(r, e)
		if err != nil {
			return nil, fmt.Errorf("finding out whether %s needs an API server: %w", e.ID(), err)
		}
		if reaches {
			needing = append(needing, e)
		}
	}
	return needing, nil
}

// judgeReaches reports whether a judging test leads to an API server.
func (s *source) judgeReaches(r repository.Repository, e Exercise) (bool, error) {
	if err := s.addModule(r.Path(e.Module())); err != nil {
		return false, err
	}
	for _, test := range slices.Concat(e.Judge.Tests, e.Judge.Keeps) {
		// What runs before the tests, too.
		for _, name := range []string{test.Function(), "TestMain", "init", "_"} {
			reaches, err := s.reaches(reference{r.Path(e.Module(), test.Package), name, false, true})
			if err != nil || reaches {
				return reaches, err
			}
		}
	}
	return false, nil
}

// A source is the packages of a module, and of those beside it that it is compiled with, as far
// as they were read.
type source struct {
	folders  map[string]string       // of modules, by their paths
	packages map[string]declarations // by their folders
	seen     map[reference]bool
}

// declarations are the functions, methods and variables of a package, by their names.
type declarations map[string][]declaration

// A declaration is a piece of code, and what the names of packages mean there.
type declaration struct {
	node    ast.Node
	imports map[string]string
	method  bool
	test    bool // it is in a file of tests
}

// A reference is the name of a method, or else of a function or a variable, in a package. Only
// the tests of a package see what its tests declare.
type reference struct {
	folder, name  string
	method, tests bool
}

// addModule reads where the packages of a module are.
func (s *source) addModule(folder string) error {
	name := filepath.Join(folder, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(name, content, nil)
	if err != nil {
		return err
	}
	if file.Module == nil {
		return fmt.Errorf("%s names no module", name)
	}
	s.folders[file.Module.Mod.Path] = folder
	for _, replace := range file.Replace {
		if replace.New.Version == "" {
			s.folders[replace.Old.Path] = filepath.Join(folder, replace.New.Path)
		}
	}
	return nil
}

// folderOf returns the folder of a package, or "" if it is of none of the modules.
func (s *source) folderOf(imported string) string {
	for module := imported; module != "."; module = path.Dir(module) {
		if folder, ok := s.folders[module]; ok {
			return filepath.Join(folder, strings.TrimPrefix(imported, module))
		}
	}
	return ""
}

// reaches reports whether the code that a name stands for leads to an API server.
func (s *source) reaches(from reference) (bool, error) {
	if s.seen[from] {
		return false, nil
	}
	s.seen[from] = true
	all, err := s.read(from.folder)
	if err != nil {
		return false, err
	}
	for _, d := range all[from.name] {
		if d.method != from.method || d.test && !from.tests {
			continue
		}
		next, found := s.follow(d, from)
		if found {
			return true, nil
		}
		for _, reference := range next {
			if reaches, err := s.reaches(reference); err != nil || reaches {
				return reaches, err
			}
		}
	}
	return false, nil
}

// follow returns what a piece of code refers to, and whether that is an API server.
func (s *source) follow(d declaration, from reference) (next []reference, found bool) {
	ast.Inspect(d.node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BasicLit:
			found = found || strings.Contains(node.Value, assets)
		case *ast.Ident:
			next = append(next, reference{from.folder, node.Name, false, from.tests})
		case *ast.SelectorExpr:
			if name, ok := node.X.(*ast.Ident); ok && d.imports[name.Name] != "" {
				imported := d.imports[name.Name]
				found = found || imported == envtest
				if folder := s.folderOf(imported); folder != "" {
					next = append(next, reference{folder, node.Sel.Name, false, false})
				}
				return false
			}
			// A field, or a method of this package or of one that it imports.
			next = append(next, reference{from.folder, node.Sel.Name, true, from.tests})
			for _, imported := range d.imports {
				if folder := s.folderOf(imported); folder != "" {
					next = append(next, reference{folder, node.Sel.Name, true, false})
				}
			}
			more, in := s.follow(declaration{node: node.X, imports: d.imports}, from)
			next, found = append(next, more...), found || in
			return false
		}
		return true
	})
	return next, found
}

// read reads a package, with its tests.
func (s *source) read(folder string) (declarations, error) {
	if all, ok := s.packages[folder]; ok {
		return all, nil
	}
	all := declarations{}
	s.packages[folder] = all
	names, err := fs.Glob(os.DirFS(folder), "*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			continue // a learner is writing it, and the compiler will say what is wrong
		}
		all.add(file, strings.HasSuffix(name, "_test.go"))
	}
	return all, nil
}

// add adds what a file declares. Types do nothing by themselves.
func (all declarations) add(file *ast.File, test bool) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser has done so
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = imported
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				all[d.Name.Name] = append(all[d.Name.Name], declaration{d.Body, imports, d.Recv != nil, test})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				values, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for _, name := range values.Names {
					for _, value := range values.Values {
						all[name.Name] = append(all[name.Name], declaration{value, imports, false, test})
					}
				}
			}
		}
	}
}
