package cpu_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file compares LLVM IR with testdata.

var update = flag.Bool("update", false, "rewrite the golden files")

// eachLLVM runs a test on every LLVM installed; under -short on the one that is used.
func eachLLVM(t *testing.T, test func(*testing.T, *llvm.LLVM)) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range llvm.Find() {
		l, err := llvm.Load(c.Path)
		if err != nil || seen[l.Version().String()] {
			continue
		}
		seen[l.Version().String()] = true
		t.Run(fmt.Sprint("llvm", l.Version().Major), func(t *testing.T) { test(t, l) })
		if testing.Short() {
			return
		}
	}
	if len(seen) == 0 {
		t.Skip("no LLVM found: " + llvm.Install)
	}
}

// parse reads one function.
func parse(t testing.TB, src string) *loop.Func {
	t.Helper()
	f, err := loop.ParseFunc(src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// emit translates functions that call no library.
func emit(t testing.TB, funcs ...*loop.Func) string {
	t.Helper()
	text, err := cpu.Emit("test", funcs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// testLibrary is the library in testdata/scalars.txt.
func testLibrary(t testing.TB) func(string) (*loop.Scalar, bool) {
	t.Helper()
	src, err := os.ReadFile("testdata/scalars.txt")
	if err != nil {
		t.Fatal(err)
	}
	scalars, err := loop.ParseScalars(string(src))
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) (*loop.Scalar, bool) {
		for _, s := range scalars {
			if s.Name == name {
				return s, true
			}
		}
		return nil, false
	}
}

// TestGolden translates testdata/x.loop and compares with testdata/x.ll. Every
// LLVM installed must accept the text.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.loop")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	texts := map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".loop")
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cpu.Emit(name, []*loop.Func{parse(t, string(src))}, testLibrary(t))
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = got
			golden := strings.TrimSuffix(file, ".loop") + ".ll"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs; run with -update if that is right (-want +got)\n%s", golden, diff)
			}
		})
	}
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		for name, text := range texts {
			if err := l.Verify(text); err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	call := parse(t, "func f(y: []f64) chunk c, lo, hi {\n  y[0] = square_f64(2.0)\n}")
	wrongType := parse(t, "func f(y: []f32) chunk c, lo, hi {\n  y[0] = 1.0:f32\n}")
	wrongType.Body[0].(*loop.Store).Value = loop.Int(1)
	noReturn := &loop.Scalar{Name: "square_f64", Vars: []loop.Var{{Name: "x", Type: loop.F64}}, Args: []loop.VarID{0}, Result: loop.F64}
	finds := func(s *loop.Scalar) func(string) (*loop.Scalar, bool) {
		return func(string) (*loop.Scalar, bool) { return s, s != nil }
	}
	tests := []struct {
		name   string
		funcs  []*loop.Func
		lookup func(string) (*loop.Scalar, bool)
		want   string
	}{
		{"no library", []*loop.Func{call}, nil, "square_f64"},
		{"not in the library", []*loop.Func{call}, finds(nil), "square_f64"},
		{"wrong type", []*loop.Func{wrongType}, nil, "func f"},
		{"no return", []*loop.Func{call}, finds(noReturn), "scalar square_f64"},
		{"grid", []*loop.Func{parse(t, "func f() grid threads 32 {\n}")}, nil, "f is a grid function"},
		{"same name", []*loop.Func{call, call}, testLibrary(t), "two functions are called f"},
	}
	for _, test := range tests {
		_, err := cpu.Emit("test", test.funcs, test.lookup)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

// TestLoopNumbers compiles loops with a number of copies and of lanes that somebody has asked for.
func TestLoopNumbers(t *testing.T) {
	f := parse(t, `func f(readonly x: []f64, y: []f64) chunk c, lo, hi {
  for unroll 4 i = lo to hi {
    for independent lanes 8 j = lo to hi {
      y[j] = y[j] + x[i]
    }
  }
}
`)
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) { compile(t, l, emit(t, f), llvm.O3) })
}
