package exec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file has the functions that a GPU runs first, while better code is compiled (runtime/tiers.go), and compares them with testdata.

// What a first call on a GPU waits for grows with the largest function. The table
// testdata/quick.txt has those of the programs that are measured: how many statements each has, and the one that
// stands in for it while it is compiled ("-" where none does), and a bound on the lines of PTX that LLVM makes
// of what is compiled first. A change of a number is a change of the time of first calls.
func TestQuickFunctions(t *testing.T) {
	const golden = "testdata/quick.txt"
	l, err := llvm.Load("")
	if err != nil && *update {
		t.Fatal("the bounds need LLVM: ", err)
	}
	if l != nil && l.Version().Major < 16 {
		l = nil // it does not know the devices that the bounds are for, and makes more of loops
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tfunction\tstatements\tquick\tPTX lines at most\t")
	bounds := readBounds(t, golden)
	for _, c := range quickCases(t) {
		seen := map[string]bool{}
		for _, f := range gridFuncs(c.programs) {
			quick, first := "-", f
			if f.Quick != nil {
				quick, first = fmt.Sprint(f.Quick.Stats().Statements), f.Quick
			}
			size := f.Stats().Statements
			if f.Quick == nil && size < 100 || seen[first.String()] {
				continue // small, or alike
			}
			seen[first.String()] = true
			key := fmt.Sprint(c.name, " ", f.Name, " ", size, " ", quick)
			bound := bounds[key]
			if l != nil {
				lines := ptxLines(t, l, first)
				if *update {
					bound = (lines + lines/10 + 49) / 50 * 50
				}
				if bound > 0 && lines > bound {
					t.Errorf("%s: %d lines of PTX, more than %d", key, lines, bound)
				}
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t\n", c.name, f.Name, size, quick, bound)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, table.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(filepath.FromSlash(golden))
	if err != nil {
		t.Fatal(err)
	}
	if got := table.String(); got != string(want) {
		t.Errorf("the functions are\n%s\nnot\n%s\n(run with -update if that is meant)", got, want)
	}
}

// readBounds are the bounds of the table, by what stands before them.
func readBounds(t *testing.T, path string) map[string]int {
	data, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	bounds := map[string]int{}
	for line := range strings.Lines(string(data)) {
		words, n := strings.Fields(line), 0
		if len(words) != 5 {
			continue // the head
		}
		if _, err := fmt.Sscan(words[4], &n); err != nil {
			t.Fatal(err)
		}
		bounds[strings.Join(words[:4], " ")] = n
	}
	return bounds
}

// ptxLines is how many lines of PTX are made of a function that is compiled quickly.
func ptxLines(t *testing.T, l *llvm.LLVM, f *loop.Func) int {
	text, err := ptx.Emit("program", []*loop.Func{f}, lib.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	target, err := ptx.CPU(ptx.Oldest, l.Version().Major)
	if err != nil {
		t.Fatal(err)
	}
	assembly, err := l.EmitAssembly(text, llvm.Options{Target: llvm.Target{Triple: ptx.Triple, CPU: target}, Level: llvm.Quick})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(assembly, "\n")
}

// gridFuncs are the functions that a GPU runs.
func gridFuncs(programs []*loop.Program) (list []*loop.Func) {
	for _, p := range programs {
		mapped := gpu.Map(p, gpu.Options{})
		for i := range mapped.Stages {
			if f := mapped.Stages[i].Func; f != nil {
				list = append(list, f)
			}
		}
	}
	return list
}

type quickCase struct {
	name     string
	programs []*loop.Program
}

// quickCases are programs of bench/gpu.
func quickCases(t *testing.T) (list []quickCase) {
	s := NewSession(WithEngine(runtime.Simulated()))
	d1, d2, f32, f64 := tensor.Dense(1), tensor.Dense(2), tensor.Float32, tensor.Float64
	for _, c := range []struct {
		name, text string
		options    []Option
	}{
		{"spmv", "y(i) = A(i,j)*x(j)", []Option{Format("A", tensor.CSR, f64), Format("x", d1, f64)}},
		{"spmm", "C(i,k) = A(i,j)*B(j,k)", []Option{Format("A", tensor.CSR, f64), Format("B", d2, f64)}},
		{"sddmm", "D(i,j) = A(i,j)*sum_k B(i,k)*C(j,k)", []Option{Format("A", tensor.CSR, f32), Format("B", d2, f32), Format("C", d2, f32), Format("D", tensor.CSR, f32)}},
		{"add", "C(i,j) = A(i,j)+B(i,j)", []Option{Format("A", tensor.CSR, f64), Format("B", tensor.CSR, f64), Format("C", tensor.CSR, f64)}},
		{"sumcols", "y(j) = sum_i A(i,j)", []Option{Format("A", tensor.CSR, f64), Format("y", d1, f64)}},
		{"shuffled", "y(i) = sum_j A(i,j)", []Option{Format("A", tensor.COO, f64), Format("y", d1, f64)}},
		{"spgemm", "C(i,k) = A(i,j)*B(j,k)", []Option{Format("A", tensor.CSR, f64), Format("B", tensor.CSR, f64), Format("C", tensor.CSR, f64)}},
		{"cumsum", "y(i,j) = cumsum_j x(i,j)", []Option{Format("x", d2, f32)}},
		{"logcumsumexp", "y(i,j) = logcumsumexp_j x(i,j)", []Option{Format("x", d2, f32)}},
		{"softmax", "t(i) = logsumexp_j x(i,j); y(i,j) = exp(x(i,j) - t(i))", []Option{Format("x", d2, f32)}},
		{"quantile", "y(i) = quantile_j(x(i,j), 0.5)", []Option{Format("x", d2, f32)}},
		{"quantile-csr", "y(i) = quantile_j(A(i,j), 0.5)", []Option{Format("A", tensor.CSR, f32)}},
		{"sort", "y(i,j) = sort_j x(i,j)", []Option{Format("x", d2, f32)}},
		{"scatter", "y(p(i)) += x(i)", []Option{Format("x", d1, f64), Format("y", d1, f64), Format("p", d1, tensor.Int64)}},
	} {
		k, err := s.Compile(t.Context(), c.text, c.options...)
		if err != nil {
			t.Fatal(c.name, ": ", err)
		}
		var programs []*loop.Program
		for _, st := range k.steps {
			if step, ok := st.plan.(*ir.Convert); ok {
				order := convert.Stored
				if c.name == "shuffled" { // sorted first; the rest is in other cases
					order, step.To.Format = convert.Unordered, step.From.Format
				}
				programs = append(programs, largeConversion(t, step, order))
			} else if v := st.latest.Load(); v != nil {
				programs = append(programs, v.Lower.Program)
			}
		}
		list = append(list, quickCase{c.name, slices.Clip(programs)})
	}
	return list
}

// largeConversion is a conversion of many entries on grids.
func largeConversion(t *testing.T, c *ir.Convert, order convert.EntryOrder) *loop.Program {
	data := convert.Data{Shape: []int64{1 << 20, 1 << 20}, Entries: 1 << 24, DType: c.From.DType, Order: order, Grids: true}
	path, ok := convert.ChoosePath(c.From.Format, c.To.Format, data)
	if !ok {
		t.Fatalf("%s to %s: no path", c.From.Format, c.To.Format)
	}
	low, err := convert.Lower(c.From, c.To, usualTypes{}, convert.Options{Path: path, Entries: order, Grids: true})
	if err != nil {
		t.Fatal(err)
	}
	return low.Program
}

// usualTypes are the types of index arrays that are not special.
type usualTypes struct{}

func (usualTypes) IndexType(*ir.Tensor, int, emit.ArrayKind) tensor.DType { return tensor.Uint32 }
