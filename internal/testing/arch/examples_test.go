package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exemplified are the packages of which every exported name has an example that runs, or is in one.
var exemplified = map[string]string{"lacuna": ".", "tensor": "tensor", "ops": "ops", "from": "tensor/from", "interop": "tensor/interop", "file": "tensor/file", "gonum": "tensor/gonum"}

// calledByOthers are methods that no example calls: fmt, errors and encoding do when it prints, asks or encodes.
var calledByOthers = []string{"Error", "Unwrap", "String", "MarshalJSON", "UnmarshalJSON", "MarshalBinary", "UnmarshalBinary"}

// TestExportedNamesHaveExamples looks for names in the examples of the tests, with all of the files that are named for examples, and in the
// programs of examples. A type is also in the examples that have values of it: of a function that returns it, of a field,
// or of one of its constants; and so is a constant that another of its type stands for, declared in the same list. Everything
// else is to be named.
func TestExportedNamesHaveExamples(t *testing.T) {
	const root = "../../.."
	seen := map[string]bool{}
	eachFile(t, root, func(path string, f *ast.File) {
		whole := strings.HasSuffix(path, "example_test.go") || strings.HasPrefix(path, "examples/") && !strings.HasSuffix(path, "_test.go")
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); whole || ok && strings.HasSuffix(path, "_test.go") && strings.HasPrefix(fn.Name.Name, "Example") {
				ast.Inspect(d, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						seen["."+s.Sel.Name] = true // of a method
						if x, ok := s.X.(*ast.Ident); ok {
							seen[x.Name+"."+s.Sel.Name] = true
						}
					}
					return true
				})
			}
		}
	})
	for name, dir := range exemplified {
		var missing []exported
		names := exportedNames(t, filepath.Join(root, dir), name)
		for _, e := range names {
			if seen[name+"."+e.name] || e.method != "" && seen["."+e.method] {
				for _, shown := range e.shows {
					seen[shown] = true
				}
			}
		}
		for _, e := range names {
			if !e.field && !seen[name+"."+e.name] && (e.method == "" || !seen["."+e.method] && !slices.Contains(calledByOthers, e.method)) {
				missing = append(missing, e)
			}
		}
		for _, e := range missing {
			t.Errorf("%s.%s is exported and in no example: write one that runs", name, e.name)
		}
	}
}

// exported is a function, type, variable, constant, or method or field (T.M), of a package.
type exported struct {
	name   string
	method string   // M of T.M
	field  bool     // it need not be in an example, and shows its type
	shows  []string // what an example that has it has too, with the names of packages
}

// exportedNames are those of a package.
func exportedNames(t *testing.T, dir, pkg string) (names []exported) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if e, ok := exportedFunc(d, pkg); ok {
					names = append(names, e)
				}
			case *ast.GenDecl:
				names = append(names, exportedValues(d, pkg)...)
			}
		}
	}
	return names
}

// exportedFunc is a function or method, which shows the types of its results.
func exportedFunc(d *ast.FuncDecl, pkg string) (e exported, ok bool) {
	e.name = d.Name.Name
	if d.Recv != nil {
		of := receiver(d.Recv.List[0].Type)
		if !ast.IsExported(of) {
			return e, false
		}
		e.name, e.method = of+"."+e.name, e.name
	}
	if d.Type.Results != nil {
		for _, r := range d.Type.Results.List {
			e.shows = append(e.shows, pkg+"."+receiver(r.Type))
		}
	}
	return e, d.Name.IsExported()
}

// exportedValues are types, variables and constants. Of a list of constants of one type each shows the others, and the type.
func exportedValues(d *ast.GenDecl, pkg string) (names []exported) {
	of := map[string][]string{} // constants by type
	var last string
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			names = append(names, exported{name: s.Name.Name})
			of, ok := s.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range of.Fields.List {
				for _, id := range f.Names {
					names = append(names, exported{name: s.Name.Name + "." + id.Name, method: id.Name, field: true, shows: []string{pkg + "." + receiver(f.Type)}})
				}
			}
		case *ast.ValueSpec:
			if s.Type != nil || len(s.Values) > 0 {
				last = ""
			}
			if d.Tok == token.CONST && s.Type != nil {
				last = receiver(s.Type)
			}
			for _, id := range s.Names {
				if !id.IsExported() {
					continue
				}
				names = append(names, exported{name: id.Name})
				if last != "" {
					of[last] = append(of[last], id.Name)
				}
			}
		}
	}
	for typ, constants := range of {
		for i := range names {
			if slices.Contains(constants, names[i].name) {
				names[i].shows = append(names[i].shows, pkg+"."+typ)
				for _, c := range constants {
					names[i].shows = append(names[i].shows, pkg+"."+c)
				}
			}
		}
	}
	return names
}

// receiver is the name of a receiver's type, or that of the elements of a list.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.ArrayType:
		return receiver(x.Elt)
	case *ast.Ident:
		return x.Name
	}
	return "?"
}

// eachFile parses every Go file of the tree.
func eachFile(t *testing.T, root string, visit func(path string, f *ast.File)) {
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		local, _ := filepath.Rel(root, path)
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && local != ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(local, "examples/") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(local), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
