package levels_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// formats are those of a rank that have a level of the kind, in the order of the axes.
func formats(kind tensor.LevelKind, rank int) []tensor.Format {
	lists := [][]tensor.LevelKind{nil}
	for range rank {
		var longer [][]tensor.LevelKind
		for _, list := range lists {
			for _, k := range tensor.LevelKinds() {
				longer = append(longer, append(slices.Clone(list), k))
			}
		}
		lists = longer
	}
	var out []tensor.Format
	for _, list := range lists {
		if f, err := tensor.FormatOf(list, nil); err == nil && slices.Contains(f.Levels(), kind) && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// eachKind runs a test for every kind of level that there is.
func eachKind(t *testing.T, test func(t *testing.T, kind tensor.LevelKind)) {
	if len(tensor.LevelKinds()) < 5 {
		t.Fatalf("the kinds are %v: the bitmap is missing", tensor.LevelKinds())
	}
	for _, kind := range tensor.LevelKinds() {
		t.Run(kind.String(), func(t *testing.T) { test(t, kind) })
	}
}

// some draws a tensor that stores small integers in a format.
func some(t *rapid.T, name string, f tensor.Format, shape []int64) *tensor.Tensor {
	coords, values := make([][]int64, len(shape)), []float64{}
	for range rapid.IntRange(0, 12).Draw(t, name+" entries") {
		for axis, n := range shape {
			coords[axis] = append(coords[axis], rapid.Int64Range(0, n-1).Draw(t, "c"))
		}
		values = append(values, float64(rapid.IntRange(1, 5).Draw(t, "v")))
	}
	out, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatalf("%v of %v: %v", f, shape, err)
	}
	return out
}

func shapeOf(t *rapid.T, rank int) []int64 {
	shape := make([]int64, rank)
	for axis := range shape {
		shape[axis] = rapid.SampledFrom([]int64{1, 2, 3, 16, 17, 33}).Draw(t, "extent")
	}
	return shape
}

// convert stores a tensor in another format.
func convert(t *rapid.T, a *tensor.Tensor, f tensor.Format) *tensor.Tensor {
	out, err := a.Convert(f)
	if err != nil {
		t.Fatalf("%v to %v: %v", a.Format(), f, err)
	}
	return out
}

// TestSchema checks what a kind of level states: storing and reading entries, locating them, going through them, counting
// them, and refusing arrays that are not right.
func TestSchema(t *testing.T) {
	eachKind(t, func(t *testing.T, kind tensor.LevelKind) {
		rapid.Check(t, func(t *rapid.T) {
			first := 1
			if len(formats(kind, 1)) == 0 {
				first = 2
			}
			rank := rapid.IntRange(first, 3).Draw(t, "rank")
			f := rapid.SampledFrom(formats(kind, rank)).Draw(t, "format")
			if again, err := tensor.ParseFormat(f.String(), rank); err != nil || again != f {
				t.Fatalf("%v is read as %v: %v", f, again, err)
			}
			a := some(t, "A", f, shapeOf(t, rank))
			list := convert(t, a, tensor.Coordinates(rank))
			// Blocks that become lists lose their zeros.
			if back := convert(t, list, f); !f.Physical()[rank-1].Full() {
				if d := tensor.Diff(back, a); d != "" {
					t.Fatalf("by a list and back: %s", d)
				}
			}
			coords, _, err := a.ToCoords()
			if err != nil {
				t.Fatal(err)
			}
			at := a.Window().Coords(0, int(a.NNZ()))
			for axis := range coords {
				if !slices.Equal(coords[axis], at[axis]) {
					t.Fatalf("axis %d: the window has %v, the list %v", axis, at[axis], coords[axis])
				}
			}
			for i := range int(list.NNZ()) {
				c := make([]int64, rank)
				for axis := range c {
					c[axis] = list.LevelAt(axis).Crd.At64(i)
				}
				if x := a.At(c...); x != list.At(c...) {
					t.Fatalf("the element at %v is %v, want %v", c, x, list.At(c...))
				}
			}
			dense, elsewhere := convert(t, a, tensor.Dense(rank)), convert(t, list, tensor.Dense(rank))
			if d := tensor.Diff(dense, elsewhere); d != "" {
				t.Fatalf("dense: %s", d)
			}
			if s, ok := a.Statistics(); !ok || s.Entries != float64(a.NNZ()) {
				t.Fatalf("the statistics are %v of %d entries", s, a.NNZ())
			}
			for l := range rank {
				if _, err := a.FibreLengths(l); err != nil {
					t.Fatalf("fibres of level %d: %v", l, err)
				}
			}
			hostile(t, a)
		})
	})
}

// hostile changes one element of one index array: that is refused, or makes another tensor that can be read.
func hostile(t *rapid.T, a *tensor.Tensor) {
	levels := a.Levels()
	if _, err := tensor.New(a.Shape(), a.Format(), levels, a.Values()); err != nil {
		t.Fatalf("its own arrays are refused: %v", err)
	}
	k := rapid.IntRange(0, len(levels)-1).Draw(t, "level")
	from := &levels[k].Crd
	if levels[k].HasPos() && rapid.Bool().Draw(t, "pos") {
		from = &levels[k].Pos
	}
	if from.Len() == 0 {
		return
	}
	elements := make([]uint64, from.Len())
	for i := range elements {
		elements[i] = uint64(from.At64(i))
	}
	i := rapid.IntRange(0, len(elements)-1).Draw(t, "element")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		elements[i] = rapid.Uint64().Draw(t, "value")
	case 1:
		elements[i] ^= 1 << rapid.IntRange(0, 20).Draw(t, "bit")
	default:
		elements = elements[:i]
	}
	*from = tensor.ArrayOf(elements)
	b, err := tensor.New(a.Shape(), a.Format(), levels, a.Values())
	if err != nil {
		return
	}
	coords, _, err := b.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	for axis, list := range coords {
		for _, c := range list {
			if c < 0 || c >= a.Shape()[axis] {
				t.Fatalf("coordinate %d of axis %d got in: %v", c, axis, elements)
			}
		}
	}
	if again, err := tensor.New(b.Shape(), b.Format(), b.Levels(), b.Values()); err != nil || tensor.Diff(again, b) != "" {
		t.Fatalf("what was taken is refused: %v", err)
	}
}

// programs are of one operand, or of two of one shape, in whose place A and B stand.
var programs = map[int][]string{
	1: {"y(i) = 2*A(i)", "s = sum_i A(i)", "y(i) = A(i)+B(i)", "y(i) = A(i)*B(i)", "s = max_i A(i)", "s = max_{i in A} (A(i)*B(i)-9)", "y(i) = A(i+1)+A(2*i)", "y(i) = exp(A(i))"},
	2: {"Y(i,j) = 2*A(i,j)", "y(i) = sum_j A(i,j)", "y(j) = sum_i A(i,j)", "Y(i,j) = A(i,j)+B(i,j)", "Y(i,j) = A(i,j)*B(i,j)", "y(i) = min_j A(i,j)",
		"Y(i,j) = A(i,k)*B(j,k)", "Y(j,i) = A(i,j)", "Y(i,j) = A(i,j)", "s = sum_{i,j} A(i,j)", "y(i) = max_{j in A} (A(i,j)*B(i,j)-9)", "y(i) = A(i,i)", "y(i) = median_j A(i,j)",
		"Y(i,j) = cumsum_j A(i,j)", "Y(i,j) = sort_j A(i,j)", "y(i) = argmax_j A(i,j)", "Y(i,j) = where(stored(A(i,j)), B(i,j)+1, 0)", "Y(i,j) = A(i,j) + A(j,i)"},
	3: {"Y(i,j,k) = A(i,j,k)+B(i,j,k)", "Y(i,j) = sum_k A(i,j,k)", "y(k) = sum_{i,j} A(i,j,k)", "s = max_{i,j,k} A(i,j,k)", "Y(k,i,j) = A(i,j,k)", "Y(i,l) = A(i,j,k)*B(l,j,k)"},
}

// TestCode checks that programs give the same values for operands and results with levels of a kind as for lists of
// coordinates, on each engine.
func TestCode(t *testing.T) {
	for _, engine := range testengine.All(t) {
		s := lacuna.NewSession(lacuna.WithEngine(engine))
		t.Run(engine.Name(), func(t *testing.T) {
			eachKind(t, func(t *testing.T, kind tensor.LevelKind) { checkCode(t, s, kind) })
		})
	}
}

// checkCode runs every program with one of the formats of the kind, or with all of them where tests may take long.
func checkCode(t *testing.T, s *lacuna.Session, kind tensor.LevelKind) {
	for rank := 1; rank <= 3; rank++ {
		list := formats(kind, rank)
		for i, program := range programs[rank] {
			for k, f := range list {
				if !testing.Short() || k == i%len(list) {
					t.Run(fmt.Sprintf("%s of %s", program, f), func(t *testing.T) { checkProgram(t, s, program, f) })
				}
			}
		}
	}
}

func checkProgram(t *testing.T, s *lacuna.Session, program string, f tensor.Format) {
	rapidly := rapid.Custom(func(t *rapid.T) []*tensor.Tensor {
		shape := shapeOf(t, f.Rank())
		for axis := range shape {
			shape[axis] = shape[0]
		}
		return []*tensor.Tensor{some(t, "A", f, shape), some(t, "B", f, shape)}
	})
	if blocks := f.Physical()[f.Rank()-1].Full(); blocks && strings.Contains(program, " in A") || blocks && strings.Contains(program, "stored") {
		return // a list stores less than blocks do
	}
	for seed := range 2 {
		operands := rapidly.Example(seed)
		want, err := s.Eval(context.Background(), program, only(listed(t, operands), program))
		if err != nil {
			t.Fatal(err)
		}
		args := lacuna.Args{"A": operands[0], "B": operands[1]}
		got, err := s.Eval(context.Background(), program, only(args, program))
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		if want.Rank() != f.Rank() || want.DType() != tensor.Float64 {
			continue
		}
		if got, err = s.Eval(context.Background(), program, only(args, program), lacuna.Result(result(program), f)); err != nil {
			t.Fatalf("result stored as %v: %v", f, err)
		}
		if got.Format() != f {
			t.Fatalf("the result is stored as %v, want %v", got.Format(), f)
		}
		same(t, got, want)
	}
}

// listed are the operands that a program reads, as lists of coordinates.
func listed(t *testing.T, operands []*tensor.Tensor) lacuna.Args {
	t.Helper()
	args := lacuna.Args{}
	for i, a := range operands {
		list, err := a.Convert(tensor.Coordinates(a.Rank()))
		if err != nil {
			t.Fatal(err)
		}
		args[string(rune('A'+i))] = list
	}
	return args
}

// only are the operands that a program names.
func only(args lacuna.Args, program string) lacuna.Args {
	for name := range args {
		if !strings.Contains(program, name+"(") && !strings.Contains(program, "in "+name) {
			delete(args, name)
		}
	}
	return args
}

// result is the name of a program's result.
func result(program string) string { return program[:1] }

// same checks that two tensors have the same values.
func same(t *testing.T, got, want *tensor.Tensor) {
	t.Helper()
	var dense [2]*tensor.Tensor
	for i, x := range []*tensor.Tensor{got, want} {
		var err error
		if dense[i], err = x.Convert(tensor.Dense(x.Rank())); err != nil {
			t.Fatal(err)
		}
	}
	for p := range int(dense[1].NNZ()) {
		if x, y := dense[0].Values().Scalar(p), dense[1].Values().Scalar(p); x != y && x.String() != y.String() {
			t.Fatalf("element %d is %v, want %v", p, x, y)
		}
	}
}
