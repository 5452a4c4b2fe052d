package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A level kind is named by the file of its schema and by the file that emits its code, by the two tables
// that these stand in, and by the spelling of formats. All other code asks for properties (see CONTRIBUTING.md).
var ownLevels = []string{"tensor/level_*.go", "tensor/level.go", "tensor/spelling.go", "lower/level/*.go"}

var levelNames = []string{"DenseLevel", "CompressedLevel", "SingletonLevel", "S", "C", "DC", "D"}

// TestLevelKindsAreNamedOnce looks for other files that name level kinds.
func TestLevelKindsAreNamedOnce(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && file != "." || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || slices.ContainsFunc(ownLevels, func(pattern string) bool {
			own, _ := filepath.Match(pattern, file)
			return own
		}) {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil && namesLevel(syntax, filepath.ToSlash(filepath.Dir(file)) == "tensor") {
			found = append(found, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		t.Errorf("%s names a level kind: ask for its properties (tensor.LevelType) or for those of the format, and make formats of others (tensor.Stack)", file)
	}
}

// namesLevel reports whether a file names a kind of level: as a name of package tensor, inside or outside that.
func namesLevel(file *ast.File, inside bool) bool {
	found := false
	var see func(n ast.Node) bool
	see = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && !inside && x.Name == "tensor" {
				found = found || slices.Contains(levelNames, n.Sel.Name)
			}
			ast.Inspect(n.X, see)
			return false
		case *ast.Ident:
			found = found || inside && slices.Contains(levelNames, n.Name)
		}
		return true
	}
	ast.Inspect(file, see)
	return found
}
