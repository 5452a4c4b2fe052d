package aot_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestParseTarget(t *testing.T) {
	l := needLLVM(t)
	good := []struct{ triple, cpus, want string }{
		{"x86_64-linux-gnu", "", "x86-64"},
		{"x86_64-linux-gnu", "generic", "x86-64"},
		{"x86_64-linux-gnu", "x86-64-v1", "x86-64"},
		{"x86_64-linux-gnu", "x86-64-v2,x86-64-v4", "x86-64-v2,x86-64-v4"},
		{"aarch64-linux-gnu", "", "generic"},
		{"aarch64-linux-gnu", "neoverse-n1", "neoverse-n1"},
	}
	for _, c := range good {
		got, err := aot.ParseTarget(l, c.triple, c.cpus)
		if err != nil || strings.Join(got.CPUs, ",") != c.want {
			t.Errorf("%s %s: %v, %v, want %s", c.triple, c.cpus, got.CPUs, err, c.want)
		}
	}
	bad := []struct{ triple, cpus, want string }{
		{"sparc-sun-solaris", "", "kernels are built for"},
		{"aarch64_be-linux-gnu", "", "kernels are built for"},
		{"x86_64-linux-gnu", "foo", "unknown processor of amd64"},
		{"x86_64-linux-gnu", "neoverse-n1", "unknown processor of amd64"},
		{"x86_64-linux-gnu", "x86-64-v3,x86-64-v2", "from the least"},
		{"x86_64-linux-gnu", "x86-64-v3,x86-64-v3", "from the least"},
		{"x86_64-linux-gnu", "x86-64-v3,znver2", "levels of x86-64"},
		{"x86_64-linux-gnu", "x86-64-v3,", "is empty"},
		{"aarch64-linux-gnu", "cortex-a53,cortex-a72", "levels of x86-64"},
	}
	for _, c := range bad {
		_, err := aot.ParseTarget(l, c.triple, c.cpus)
		var target *aot.TargetError
		if !errors.As(err, &target) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want one with %q", c.triple, c.cpus, err, c.want)
		}
	}
}

// TestProcessors compiles for every processor of the tables: LLVM gives up on code for
// one that has no 64 bits, and would complain of a name that it does not know.
func TestProcessors(t *testing.T) {
	l := needLLVM(t)
	p, err := lacuna.Link(t.Context(), "y(i) = floor(x(i))", lacuna.BuildOptions{Name: "k"}, lacuna.Format("x", tensor.Dense(1), f64))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ triple, cpu string }{{"x86_64-linux-gnu", "core2"}, {"x86_64-linux-gnu", "penryn"}, {"x86_64-linux-gnu", "barcelona"}, {"aarch64-linux-gnu", "a64fx"}} {
		target, err := aot.ParseTarget(l, c.triple, c.cpu)
		if err != nil {
			t.Fatal(err)
		}
		object, err := (&aot.Unit{Program: p, Target: target, LLVM: l}).Object()
		if err != nil {
			t.Fatal(err)
		}
		if undefined, err := undefinedSymbols(object); err != nil || len(undefined) > 0 {
			t.Errorf("%s: %v %v", c.cpu, undefined, err)
		}
	}
}

// TestDispatch runs kernels that hold several levels of x86-64.
func TestDispatch(t *testing.T) {
	l := needLLVM(t)
	host, err := aot.ParseTarget(l, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if host.Arch() != "amd64" {
		t.Skip("levels are of x86-64")
	}
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	r := rand.New(rand.NewPCG(3, 4))
	const src = "B(i,j) = floor(exp(A(i,j))) + x(i)"
	args := map[string]*tensor.Tensor{"A": random(t, r, tensor.CSR, f64, 0.3, 20, 30), "x": random(t, r, tensor.Dense(1), f64, 1, 20)}
	want, err := session.Eval(context.Background(), src, lacuna.Args{"A": args["A"], "x": args["x"]})
	if err != nil {
		t.Fatal(err)
	}
	for _, cpus := range []string{"x86-64", "x86-64,x86-64-v2,x86-64-v3,x86-64-v4", "x86-64,x86-64-v4", "x86-64-v2,x86-64-v3"} {
		p, err := lacuna.Link(t.Context(), src, lacuna.BuildOptions{Name: "k"}, lacuna.Format("A", tensor.CSR, f64), lacuna.Format("x", tensor.Dense(1), f64))
		if err != nil {
			t.Fatal(err)
		}
		target, err := aot.ParseTarget(l, host.Triple, cpus)
		if err != nil {
			t.Fatal(err)
		}
		k := loadFor(t, l, p, target)
		for range 2 { // the level is found out once
			got, err := k.run(args, 0)
			if err != nil {
				t.Fatal(err)
			}
			same(t, cpus, got["B"], want)
		}
	}
}

// TestWriteFile checks that a file appears whole or not at all.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.o")
	for _, text := range []string{"one", "another"} {
		if err := aot.WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := aot.WriteFile(filepath.Join(dir, "missing", "x.o"), nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "missing/x.o:") {
		t.Errorf("error %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.o"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := aot.WriteFile(filepath.Join(dir, "d.o"), nil); err == nil {
		t.Error("a directory was overwritten")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}
