package aot_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/testing/difftest"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// describe links a program for a GPU, which needs no LLVM, and reads its description.
func describe(t testing.TB, src string, opts ...lacuna.Option) (*aot.Program, *jsonDescription) {
	t.Helper()
	p, err := lacuna.Link(t.Context(), src, lacuna.BuildOptions{Name: "k", Target: aot.GPU}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	u := &aot.Unit{Program: p, Target: aot.Target{Triple: aot.GPU, CPUs: []string{"sm_70"}}}
	data, err := u.File("dir/k.json")
	if err != nil {
		t.Fatal(err)
	}
	d := parseDescription(t, data)
	if d.Format != "lacuna-ptx" || d.Version != aot.DescriptionVersion || d.Name != "k" || d.PTX != "k.ptx" || d.Program != src {
		t.Errorf("the description begins with %q, version %d, %q, %q, %q", d.Format, d.Version, d.Name, d.PTX, d.Program)
	}
	return p, d
}

// TestDescription runs programs as their descriptions say, on grids of the interpreter,
// and compares the results with those of a session, bit for bit.
func TestDescription(t *testing.T) {
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for _, c := range cases {
		name := c.src
		opts := c.opts
		for _, o := range c.operands {
			name += " " + o.name + ":" + o.format
			opts = append(opts, lacuna.Format(o.name, format(t, o.format, len(o.shape)), o.dt))
		}
		t.Run(name, func(t *testing.T) {
			p, d := describe(t, c.src, opts...)
			l := newLauncher(t, p, d)
			r := rand.New(rand.NewPCG(1, 2))
			for _, scale := range []int64{0, 1, 2} {
				args := map[string]*tensor.Tensor{}
				forSession := lacuna.Args{}
				for _, o := range c.operands {
					var shape []int64
					for _, n := range o.shape {
						shape = append(shape, []int64{0, 1, n}[scale])
					}
					args[o.name] = random(t, r, format(t, o.format, len(o.shape)), o.dt, 0.2, shape...)
					forSession[o.name] = args[o.name]
				}
				want, wantErr := session.EvalAll(context.Background(), c.src, forSession, c.opts...)
				got, err := l.run(args)
				if wantErr != nil || err != nil {
					if wantErr == nil || err == nil {
						t.Fatalf("scale %d: error %v, want %v", scale, err, wantErr)
					}
					continue
				}
				for name, w := range want {
					same(t, name, got[name], w)
				}
			}
		})
	}
}

// TestRandomDescriptions runs random programs as their descriptions say.
func TestRandomDescriptions(t *testing.T) {
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()))
	ran := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*randomSeeds)/2; seed++ {
		c := difftest.New(seeded{rand.New(rand.NewPCG(seed, 11))})
		if len(c.Stored) > 0 {
			continue
		}
		opts, args := c.Options(), lacuna.Args{}
		for name, x := range c.Operands {
			plain, err := x.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			c.Operands[name], args[name] = plain, plain
			opts = append(opts, lacuna.Operand(name, plain))
		}
		want, wantErr := session.EvalAll(context.Background(), c.Text, args, c.Options()...)
		p, err := lacuna.Link(t.Context(), c.Text, lacuna.BuildOptions{Name: "k", Target: aot.GPU}, opts...)
		if err != nil {
			var unsupported *aot.UnsupportedError
			if wantErr == nil && !errors.As(err, &unsupported) {
				t.Fatalf("seed %d: %v\n%s", seed, err, c)
			}
			continue
		}
		u := &aot.Unit{Program: p, Target: aot.Target{Triple: aot.GPU, CPUs: []string{"sm_70"}}}
		data, err := u.File("k.json")
		if err != nil {
			t.Fatal(err)
		}
		ran++
		got, err := newLauncher(t, p, parseDescription(t, data)).run(c.Operands)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("seed %d: error %v, want %v\n%s", seed, err, wantErr, c)
		}
		if err != nil {
			continue
		}
		for name, w := range want {
			same(t, name, got[name], w)
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, c)
		}
	}
	if ran < *randomSeeds/6 {
		t.Errorf("%d of %d programs ran", ran, *randomSeeds/2)
	}
}

// A kernel that fails is reported with its message, whatever runs after it.
func TestDescriptionFails(t *testing.T) {
	x, p := lacuna.Format("x", tensor.Dense(1), tensor.Float64), lacuna.Format("p", tensor.Dense(1), tensor.Int64)
	program, d := describe(t, "z(i) = x(p(i)); y(i) = exp(z(i))", x, p)
	if d.Status == 0 {
		t.Error("there are no status words")
	}
	l := newLauncher(t, program, d)
	values, err := tensor.FromCoords([]int64{3}, tensor.Dense(1), [][]int64{{0, 1, 2}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range []int64{2, 3} {
		places, err := tensor.FromCoords([]int64{3}, tensor.Dense(1), [][]int64{{0, 1, 2}}, tensor.ArrayOf([]int64{0, 1, last}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.run(map[string]*tensor.Tensor{"x": values, "p": places})
		if (err != nil) != (last == 3) {
			t.Errorf("place %d: error %v", last, err)
		}
		if err != nil && !strings.Contains(err.Error(), "outside that axis") {
			t.Errorf("the error is %v", err)
		}
	}
}

// PTX has every kernel of the description, and is the same every time.
func TestPTX(t *testing.T) {
	llvm := needLLVM(t)
	a, b := lacuna.Format("A", tensor.CSR, f64), lacuna.Format("B", tensor.CSR, f64)
	for n, src := range []string{"y(i) = A(i,j)*B(j,i)", "C(i,j) = A(i,j) + B(i,j)", "C(i,j) = sum_k A(i,k)*B(k,j)", "C(i,j) = A(i,j) + B(j,i)"} {
		cpus := ptx.CPUs(llvm.Version().Major)
		if src != "C(i,j) = A(i,j) + B(i,j)" {
			cpus = cpus[:1]
		}
		for k, cpu := range cpus {
			if testengine.Thin(4, k) {
				continue
			}
			o := lacuna.BuildOptions{Name: "k", Target: aot.GPU, CPU: cpu}
			u, err := lacuna.Build(t.Context(), src, o, a, b)
			if err != nil {
				t.Fatal(err)
			}
			files, err := u.Files("k.ptx")
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != 2 || files[0].Name != "k.ptx" || files[1].Name != "k.json" {
				t.Fatalf("files %v", files)
			}
			text, d := string(files[0].Data), parseDescription(t, files[1].Data)
			if !strings.Contains(text, ".target "+cpu) || d.Target != cpu {
				t.Errorf("%s: not for %s", src, cpu)
			}
			kernels := 0
			for _, s := range d.Stages {
				if s.Kernel == nil {
					continue
				}
				kernels++
				if !strings.Contains(text, ".entry "+s.Kernel.Name+"(") {
					t.Errorf("%s: the PTX has no kernel %s", src, s.Kernel.Name)
				}
			}
			if n := strings.Count(text, ".entry "); n != kernels || n == 0 {
				t.Errorf("%s: the PTX has %d kernels, the description %d", src, n, kernels)
			}
			if testengine.Thin(4, n, k) {
				continue
			}
			again, err := lacuna.Build(t.Context(), src, o, a, b)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := again.Files("k.ptx")
			if err != nil {
				t.Fatal(err)
			}
			for i := range files {
				if !bytes.Equal(files[i].Data, twice[i].Data) {
					t.Errorf("%s: %s differs from build to build", src, files[i].Name)
				}
			}
		}
	}
}

func TestPTXErrors(t *testing.T) {
	needLLVM(t)
	a := lacuna.Format("A", tensor.CSR, f64)
	for cpu, want := range map[string]string{"sm_70,sm_80": "one architecture", "sm_10": "unknown architecture", "native": "sm_70, sm_75"} {
		_, err := lacuna.Build(t.Context(), "y(i) = A(i,j)", lacuna.BuildOptions{Name: "k", Target: aot.GPU, CPU: cpu}, a)
		var e *aot.TargetError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("--cpu %s: error %v, want %s", cpu, err, want)
		}
	}
	for target, paths := range map[string][]string{aot.GPU: {"k.o", "k.h", "k.ll", "k.s", "k.a", "k.so"}, "": {"k.ptx", "k.json"}} {
		u, err := lacuna.Build(t.Context(), "y(i) = A(i,j)", lacuna.BuildOptions{Name: "k", Target: target}, a)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			var e *aot.TargetError
			if _, err := u.File(path); !errors.As(err, &e) {
				t.Errorf("target %q, %s: error %v", target, path, err)
			}
		}
		if target == aot.GPU {
			if _, err := u.Report(); err == nil {
				t.Error("there is a report of a kernel for a GPU")
			}
		}
	}
}
