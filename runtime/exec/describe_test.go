package exec

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// there is a tensor that only the device of a session has: a result that stays on it.
func there(t *testing.T, s *Session, x *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	on, err := s.ToDevice(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := on.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		if a.Remote() == nil {
			return a, nil
		}
		return tensor.RemoteArray(a.DType(), a.Len(), a.Remote()), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return alone
}

// TestStatisticsOnDevice compares what a device finds out about a tensor with what this process does.
func TestStatisticsOnDevice(t *testing.T) {
	ctx := context.Background()
	s := NewSession(WithEngine(runtime.Simulated()), WithResidentResults(), WithConversionKernels())
	host := NewSession(WithEngine(runtime.Interp()))
	r := rand.New(rand.NewPCG(3, 4))
	banded := func(f tensor.Format) *tensor.Tensor {
		var at [2][]int64
		var values []float64
		for i := range int64(300) {
			at[0], at[1] = append(at[0], i, i), append(at[1], i, min(i+1+r.Int64N(3), 299))
			values = append(values, 1, 2)
		}
		x, err := tensor.FromCoords([]int64{300, 300}, f, at[:], tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	dense := func(values ...float64) *tensor.Tensor {
		x, err := tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	vector, err := tensor.ParseFormat("S", 1)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := tensor.ParseFormat("C-S-D", 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*tensor.Tensor{
		"CSR":         sparseLine(t, 40*30, []int64{40, 30}, tensor.CSR, tensor.Float64, 0),
		"CSC":         sparseLine(t, 40*30, []int64{40, 30}, tensor.CSC, tensor.Float32, 0),
		"DCSR":        sparseLine(t, 40*30, []int64{40, 30}, tensor.DCSR, tensor.Int32, 0),
		"coordinates": sparseLine(t, 40*30, []int64{40, 30}, tensor.Coordinates(2), tensor.Float64, 0),
		"CSF":         sparseLine(t, 8*9*10, []int64{8, 9, 10}, tensor.CSF(3), tensor.Float64, 0),
		"blocks":      sparseLine(t, 8*9*4, []int64{8, 9, 4}, blocks, tensor.Float64, 0),
		"complex":     sparseLine(t, 40*30, []int64{40, 30}, tensor.CSR, tensor.Complex128, 0),
		"truth":       sparseLine(t, 40*30, []int64{40, 30}, tensor.CSR, tensor.Bool, 0),
		"a vector":    sparseLine(t, 400, []int64{400}, vector, tensor.Float64, 0),
		"nothing":     sparseLine(t, 0, []int64{40, 30}, tensor.CSR, tensor.Float64, 0),
		"a band":      banded(tensor.CSR),
		"columns":     banded(tensor.CSC),
		"positive":    dense(1, 3, 1e30),
		"small":       dense(0.25, 1e-310),
		"negative":    dense(1, -3),
		"minus zero":  dense(1, math.Copysign(0, -1)),
		"nan":         dense(1, math.NaN()),
		"infinite":    dense(math.Inf(-1), 2),
	} {
		want, ok := host.statistics(ctx, x)
		if !ok {
			t.Fatalf("%s: no statistics here", name)
		}
		on := there(t, s, x)
		if _, ok := on.Statistics(); ok && x.NNZ() > 0 && name != "nothing" {
			t.Errorf("%s: it is here, too", name)
		}
		got, ok := s.statistics(ctx, on)
		if !ok {
			t.Errorf("%s: no statistics there", name)
			continue
		}
		if !want.Finite { // of which the exponent says nothing
			w := *want
			w.Exponent = got.Exponent
			want = &w
		}
		if got.Entries != want.Entries || got.Finite != want.Finite || got.NonNegative != want.NonNegative || got.Exponent != want.Exponent || math.Abs(got.Band-want.Band) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		for axis := range want.Axes {
			if got.Axes[axis] != want.Axes[axis] {
				t.Errorf("%s: axis %d %+v, want %+v", name, axis, got.Axes[axis], want.Axes[axis])
			}
		}
		if want.Finite && got.Class() != want.Class() {
			t.Errorf("%s: its class is %q, want %q", name, got.Class(), want.Class())
		}
		if again, _ := s.statistics(ctx, on); again != got {
			t.Errorf("%s: described again", name)
		}
	}
}

// TestChoosesOnDevice runs a chain of which only the device has the operands in the order that is best for their statistics.
func TestChoosesOnDevice(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	s := NewSession(WithEngine(runtime.Simulated()), WithResidentResults(), WithConversionKernels())
	A, B, x := randomMatrix(t, r, 300, 300, 8, tensor.CSR), randomMatrix(t, r, 300, 300, 8, tensor.CSR), denseVector(t, 300)
	const text = "y(i) = A(i,j)*B(j,k)*x(k)"
	want, err := NewSession(WithEngine(runtime.Interp())).Eval(ctx, text, Args{"A": A, "B": B, "x": x}, AsWritten())
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"A": there(t, s, A), "B": there(t, s, B), "x": there(t, s, x)}
	k, err := s.kernelFor(ctx, text, args, nil)
	if err != nil {
		t.Fatal(err)
	}
	if logic, err := k.Explain("logic"); err != nil || !strings.Contains(logic, "t1(j) = ") || strings.Contains(logic, "guessed") {
		t.Errorf("%v:\n%s", err, logic)
	}
	y, err := k.Run(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	got, expected := numbers(t, y), numbers(t, want)
	for i := range expected {
		if math.Abs(got[i]-expected[i]) > 1e-9 {
			t.Fatalf("y(%d) is %g, want %g", i, got[i], expected[i])
		}
	}
}
