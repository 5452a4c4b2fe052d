package exec

import (
	"context"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestLoopsBySizes tells which loops and conversions are chosen for operands of other sizes: the smaller one is stored again, few places
// of a mask are computed one by one, and many with the rows that they are in.
func TestLoopsBySizes(t *testing.T) {
	const product = "C(i,k) = A(i,j)*B(j,k)"
	const masked = "C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0)"
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
