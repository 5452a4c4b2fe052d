package file

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestLargeArrays compares array files of several blocks with coordinate files of the
// same matrices, read as files and as streams.
func TestLargeArrays(t *testing.T) {
	const n = 500
	for _, tt := range []struct{ field, sym string }{
		{"integer", "general"}, {"integer", "symmetric"}, {"integer", "skew-symmetric"}, {"complex", "hermitian"},
	} {
		var array, list strings.Builder
		fmt.Fprintf(&array, "%%%%MatrixMarket matrix array %s %s\n%d %d\n", tt.field, tt.sym, n, n)
		entries := 0
		for j := range n {
			first := j
			switch tt.sym {
			case "general":
				first = 0
			case "skew-symmetric":
				first = j + 1
			}
			for i := first; i < n; i++ {
				value := fmt.Sprint(1 + (i*1009+j*31)%100_003)
				if tt.field == "complex" {
					value += fmt.Sprint(" ", (i-j)*3)
				}
				fmt.Fprintln(&array, value)
				fmt.Fprintln(&list, i+1, j+1, value)
				entries++
			}
		}
		coordinates := fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n%s", tt.field, tt.sym, n, n, entries, list.String())
		for _, dt := range []tensor.DType{0, tensor.Complex64, tensor.Float32} {
			if dt == tensor.Float32 && tt.field == "complex" {
				continue
			}
			want, err := ReadFrom("a.mtx", strings.NewReader(coordinates), FormatNamed("D"), As(dt))
			if err != nil {
				t.Fatal(err)
			}
			file, err := ReadFrom("a.mtx", strings.NewReader(array.String()), As(dt))
			if err != nil {
				t.Fatal(err)
			}
			stream, err := ReadFrom("a.mtx", onlyReader{strings.NewReader(array.String())}, As(dt))
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []*tensor.Tensor{file, stream} {
				if d := tensor.Diff(got, want); d != "" {
					t.Errorf("%s %s as %v: %s", tt.field, tt.sym, dt, d)
				}
			}
		}
	}
}
