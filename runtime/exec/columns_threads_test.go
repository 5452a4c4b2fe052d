package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests copies of a result that threads have each (lower/scatter/copies.go).

// threadSessions are sessions with several numbers of threads, whose chunks have few entries.
func threadSessions(t *testing.T) []*Session {
	old, grain := goruntime.GOMAXPROCS(8), debug.ChunkGrain
	debug.ChunkGrain = 5
	t.Cleanup(func() { goruntime.GOMAXPROCS(old) })
	defer func() { debug.ChunkGrain = grain }()
	var list []*Session
	for _, threads := range []int{1, 2, 3, 7} {
		list = append(list, NewSession(WithEngine(runtime.Interp()), WithThreads(threads)))
	}
	if cpu, err := runtime.CPU(); err == nil {
		list = append(list, NewSession(WithEngine(cpu), WithThreads(1)), NewSession(WithEngine(cpu), WithThreads(3)))
	}
	return list
}

// columnsFor is a matrix of a type and format with full and empty columns, and the list of
// its elements.
func columnsFor(t *testing.T, typ tensor.DType, f tensor.Format, fill float64) *tensor.Tensor {
	const rows, columns = 60, 40
	r := rand.New(rand.NewPCG(3, 3))
	var coords [2][]int64
	var values []float64
	for i := range int64(rows) {
		for j := range int64(columns) {
			if j == 7 || j%10 != 3 && r.IntN(3) == 0 {
				v := float64(r.IntN(7) - 3)
				switch {
				case typ == tensor.Uint8:
					v = float64(r.IntN(200))
				case typ == tensor.Bool:
					v = float64(r.IntN(2))
				case j == 7:
					v = -3
				case typ.IsFloat() && r.IntN(20) == 0:
					nan := math.Float64frombits(0x7ff8_0000_0000_0000 | r.Uint64()&(1<<63|1<<40)) // of either sign, with a payload or none
					v = []float64{nan, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}[r.IntN(5)]
				}
				coords[0], coords[1], values = append(coords[0], i), append(coords[1], j), append(values, v)
			}
		}
	}
	a, err := tensor.FromCoords([]int64{rows, columns}, f, coords[:], tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	cast, err := NewSession(WithEngine(runtime.Interp())).Eval(context.Background(), fmt.Sprintf("B(i,j) = %v(A(i,j))", typ), Args{"A": a}, Result("B", f))
	if err != nil {
		t.Fatal(err)
	}
	if fill == 0 {
		return cast
	}
	out, err := tensor.FromCoords([]int64{rows, columns}, f, coords[:], cast.Values(), tensor.WithFill(tensor.Float(tensor.Float64, fill).Convert(typ)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestColumnThreads compares the bits of what threads have folded into copies of a result
// with those of one thread.
func TestColumnThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var weights, vector, places []int64
	var x []float64
	for i := range int64(60) {
		weights, x = append(weights, int64(r.IntN(9)-4)), append(x, float64(r.IntN(9)-4))
		if i < 40 {
			vector = append(vector, int64(r.IntN(9)-4))
		}
	}
	for range 500 {
		places = append(places, int64(r.IntN(40)))
	}
	dense := func(a tensor.Array) *tensor.Tensor {
		d, err := tensor.FromDense([]int64{int64(a.Len())}, tensor.Dense(1), a)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	others := Args{"k": dense(tensor.ArrayOf(weights)), "x": dense(tensor.ArrayOf(x)), "y": dense(tensor.ArrayOf(vector)), "p": dense(tensor.ArrayOf(places))}
	sessions := threadSessions(t)
	formats, fills, turn := []tensor.Format{tensor.CSR, tensor.COO, tensor.DCSR}, []float64{0, 1, math.NaN()}, 0
	floats := []tensor.DType{tensor.Float64, tensor.Float32}
	ints := []tensor.DType{tensor.Int64, tensor.Int8, tensor.Uint8, tensor.Bool}
	for _, c := range []struct {
		text  string
		reads string // of the others
		types []tensor.DType
		alone bool // without copies
	}{
		{text: "y(j) = max_i A(i,j)", types: slices.Concat(floats, ints)},
		{text: "y(j) = min_i A(i,j)", types: slices.Concat(floats, ints)},
		{text: "y(j) = any_i (A(i,j) > 1)", types: slices.Concat(floats, ints)},
		{text: "y(j) = all_i (A(i,j) < 2)", types: slices.Concat(floats, ints)},
		{text: "y(j) = count_i A(i,j)", types: slices.Concat(floats, ints)},
		{text: "y(j) = sum_i A(i,j)", types: ints},
		{text: "y(j) = prod_i A(i,j)", types: ints[:3]},
		{text: "y(j) = max_i A(i,j) * x(i)", reads: "x", types: floats},
		{text: "y(j) = sum_i A(i,j) * k(i)", reads: "k", types: ints[:2]},
		{text: "y(p(i)) max= p(i)", reads: "y p", types: ints[:1]},
		{text: "y(p(i)) += p(i)", reads: "y p", types: ints[:1]},
		{text: "y(j) = sum_i A(i,j)", types: floats, alone: true},
		{text: "y(j) = prod_i A(i,j)", types: floats, alone: true},
	} {
		for _, typ := range c.types {
			// Formats and fills take turns.
			f, fill := formats[turn%3], fills[turn/3%3]
			turn++
			if fill != fill && !typ.IsFloat() || c.reads != "" {
				fill = 0 // others than 0 leave gaps that depend on i, for which A is stored by columns
			}
			args := Args{}
			if strings.Contains(c.text, "A(") {
				args["A"] = columnsFor(t, typ, f, fill)
			}
			for _, name := range strings.Fields(c.reads) {
				args[name] = others[name]
			}
			var opts []Option
			if result := c.text[:1]; args[result] == nil {
				opts = append(opts, Result(result, tensor.Dense(1)))
			}
			compareThreads(t, sessions, c.text, args, !c.alone, opts...)
		}
	}
	args := Args{"A": columnsFor(t, tensor.Float64, tensor.CSR, 0)}
	compareThreads(t, sessions, "Y(j,m) = max_i A(i,j) * A(i,m)", args, true, Result("Y", tensor.Dense(2)))
}

// compareThreads compares the results of a program. copies is whether threads may have
// copies.
func compareThreads(t *testing.T, sessions []*Session, text string, args Args, copies bool, opts ...Option) {
	t.Helper()
	var first *tensor.Tensor
	bits := map[string]string{} // by engine, the signs and payloads of NaN among them
	for n, s := range sessions {
		k, err := s.Compile(t.Context(), text, append(operandsOf(args), opts...)...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if n == 0 {
			loops, err := k.Explain("loops")
			if err != nil || strings.Contains(loops, "\n    copies ") != copies {
				t.Errorf("%s: error %v, copies in the program: %v, want %v\n%s", text, err, !copies, copies, loops)
			}
		}
		for range 3 {
			got, err := k.Run(context.Background(), args)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if first == nil {
				first = got
			} else if d := tensor.Diff(first, got); d != "" {
				t.Errorf("%s with %v: %s", text, args["A"], d)
			}
			engine, now := s.env.Engine.Name(), valueBits(got)
			if before, known := bits[engine]; known && before != now {
				t.Errorf("%s with %v on %s: %s, with another number of threads %s", text, args["A"], engine, now, before)
			}
			bits[engine] = now
		}
	}
}

// operandsOf declares operands as they are.
func operandsOf(args Args) []Option {
	var opts []Option
	for name, v := range args {
		opts = append(opts, Operand(name, v))
	}
	return opts
}

// valueBits shows the bits of floats; of other values nothing, which have one spelling each.
func valueBits(t *tensor.Tensor) string {
	var bits []uint64
	switch v := t.Values(); v.DType() {
	case tensor.Float64:
		for _, x := range tensor.View[float64](v) {
			bits = append(bits, math.Float64bits(x))
		}
	case tensor.Float32:
		for _, x := range tensor.View[float32](v) {
			bits = append(bits, uint64(math.Float32bits(x)))
		}
	}
	return fmt.Sprintf("%x", bits)
}
