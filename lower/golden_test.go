package lower_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares loops with testdata.

var update = flag.Bool("update", false, "rewrite the golden files")

// index gives every index array of an operand 32 bits.
type index struct{}

func (index) IndexType(*ir.Tensor, int, emit.ArrayKind) tensor.DType { return tensor.Uint32 }

// lowerings are the choices that a file may name in its section "options".
var lowerings = map[string]func(*lower.Options){
	"appended": func(o *lower.Options) { o.Assembly = lower.Appended },
	"joined":   func(o *lower.Options) { o.Assembly = lower.Joined },
	"hash":     func(o *lower.Options) { o.Workspace = lower.HashWorkspace },
	"sort":     func(o *lower.Options) { o.Workspace = lower.SortWorkspace },
	"copies":   func(o *lower.Options) { o.Copies = true },
	"grids":    func(o *lower.Options) { o.Grids = true },
}

// TestLoops compares the loops of programs with testdata: a file has a program, how its tensors are stored, one a
// line, NAME FORMAT TYPE, options, and the loops. The loops must verify.
func TestLoops(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			section := func(name string) *txtar.File {
				for i := range archive.Files {
					if archive.Files[i].Name == name {
						return &archive.Files[i]
					}
				}
				t.Fatalf("there is no section %q", name)
				return nil
			}
			loops := section("loops")
			got := loopsOf(t, string(section("program").Data), string(section("tensors").Data), string(section("options").Data))
			if *update {
				loops.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(loops.Data), got); diff != "" {
				t.Errorf("the loops changed (go test ./lower -run Loops -update if that is right):\n%s", diff)
			}
		})
	}
}

// loopsOf lowers the steps of a program.
func loopsOf(t *testing.T, text, tensors, options string) string {
	t.Helper()
	decls := map[string]lang.Decl{}
	results := map[string]bool{}
	for line := range strings.Lines(tensors) {
		words := strings.Fields(line)
		if len(words) != 3 {
			t.Fatalf("%q is not NAME FORMAT TYPE", line)
		}
		name, result := strings.CutPrefix(words[0], "=")
		rank := -1
		if words[1] == "D" || words[1] == "S" {
			rank = 1
		}
		f, err := tensor.ParseFormat(words[1], rank)
		if err != nil {
			t.Fatal(err)
		}
		dt, err := tensor.ParseDType(words[2])
		if err != nil {
			t.Fatal(err)
		}
		decls[name], results[name] = lang.Decl{Rank: f.Rank(), Format: f, HasFormat: true, DType: dt, HasDType: true, Result: result}, result
	}
	file, err := lang.Parse(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	program, err := lang.Check(file, decls)
	if err != nil {
		t.Fatal(err)
	}
	o := lower.Options{Coordinates: loop.U32}
	for _, name := range strings.Fields(options) {
		set := lowerings[name]
		if set == nil {
			t.Fatalf("there is no option %q", name)
		}
		set(&o)
	}
	plan, err := plan.New(t.Context(), program, ir.Options{Grids: o.Grids}, scalar.Eval)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, step := range plan.Steps {
		c, ok := step.(*ir.Compute)
		if !ok {
			t.Fatalf("a step is %T: this test is about loops alone", step)
		}
		k, err := lower.Step(c, ir.Algebra{Eval: scalar.Eval}, index{}, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Program.Verify(lib.Lookup); err != nil {
			t.Errorf("the loops do not verify: %v", err)
		}
		out.WriteString(strings.TrimRight(k.Program.String(), "\n") + "\n")
	}
	return out.String()
}
