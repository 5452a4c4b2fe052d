package exec

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestLoopsBySizes tells which loops and conversions are chosen for operands of other sizes: the smaller one is stored again, few places
// of a mask are computed one by one, and many with the rows that they are in. Of dense operands the extents count, of which runs look at no more.
func TestLoopsBySizes(t *testing.T) {
	const product = "C(i,k) = A(i,j)*B(j,k)"
	const masked = "C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0)"
	const dense = "Y(i,j) = P(i,k)*Q(k,j)"
	const gram = "G(k,l) = U(i,k)*U(i,l)"
	type sizes = map[string]string
	for _, test := range []struct {
		program, formats string
		sizes            sizes
		want             string
	}{
		{product, "A:CSR B:CSC", sizes{"A": "100000x100000, 16 per row", "B": "100000x100, 1000 in all"}, "order(i, {j, k}, k), workspace(k), convert(B: CSR)"},
		{product, "A:CSR B:CSC", sizes{"A": "100x100000, 1 per row", "B": "100000x100000, 16 per row"}, "convert(A: CSC)"},
		{masked, "A:CSR B:CSR M:CSR", sizes{"A": "5000x5000, 16 per row", "B": "5000x5000, 16 per row", "M": "5000x5000, 250 in all"}, "order(i, k, {j}), convert(B: CSC)"},
		{masked, "A:CSR B:CSR M:CSR", sizes{"A": "5000x5000, 16 per row", "B": "5000x5000, 16 per row", "M": "5000x5000, 500 per row"}, "order(i, {j, k}, k), workspace(k)"},
		{dense, "P:D-D Q:D-D", sizes{"P": "500x500", "Q": "500x500"}, "order(i, k, j)"},
		{dense, "P:D-D Q:D-D", sizes{"P": "20000x128", "Q": "128x2"}, "order(i, k, j)"},
		{gram, "U:D-D", sizes{"U": "20000x32"}, "order(k, i, l), parallel(k)"}, // tiles of the result stay in registers
	} {
		var opts []declare.Option
		for _, field := range strings.Fields(test.formats) {
			name, format, _ := strings.Cut(field, ":")
			f, err := tensor.ParseFormat(format, -1)
			if err != nil {
				t.Fatal(err)
			}
			opts = append(opts, declare.Format(name, f, tensor.Float64))
		}
		usual := opts
		for name, text := range test.sizes {
			s, err := tensor.ParseStatistics(text)
			if err != nil {
				t.Fatal(err)
			}
			opts = append(opts, declare.Assume(name, s))
		}
		if got := scheduleFor(t, test.program, opts); !strings.Contains(got, test.want) {
			t.Errorf("%v: %swant %s", test.sizes, got, test.want)
		}
		if got, want := scheduleFor(t, test.program, usual), scheduleFor(t, test.program, append(usual[:len(usual):len(usual)], AsWritten())); got != want {
			t.Errorf("without statistics: %s, but as written: %s", got, want)
		}
	}
}

// scheduleFor is the schedule that is chosen.
func scheduleFor(t *testing.T, program string, opts []declare.Option) string {
	t.Helper()
	k, err := NewSession(WithEngine(runtime.Interp())).Compile(context.Background(), program, opts...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := k.Explain("schedule")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSizesOfRuns runs a kernel that was compiled without operands on dense ones of several shapes: it is planned once for those that round alike, and computes the same as it does as written.
func TestSizesOfRuns(t *testing.T) {
	ctx := context.Background()
	k, err := NewSession(WithEngine(runtime.Interp())).Compile(ctx, "G(k,l) = U(i,k)*U(i,l)", declare.Format("U", tensor.Dense(2), tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	var before *Kernel
	for _, test := range []struct {
		rows, columns int64
		again         bool // it is planned anew
	}{{300, 33, true}, {301, 33, false}, {300, 32, false}, {2, 2, true}, {0, 3, true}} {
		values := make([]float64, test.rows*test.columns)
		for i := range values {
			values[i] = float64(i%7) - 3
		}
		u, err := tensor.FromDense([]int64{test.rows, test.columns}, tensor.Dense(2), tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		g, err := k.Run(ctx, Args{"U": u})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Eval(ctx, "G(k,l) = U(i,k)*U(i,l)", Args{"U": u}, AsWritten())
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range tensor.View[float64](want.Values()) {
			if got := tensor.View[float64](g.Values())[i]; got != x {
				t.Fatalf("%v: element %d is %v, as written %v", test, i, got, x)
			}
		}
		latest := k.chooser.latest.Load()
		if again := latest.kernel != before; again != test.again && test.rows > 2 {
			t.Errorf("%v: planned anew: %t", test, again)
		}
		before = latest.kernel
	}
}

// TestSizesOfSums tells of which programs on sparse matrices sizes alone count, and that a run then does not look further: matrices of as many entries share a
// kernel, however these spread.
func TestSizesOfSums(t *testing.T) {
	ctx := context.Background()
	session := NewSession(WithEngine(runtime.Interp()))
	for _, test := range []struct {
		program string
		sizes   bool
	}{
		{"S(i,j) = A(i,j) - B(i,j) + C(i,j)", true},
		{"S(i,j) = A(i,j) + B(j,i) + C(i,j)", true},
		{"S(i,j) = A(i,j) * B(i,j) + C(i,j)", false},
		{"S(i,j) = A(i,i) + B(i,j) + C(i,j)", false},
		{"S(i) = sum_j (A(i,j) + B(i,j) + C(i,j))", false},
	} {
		var formats []declare.Option
		for _, name := range []string{"A", "B", "C"} {
			formats = append(formats, declare.Format(name, tensor.CSR, tensor.Float64))
		}
		k, err := session.Compile(ctx, test.program, formats...)
		if err != nil {
			t.Fatal(err)
		}
		if k.chooser == nil || k.chooser.sizes != test.sizes {
			t.Errorf("%s: whether sizes alone count should be %t", test.program, test.sizes)
			continue
		}
		diagonal := entriesAt(t, 64, func(p int) (i, j int64) { return int64(p), int64(p) })
		row := entriesAt(t, 64, func(p int) (i, j int64) { return 0, int64(p) })
		var kernels []*Kernel
		for _, a := range []*tensor.Tensor{diagonal, row} {
			if _, err := k.Run(ctx, Args{"A": a, "B": diagonal, "C": diagonal}); err != nil {
				t.Fatal(err)
			}
			latest := k.chooser.latest.Load()
			if got := latest.statistics["A"].Axes[0].NonEmpty; test.sizes && got != 64 {
				t.Errorf("%s: %v rows are known to have entries", test.program, got)
			}
			kernels = append(kernels, latest.kernel)
		}
		if test.sizes && kernels[0] != kernels[1] {
			t.Errorf("%s: planned anew", test.program)
		}
	}
}

// TestUnsortedOperands runs programs, of which statistics or sizes count, on a matrix whose rows are not sorted: they are optimised as for the sorted one.
func TestUnsortedOperands(t *testing.T) {
	ctx := context.Background()
	loose, err := tensor.CSR.Flag(1, tensor.Unsorted)
	if err != nil {
		t.Fatal(err)
	}
	unsorted, err := tensor.NewNamed([]int64{64, 64}, loose, map[string]tensor.Array{
		"pointers_0": tensor.ArrayOf(append([]int32{0, 2}, slices.Repeat([]int32{2}, 63)...)), "indices_1": tensor.ArrayOf([]int32{2, 0}),
	}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := unsorted.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"S(i,j) = A(i,j) + B(j,i) + C(i,j)", "S(i,l) = A(i,j)*B(j,k)*C(k,l)"} {
		k, err := NewSession(WithEngine(runtime.Interp())).Compile(ctx, program,
			declare.Format("A", tensor.CSR, tensor.Float64), declare.Format("B", tensor.CSR, tensor.Float64), declare.Format("C", tensor.CSR, tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		var latest []*chosen
		for _, a := range []*tensor.Tensor{unsorted, sorted} {
			if _, err := k.Run(ctx, Args{"A": a, "B": sorted, "C": sorted}); err != nil {
				t.Fatal(err)
			}
			latest = append(latest, k.chooser.latest.Load())
		}
		if latest[0] == nil || latest[0] != latest[1] {
			t.Errorf("%s: planned as %v, for the sorted matrix as %v", program, latest[0], latest[1])
		}
	}
}

// entriesAt is a matrix of CSR with n entries.
func entriesAt(t *testing.T, n int, at func(p int) (i, j int64)) *tensor.Tensor {
	t.Helper()
	coords, values := make([][]int64, 2), make([]float64, n)
	for p := range values {
		i, j := at(p)
		coords[0], coords[1], values[p] = append(coords[0], i), append(coords[1], j), float64(p)+1
	}
	m, err := tensor.FromCoords([]int64{int64(n), int64(n)}, tensor.CSR, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
