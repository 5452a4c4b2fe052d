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

// namesLevels are the files that still name kinds. The list may only become shorter.
var namesLevels = []string{
	"internal/explorer/storage.go", // draws each kind, and offers their names
	"internal/testing/difftest/compare.go",
	"internal/testing/difftest/formats.go",
	"internal/testing/difftest/operand.go",
	"internal/testing/difftest/prepared.go",
	"internal/testing/oracle/oracle.go",
	"ir/steps.go",
	"ir/plan/argument.go",
	"ir/plan/form.go",
	"ir/plan/lists.go",
	"ir/logic/common.go",
	"ir/plan/natural.go",
	"ir/plan/order.go",
	"ir/plan/plan.go",
	"ir/plan/restore.go",
	"ir/plan/scan.go",
	"ir/plan/scatter.go",
	"ir/plan/schedule.go",
	"ir/plan/sort.go",
	"ir/plan/statistic.go",
	"lang/derive/product.go",
	"lower/convert/convert.go",
	"ops/order.go",
	"ops/shape.go",
	"ops/slice.go",
	"ops/softmax.go",
	"ops/sort.go",
	"runtime/convert/entries.go",
	"runtime/convert/vectors.go",
	"runtime/declare/declare.go",
	"runtime/exec/admission.go",
	"runtime/exec/fallback.go",
	"runtime/exec/gradformats.go",
	"runtime/exec/warnings.go",
	"tensor/blocked.go",
	"tensor/fields.go",
	"tensor/file/binsparse/level.go",
	"tensor/file/twopass.go",
	"tensor/flags.go",
	"tensor/format_text.go",
	"tensor/new.go",
	"tensor/partition.go",
}

var levelNames = []string{"DenseLevel", "CompressedLevel", "SingletonLevel", "S", "C", "DC", "D"}

// TestLevelKindsAreNamedOnce compares the files that name level kinds with the list.
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
		if !slices.Contains(namesLevels, file) {
			t.Errorf("%s names a level kind: ask for its properties (tensor.LevelType), or for those of the format", file)
		}
	}
	for _, file := range namesLevels {
		if !slices.Contains(found, file) {
			t.Errorf("%s names no level kind any more: take it off the list", file)
		}
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
