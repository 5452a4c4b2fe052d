package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestIntermediatesWithoutMemory multiplies by a chain whose best order has an intermediate that is larger than the memory: it runs as written, and says so, whether that is known
// when it is compiled, or only when it is run.
func TestIntermediatesWithoutMemory(t *testing.T) {
	const text = "y(i) = A(i,j)*B(j,k)*x(k)"
	ctx := context.Background()
	matrix := func(rows, columns, each int64) *tensor.Tensor {
		var coords [2][]int64
		values := make([]float64, rows*each)
		for p := range values {
			coords[0], coords[1] = append(coords[0], int64(p)/each), append(coords[1], (int64(p)%each*columns/each+7*int64(p)/each)%columns)
			values[p] = 1
		}
		m, err := tensor.FromCoords([]int64{rows, columns}, tensor.CSR, coords[:], tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	ones := make([]float64, 100)
	for i := range ones {
		ones[i] = 1
	}
	x, err := tensor.FromDense([]int64{100}, tensor.Dense(1), tensor.ArrayOf(ones))
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"A": matrix(500, 20000, 100), "B": matrix(20000, 100, 8), "x": x}
	var notices []string
	session := func(limit int64) *Session {
		notices = nil
		return NewSession(WithEngine(runtime.Interp()), WithMemoryLimit(limit), WithNotice(func(n string) { notices = append(notices, n) }))
	}
	const says = "the program runs as written, as the intermediates of another order do not fit the memory: t1 "
	for _, test := range []struct {
		limit    int64
		examples bool
		falls    bool
	}{{100_000, true, true}, {100_000, false, true}, {1_000_000, true, false}, {1_000_000, false, false}} {
		s := session(test.limit)
		opts := []declare.Option{declare.Format("A", tensor.CSR, tensor.Float64), declare.Format("B", tensor.CSR, tensor.Float64), declare.Format("x", tensor.Dense(1), tensor.Float64)}
		if test.examples {
			opts = []declare.Option{declare.Operand("A", args["A"]), declare.Operand("B", args["B"]), declare.Operand("x", x)}
		}
		k, err := s.Compile(ctx, text, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			y, err := k.Run(ctx, args)
			if err != nil {
				t.Fatalf("%+v: %v", test, err)
			}
			if got := tensor.View[float64](y.Values())[3]; got != 800 {
				t.Errorf("%+v: %v, want 100 times 8", test, got)
			}
		}
		logic, err := k.Explain("logic")
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(logic, "# "+says); told != test.falls {
			t.Errorf("%+v: %s", test, logic)
		}
		if told := len(notices) == 1 && strings.HasPrefix(notices[0], says); told != test.falls || len(notices) > 1 {
			t.Errorf("%+v: %q", test, notices)
		}
	}
}

// TestRefusedBeforeTheFirstStep divides by sums of rows, which take long for 10^8 rows, into a dense result that
// no memory holds.
func TestRefusedBeforeTheFirstStep(t *testing.T) {
	const n = 100_000_000
	A, err := tensor.FromCoords([]int64{n, n}, tensor.Coordinates(2), [][]int64{{0, n - 1}, {0, n - 1}}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	var limit *runtime.MemoryLimitError
	_, err = Eval(context.Background(), "s(i) = sum_j exp(A(i,j)); R(i,j) = exp(A(i,j))/s(i)", Args{"A": A})
	if !errors.As(err, &limit) || limit.Stage != "" || limit.Buffer != "R" {
		t.Fatalf("got %v, want R to be refused before any stage", err)
	}
	for _, part := range []string{"R needs 71.1 PiB (10000000000000000 × f64)", "memory limit", "choose a sparser format"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: does not say %q", err, part)
		}
	}
	// What fits is no matter how close it is.
	s := NewSession(WithMemoryLimit(1 << 20))
	v, err := tensor.FromDense([]int64{1000}, tensor.Dense(1), tensor.ArrayOf(make([]float64, 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Eval(context.Background(), "s = sum_i v(i); r(i) = v(i) + s", Args{"v": v}); err != nil {
		t.Error(err)
	}
	if _, err := s.Eval(context.Background(), "s = sum_i v(i); r(i,j) = v(i)*v(j) + s", Args{"v": v}); !errors.As(err, &limit) || limit.Limit != 1<<20 {
		t.Errorf("got %v, want a refusal of more than 1 MiB", err)
	}
}
