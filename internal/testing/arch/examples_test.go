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
var exemplified = map[string]string{"lacuna": ".", "tensor": "tensor", "ops": "ops", "from": "tensor/from"}

// TestExportedNamesHaveExamples looks for names in the examples of the tests and in the programs of examples. Names that are in none yet are
// in a list, which may get shorter only.
func TestExportedNamesHaveExamples(t *testing.T) {
	const root = "../../.."
	seen := map[string]bool{}
	eachFile(t, root, func(path string, f *ast.File) {
		program := strings.HasPrefix(path, "examples/") && !strings.HasSuffix(path, "_test.go")
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && (program || strings.HasSuffix(path, "_test.go") && strings.HasPrefix(fn.Name.Name, "Example")) {
				ast.Inspect(fn, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						seen[s.Sel.Name] = true // of a method
						if x, ok := s.X.(*ast.Ident); ok {
							seen[x.Name+"."+s.Sel.Name] = true
						}
					}
					return true
				})
			}
		}
	})
	var missing []string
	for name, dir := range exemplified {
		for _, exported := range exportedNames(t, filepath.Join(root, dir)) {
			method := exported[strings.LastIndexByte(exported, '.')+1:]
			if strings.Contains(exported, ".") && seen[method] || seen[name+"."+exported] {
				continue
			}
			missing = append(missing, name+"."+exported)
		}
	}
	slices.Sort(missing)
	text, err := os.ReadFile("testdata/no-example.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(string(text))
	for _, name := range missing {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is exported and in no example: write one that runs", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(missing, name) {
			t.Errorf("%s is in an example now, or gone: take it off testdata/no-example.txt", name)
		}
	}
}

// exportedNames are the functions, types, variables, constants, and methods of exported types (T.M), of a package.
func exportedNames(t *testing.T, dir string) (names []string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", dir, err)
	}
	add := func(id *ast.Ident, of string) {
		if id.IsExported() && (of == "" || ast.IsExported(of)) {
			names = append(names, strings.TrimPrefix(of+"."+id.Name, "."))
		}
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
				of := ""
				if d.Recv != nil {
					of = receiver(d.Recv.List[0].Type)
				}
				add(d.Name, of)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(s.Name, "")
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add(id, "")
						}
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// receiver is the name of a receiver's type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
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
