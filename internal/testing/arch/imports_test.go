// Package arch holds the test that the packages import only downward.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/lacuna-sparse/lacuna"

// allowed lists, for each package, the packages of this module that it may
// import (tests aside). It is the table of docs/internals.md: imports point
// down, and a package that is not listed here fails the test.
var allowed = map[string][]string{
	"tensor":                       {"internal/admission", "internal/parts", "internal/suggest", "tensor/internal/column"},
	"tensor/internal/column":       {"internal/admission"},
	"internal/admission":           {"internal/units"},
	"internal/parts":               {},
	"internal/debug":               {},
	"internal/flight":              {},
	"internal/llvm":                {"internal/debug", "internal/dl", "internal/machine"},
	"internal/object":              {},
	"internal/machine":             {"internal/units"},
	"internal/units":               {},
	"internal/overflow":            {},
	"internal/spyplot":             {"internal/units"},
	"internal/suggest":             {},
	"internal/spill":               {"internal/units"},
	"internal/distribute":          {"internal/spill", "tensor"},
	"internal/cost":                {},
	"internal/diskcache":           {"internal/units"},
	"ir/loop":                      {},
	"ir/loop/lib":                  {"ir/loop"},
	"ir/loop/looptest":             {"ir/loop"},
	"internal/dl":                  {},
	"internal/cuda":                {"internal/dl"},
	"runtime/dist/nccl":            {"internal/cuda", "internal/dl", "runtime", "runtime/dist/ranks", "runtime/dist/transport"},
	"runtime/dist/mpi":             {"internal/dl", "runtime/dist/transport"},
	"codegen/ptx":                  {"ir/loop", "codegen/llvm"},
	"internal/testing/testengine":  {"internal/debug", "internal/diskcache", "runtime/ondisk", "ir/loop", "lower/gpu", "ir/loop/lib", "codegen/ptx", "internal/llvm", "runtime", "runtime/dist/transport"},
	"tensor/from":                  {"tensor", "tensor/internal/column"},
	"tensor/interop":               {"tensor"},
	"tensor/gonum":                 {"tensor", "tensor/from"},
	"tensor/file/hdf5":             {},
	"tensor/file/binsparse":        {"tensor"},
	"tensor/file":                  {"tensor", "tensor/file/binsparse", "tensor/file/hdf5", "internal/parts"},
	"lang":                         {"tensor", "internal/overflow", "internal/suggest"},
	"ir":                           {"lang", "tensor", "internal/units"},
	"ir/plan":                      {"internal/suggest", "internal/cost", "lang", "ir", "tensor"},
	"ir/logic":                     {"internal/cost", "internal/units", "lang", "tensor"},
	"lang/derive":                  {"lang", "tensor"},
	"lower/emit":                   {"ir", "ir/loop", "tensor"},
	"lower/level":                  {"ir", "ir/loop", "lower/emit", "tensor"},
	"lower/gpu/coop":               {"ir/loop", "ir/loop/lib", "lower/emit"},
	"lower/gpu":                    {"internal/cost", "ir", "ir/loop", "ir/loop/lib", "lower/emit", "lower/gpu/coop"},
	"lower/convert":                {"internal/cost", "ir", "ir/loop", "lower/emit", "lower/prim", "tensor", "lower/gpu/coop"},
	"lower/scalar":                 {"ir", "ir/loop", "ir/loop/lib", "lower/emit", "tensor"},
	"lower/fold":                   {"ir", "ir/loop", "lower/emit", "lower/scalar", "lower/gpu/coop"},
	"lower/prim":                   {"ir", "ir/loop", "lower/emit", "lower/fold", "lower/level", "lower/scalar", "tensor", "lower/gpu/coop"},
	"lower/workspace":              {"ir", "ir/loop", "lower/emit", "lower/fold", "lower/prim", "tensor"},
	"lower/scatter":                {"ir", "ir/loop", "lower/emit", "lower/fold", "lower/level"},
	"lower/gpu/ranks":              {"ir", "ir/loop", "lower/emit", "lower/gpu/coop"},
	"lower/gpu/product":            {"ir/loop", "lower/emit", "lower/fold", "lower/gpu/coop", "lower/workspace"},
	"lower/pieces":                 {"ir", "ir/loop", "lower/emit", "lower/level"},
	"lower/directives":             {"ir", "ir/loop", "lower/emit"},
	"lower":                        {"ir", "ir/loop", "lower/directives", "lower/emit", "lower/pieces", "lower/gpu/product", "lower/gpu/ranks", "lower/scatter", "lower/workspace", "lower/fold", "lower/level", "lower/prim", "lower/scalar", "tensor"},
	"codegen/interp":               {"ir/loop", "internal/debug"},
	"codegen/cpu":                  {"ir/loop", "codegen/llvm"},
	"codegen/llvm":                 {"ir/loop"},
	"runtime/ondisk":               {"internal/cost", "internal/diskcache", "internal/llvm", "internal/machine"},
	"runtime/doctor":               {"internal/admission", "internal/cuda", "internal/diskcache", "internal/machine", "internal/units", "runtime", "runtime/ondisk"},
	"runtime/alloc":                {"internal/admission", "internal/debug", "internal/spill", "tensor"},
	"runtime/partition":            {"ir/loop"},
	"runtime/watch":                {},
	"runtime":                      {"runtime/alloc", "runtime/partition", "runtime/watch", "internal/spill", "ir/loop", "ir/loop/lib", "codegen/interp", "codegen/cpu", "codegen/ptx", "internal/admission", "internal/cuda", "internal/llvm", "internal/debug", "internal/flight", "tensor", "internal/object", "internal/machine", "internal/diskcache", "internal/overflow", "internal/units", "runtime/ondisk"},
	"codegen/aot":                  {"lang", "ir", "ir/loop", "ir/loop/lib", "lower", "lower/convert", "lower/gpu", "lower/prim", "codegen/cpu", "codegen/llvm", "codegen/ptx", "internal/debug", "internal/llvm", "tensor", "lower/emit"},
	"codegen/aot/gopackage":        {"codegen/aot", "ir/loop", "tensor"},
	"runtime/invoke":               {"lower/gpu", "runtime", "tensor", "lower/emit"},
	"runtime/convert":              {"internal/cost", "ir", "ir/loop", "lower/convert", "runtime", "runtime/invoke", "internal/flight", "internal/machine", "tensor", "runtime/ondisk", "lower/emit"},
	"runtime/declare":              {"lang", "ir", "runtime/convert", "tensor", "lower/emit"},
	"runtime/exec":                 {"internal/spill", "internal/cost", "internal/units", "lang", "lang/derive", "ir", "ir/logic", "ir/loop", "ir/plan", "lower", "lower/gpu", "lower/prim", "lower/scalar", "lower/scatter", "runtime", "runtime/invoke", "runtime/convert", "runtime/declare", "internal/debug", "internal/flight", "tensor", "runtime/ondisk", "lower/emit"},
	"runtime/dist/transport":       {},
	"runtime/dist/placement":       {},
	"runtime/dist":                 {"internal/debug", "internal/units", "lang", "runtime", "runtime/declare", "runtime/dist/placement", "runtime/dist/transport", "runtime/exec", "tensor"},
	"runtime/dist/transport/kit":   {"runtime/dist/transport"},
	"runtime/dist/ranks":           {"runtime/dist/transport"},
	"codegen/gosource":             {"codegen/aot", "ir/loop", "ir/loop/lib", "tensor"},
	"codegen/gosource/support":     {"ir/loop", "tensor"},
	"":                             {"codegen/aot", "codegen/aot/gopackage", "codegen/gosource", "lang", "runtime", "runtime/convert", "runtime/declare", "runtime/exec", "internal/llvm", "internal/debug", "tensor", "runtime/ondisk"},
	"ops":                          {"", "ir", "lang", "runtime", "tensor"},
	"internal/testing/oracle":      {"lang", "tensor"},
	"internal/testing/difftest":    {"", "internal/testing/oracle", "lang", "runtime", "runtime/dist", "runtime/dist/placement", "runtime/dist/ranks", "runtime/dist/transport", "runtime/exec", "tensor"},
	"internal/testing/conformance": {"", "tensor", "tensor/file"},
	"internal/testing/arch":        {},
	"internal/testing/e2e/aot":     {},
	"internal/testing/e2e/levels":  {},
	"internal/testing/e2e/grids":   {},
	"internal/testing/e2e/results": {},
	"internal/testing/recipes":     {},
	"cmd/lacuna":                   {"", "cmd/lacuna/internal/cli", "cmd/lacuna/internal/operand", "cmd/lacuna/internal/show", "codegen/aot", "codegen/aot/gopackage", "internal/admission", "internal/cost", "internal/diskcache", "internal/distribute", "internal/explorer", "internal/generate", "internal/machine", "internal/spyplot", "internal/units", "lang", "lang/derive", "ops", "runtime", "runtime/dist", "runtime/dist/mpi", "runtime/dist/nccl", "runtime/dist/placement", "runtime/dist/ranks", "runtime/dist/transport", "runtime/doctor", "runtime/exec", "runtime/ondisk", "tensor", "tensor/file", "tensor/file/binsparse", "web"},
	"cmd/lacuna/internal/cli":      {"", "internal/suggest", "internal/units", "lang", "runtime"},
	"cmd/lacuna/internal/operand":  {"", "cmd/lacuna/internal/cli", "internal/cost", "internal/distribute", "internal/explorer", "internal/generate", "internal/spill", "internal/units", "runtime", "runtime/dist/placement", "runtime/exec", "tensor", "tensor/file"},
	"cmd/lacuna/internal/show":     {"cmd/lacuna/internal/cli", "internal/units", "tensor", "tensor/interop"},

	// The explorer.
	"internal/generate": {"tensor"},
	"internal/explorer": {"internal/suggest", "", "internal/generate", "lang", "ir/loop", "codegen/interp", "runtime", "tensor", "tensor/file"},
	"web":               {},
	"web/site":          {},
	"web/build":         {"internal/explorer", "web/site"},
	"web/wasm":          {"internal/explorer"},

	"internal/testing/e2e/explorer": {}, // tests only

	"python/bridge": {"", "lang", "runtime", "tensor"},

	"scripts/figures": {},
	"scripts/mutate":  {}, // tools
	"scripts/release": {},

	"internal/cuda/fakecuda": {}, // for tests

	// Copied into the packages that gopackage makes.
	"codegen/aot/gopackage/support": {"tensor"},
}

// TestImportsPointDown compares every import inside the module with the table.
func TestImportsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := local(pkg.ImportPath)
		if strings.HasPrefix(name, "examples") {
			continue // these use the module as its users do
		}
		may, listed := allowed[name]
		if !listed {
			t.Errorf("package %q is not in the import table", name)
			continue
		}
		for _, imp := range pkg.Imports {
			if strings.HasPrefix(imp, "gonum.org/v1/gonum/") && name != "tensor/gonum" {
				t.Errorf("package %q must not import %q: only tensor/gonum does", name, imp)
			}
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			if !contains(may, local(imp)) {
				t.Errorf("package %q must not import %q", name, local(imp))
			}
		}
	}
}

func local(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// TestNoCgo fails when a file outside a build tag needs cgo.
func TestNoCgo(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{if .CgoFiles}}{{.ImportPath}}: {{.CgoFiles}}{{end}}", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if s := strings.TrimSpace(string(out)); s != "" {
		t.Errorf("packages with cgo: %s", s)
	}
}
