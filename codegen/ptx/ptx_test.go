package ptx_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everyLLVM loads every version of LLVM installed.
func everyLLVM(t *testing.T) []*llvm.LLVM {
	t.Helper()
	var all []*llvm.LLVM
	seen := map[string]bool{}
	for _, c := range llvm.Find() {
		l, err := llvm.Load(c.Path)
		if err != nil || seen[l.Version().String()] {
			continue
		}
		seen[l.Version().String()] = true
		all = append(all, l)
	}
	if len(all) == 0 {
		t.Skip("no LLVM found: " + llvm.Install)
	}
	return all
}

// targets are the oldest and the newest architecture, as far as l knows it.
func targets(t testing.TB, l *llvm.LLVM) []llvm.Target {
	t.Helper()
	var all []llvm.Target
	for _, capability := range []int{ptx.Oldest, 90} {
		cpu, err := ptx.CPU(capability, l.Version().Major)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, llvm.Target{Triple: ptx.Triple, CPU: cpu})
	}
	return all
}

func parse(t testing.TB, src string) *loop.Func {
	t.Helper()
	f, err := loop.ParseFunc(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return f
}

// TestGolden translates testdata/x.loop, compares the module with testdata/x.ll, and
// looks in the PTX that every LLVM makes of it for what lines "// ptx: REGEXP" of the
// source ask for, and "// not ptx: REGEXP" forbid.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.loop")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	type module struct{ name, source, text string }
	var modules []module
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".loop")
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ptx.Emit(name, []*loop.Func{parse(t, string(src))}, nil)
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, module{name, string(src), got})
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
	}
	for _, l := range everyLLVM(t) {
		for _, target := range targets(t, l) {
			t.Run(fmt.Sprintf("llvm%d/%s", l.Version().Major, target.CPU), func(t *testing.T) {
				for _, m := range modules {
					assembly := assemble(t, l, m.text, target)
					for line := range strings.SplitSeq(m.source, "\n") {
						if re, ok := strings.CutPrefix(line, "// ptx: "); ok && !regexp.MustCompile(re).MatchString(assembly) {
							t.Errorf("%s: nothing matches %s in\n%s", m.name, re, assembly)
						}
						if re, ok := strings.CutPrefix(line, "// not ptx: "); ok {
							if found := regexp.MustCompile(re).FindString(assembly); found != "" {
								t.Errorf("%s: %q matches %s in\n%s", m.name, found, re, assembly)
							}
						}
					}
				}
			})
		}
	}
}

// assemble verifies a module and makes PTX of it, quickly and then with care, which it returns.
func assemble(t interface {
	Helper()
	Fatalf(string, ...any)
}, l *llvm.LLVM, text string, target llvm.Target) string {
	t.Helper()
	if err := l.Verify(text); err != nil {
		t.Fatalf("LLVM %v: %v\n%s", l.Version(), err, text)
	}
	var assembly string
	for _, level := range []llvm.Level{llvm.Quick, llvm.O3} {
		var err error
		if assembly, err = l.EmitAssembly(text, llvm.Options{Target: target, Level: level}); err != nil {
			t.Fatalf("LLVM %v: %v\n%s", l.Version(), err, text)
		}
	}
	return assembly
}

// The examples of grid functions in the README of the loop language become PTX.
func TestReadmeExamples(t *testing.T) {
	text, err := os.ReadFile("../../ir/loop/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples []*loop.Func
	for _, part := range strings.Split(string(text), "```") {
		if part = strings.TrimPrefix(part, "\n"); strings.HasPrefix(part, "func ") && strings.Contains(part, ") grid threads ") {
			examples = append(examples, parse(t, part))
		}
	}
	if len(examples) < 3 {
		t.Fatalf("%d examples", len(examples))
	}
	module, err := ptx.Emit("examples", examples, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range everyLLVM(t) {
		for _, target := range targets(t, l) {
			assembly := assemble(t, l, module, target)
			for _, f := range examples {
				if !strings.Contains(assembly, ".entry "+f.Name+"(") {
					t.Errorf("LLVM %v: no entry %s", l.Version(), f.Name)
				}
			}
		}
	}
}

// onGrid makes a grid function of an ordinary one: each block is a chunk.
func onGrid(f *loop.Func) *loop.Func {
	out := *f
	out.Grid = &loop.Grid{Threads: 32}
	out.Chunk, out.Lo, out.Hi = loop.NoVar, loop.NoVar, loop.NoVar
	out.Body = append([]loop.Stmt{
		&loop.Let{Var: f.Chunk, Value: &loop.Special{Reg: loop.BlockIndex}},
		&loop.Let{Var: f.Lo, Value: &loop.Special{Reg: loop.ThreadIndex}},
		&loop.Let{Var: f.Hi, Value: &loop.Special{Reg: loop.BlockCount}},
	}, f.Body...)
	return loop.Compact(&out)
}

// LLVM takes random functions, and makes PTX of them without anything that PTX has
// no place for.
func TestRandomFunctions(t *testing.T) {
	all := everyLLVM(t)
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(all).Draw(t, "LLVM")
		f := looptest.DrawGrid(t).Func
		if rapid.Bool().Draw(t, "chunks") {
			f = onGrid(looptest.Func(t))
		}
		module, err := ptx.Emit("random", []*loop.Func{f}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		targets := []llvm.Target{{Triple: ptx.Triple, CPU: "sm_70"}}
		if cpu, err := ptx.CPU(90, l.Version().Major); err == nil && cpu != "sm_70" {
			targets = append(targets, llvm.Target{Triple: ptx.Triple, CPU: cpu})
		}
		assembly := assemble(t, l, module, rapid.SampledFrom(targets).Draw(t, "target"))
		if !strings.Contains(assembly, ".entry "+f.Name+"(") {
			t.Fatalf("no entry in\n%s", assembly)
		}
	})
}

// Every function of the mathematical library becomes PTX, without calls of what
// only a CPU's libraries have.
func TestLibrary(t *testing.T) {
	var funcs []*loop.Func
	for _, name := range lib.Names() {
		s, _ := lib.Lookup(name)
		b := loop.NewGridBuilder("apply_"+name, 32)
		i := b.Special(loop.ThreadIndex)
		var args []loop.Expr
		for k, id := range s.Args {
			args = append(args, b.Load(b.Buf(fmt.Sprint("x", k), s.Vars[id].Type, loop.ReadOnly), i))
		}
		b.Store(b.Buf("y", s.Result, loop.ReadWrite), i, b.Call(name, s.Result, args...))
		funcs = append(funcs, b.Func())
	}
	module, err := ptx.Emit("library", funcs, lib.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range everyLLVM(t) {
		assembly := assemble(t, l, module, targets(t, l)[0])
		if external := regexp.MustCompile(`\.extern.*`).FindString(assembly); external != "" {
			t.Errorf("LLVM %v: the PTX wants %s", l.Version(), external)
		}
		if fused := regexp.MustCompile(`\bfma\..*`).FindString(assembly); fused != "" {
			t.Errorf("LLVM %v: %s", l.Version(), fused)
		}
	}
}

func TestErrors(t *testing.T) {
	uneven := parse(t, "func f() grid threads 32 {\nif lane() == 0 {\nbarrier\n}\n}\n")
	chunks := parse(t, "func f() chunk c, lo, hi {\n}\n")
	fine := parse(t, "func f() grid threads 32 {\n}\n")
	for _, c := range []struct {
		funcs []*loop.Func
		want  string
	}{
		{[]*loop.Func{uneven}, "not all threads of the block may come here"},
		{[]*loop.Func{chunks}, "function f is not for a grid"},
		{[]*loop.Func{fine, fine}, "two functions are called f"},
	} {
		if _, err := ptx.Emit("test", c.funcs, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestCPU(t *testing.T) {
	for _, c := range []struct {
		capability, llvm int
		want             string
	}{
		{70, 14, "sm_70"}, {75, 22, "sm_75"}, {90, 22, "sm_90"}, {90, 14, "sm_86"}, {120, 22, "sm_90"}, {61, 22, ""},
	} {
		got, err := ptx.CPU(c.capability, c.llvm)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("compute capability %d, LLVM %d: %q, %v; want %q", c.capability, c.llvm, got, err, c.want)
		}
	}
}

// Parts have every function once, the large ones apart.
func TestSplit(t *testing.T) {
	functions := map[rune]*loop.Func{
		'l': parse(t, "func large(y: []i64) grid threads 64 {\n"+strings.Repeat("  y[0] = 1\n", 20)+"}\n"),
		's': parse(t, "func small(y: []i64) grid threads 64 {\n  y[0] = 1\n}\n"),
	}
	for _, c := range []struct {
		funcs string
		n     int
		want  string
	}{
		{"", 4, "[[]]"}, {"s", 4, "[[0]]"}, {"sls", 2, "[[1] [0 2]]"}, {"lsls", 3, "[[0] [2] [1 3]]"}, {"ll", 1, "[[0 1]]"},
	} {
		var funcs []*loop.Func
		for _, f := range c.funcs {
			funcs = append(funcs, functions[f])
		}
		if got := fmt.Sprint(ptx.Split(funcs, c.n)); got != c.want {
			t.Errorf("%s in %d parts: %s, want %s", c.funcs, c.n, got, c.want)
		}
	}
}

// A function knows of those before it that may fail, which are in other parts.
func TestPartsAfterFailure(t *testing.T) {
	failing := parse(t, "func failing(x: []i64) grid threads 64 {\n  if x[0] < 0 {\n    fail 0 \"negative\"\n  }\n}\n")
	after := parse(t, "func after(y: []i64) grid threads 64 {\n  y[0] = 1\n}\n")
	for _, c := range []struct {
		funcs []*loop.Func
		part  int
		looks bool
	}{
		{[]*loop.Func{failing, after}, 1, true}, {[]*loop.Func{after, failing}, 0, false},
	} {
		text, err := ptx.EmitPart("part", c.funcs, []int{c.part}, lib.Lookup)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "@failing") || !strings.Contains(text, "@after") || strings.Contains(text, "failed.before") != c.looks {
			t.Errorf("part %d is\n%s", c.part, text)
		}
	}
}
