package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests products of sparse matrices on grids (lower/gridproduct.go, lower/gpu/product).

// skewed is a matrix whose rows have from none to many entries, in columns of which few are
// common, with values that make every order of a sum tell.
func skewed(t *testing.T, r *rand.Rand, rows, cols, entries int64, f tensor.Format, dt tensor.DType, opts ...tensor.Option) *tensor.Tensor {
	t.Helper()
	seen := map[[2]int64]bool{}
	var coords [2][]int64
	var values []float64
	for range entries {
		if rows*cols == 0 {
			break
		}
		at := [2]int64{int64(float64(rows) * r.Float64() * r.Float64() * r.Float64()), int64(float64(cols) * r.Float64() * r.Float64())}
		if seen[at] {
			continue
		}
		seen[at] = true
		coords[0], coords[1] = append(coords[0], at[0]), append(coords[1], at[1])
		values = append(values, r.NormFloat64()*float64(int(1)<<r.IntN(12)))
	}
	array, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromCoords([]int64{rows, cols}, f, coords[:], array, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestGridProducts compares products of sparse matrices by teams of threads with those of
// one thread: the same arrays, bit for bit. With a grain, the classes of rows are those of
// small data, and rows of more than 40 products for each 64 columns are cut into slices.
func TestGridProducts(t *testing.T) {
	testengine.Interpreted(t)
	for i, c := range []struct {
		text    string
		formats string // of A, B and C
	}{
		{"C(i,k) = A(i,j)*B(j,k)", "CSR CSR CSR"},
		{"C(i,k) = A(i,j)*B(j,k)", "DCSR CSR DCSR"},
		{"C(i,k) = A(i,j)*B(j,k)", "CSR DCSR COO"},
		{"C(i,k) = A(i,j)*B(j,k)", "COO COO CSR"},
		{"C(i,k) = A(i,j)*B(j,k)", "CSC CSC CSC"},
		{"C(i,k) = (i+j)*A(i,j)*B(j,k)", "CSR CSR CSR"},
		{"C(i,k) = A(i,j)*B(j,k) + B(i,k)", "CSR CSR CSR"},
		{"C(i,k) = A(i,j)*B(j,k) - 2*A(i,k)", "CSR DCSR DCSR"},
		{"C(i,k) = where(B(i,k) > 0, A(i,j)*B(j,k), 0)", "CSR CSR CSR"},
		{"C(i,k) = where(stored(B(i,k)), A(i,j)*B(j,k), 0)", "DCSR CSR CSR"},
		{"C(i,k) = where(stored(B(i,k)), A(i,j)*A(k,j), 0)", "CSR CSR CSR"},
		{"C(i,k) = A(i,k)*sum_j (A(i,j)*B(j,k))", "CSR CSR DCSR"},
		{"C(i,k) = abs(sum_j (A(i,j)*B(j,k)))", "CSR CSR CSR"},
		{"C(i,k) = max_j A(i,j)*B(j,k)", "CSR CSR CSR"},
		{"C(i,k) = any_j (A(i,j) > 0 and B(j,k) != 0)", "CSR CSR CSR"},
		{"C(i,k) = A(i,j)*B(j,l)*A(l,k)", "CSR CSR CSR"},
		{"C(k,i) = A(i,j)*B(k,j)", "CSC CSC CSC"},
		{"C(i,k) = B(i,k) - (sum_j A(i,j)*B(j,k))", "CSR CSR CSR"},
	} {
		type run struct {
			dt    tensor.DType
			grain int64
		}
		var runs []run
		for k, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.Int32, tensor.Complex128} {
			switch {
			case i == 0: // all of them once
				for grain := range int64(2) {
					if !testengine.Thin(2, k, int(grain)) {
						runs = append(runs, run{dt, grain})
					}
				}
			case k == 0:
				runs = append(runs, run{dt, 0})
			case k == 1+i%4 && dt == tensor.Complex128 && strings.Contains(c.text, "max"):
				runs = append(runs, run{tensor.Float64, 1})
			case k == 1+i%4:
				runs = append(runs, run{dt, 1})
			}
		}
		for k, run := range runs {
			t.Run(fmt.Sprintf("%s/%s/%v/%d", strings.ReplaceAll(c.text, " ", ""), c.formats, run.dt, run.grain), func(t *testing.T) {
				// One more, as the product of three would be of the largest matrices under -short.
				testGridProduct(t, c.text, strings.Fields(c.formats), run.dt, run.grain, i+k+1)
			})
		}
	}
}

func testGridProduct(t *testing.T, text string, formats []string, dt tensor.DType, grain int64, turn int) {
	grids := gridSession(t, grain)
	serial := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	var f [3]tensor.Format
	for i, name := range formats {
		var err error
		if f[i], err = tensor.ParseFormat(name, 2); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(3, uint64(len(text))))
	for k, size := range [][2]int64{{0, 0}, {1, 1}, {31, 60}, {32, 200}, {33, 400}, {66, 700}} {
		if testengine.Thin(6, turn, k) {
			continue
		}
		n := size[0]
		args := Args{"A": skewed(t, r, n, n, size[1], f[0], dt), "B": skewed(t, r, n, n, size[1], f[1], dt)}
		options := []Option{Format("C", f[2], dt)}
		if strings.Contains(text, "any") {
			options[0] = Format("C", f[2], tensor.Bool)
		}
		fills := []int64{0}
		if n <= 33 {
			fills = append(fills, 1) // then gaps of a product are stored
		}
		for _, fill := range fills {
			options := append(options, Fill("C", tensor.Int(dt, fill)))
			want, err := serial.Eval(t.Context(), text, args, options...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := grids.Eval(t.Context(), text, args, options...)
			if err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			if err := sameArrays(got, want); err != nil {
				t.Errorf("%d, fill %d: %v", n, fill, err)
			}
		}
	}
}

// TestGridProductTeams checks which products teams make.
func TestGridProductTeams(t *testing.T) {
	s := gridSession(t, 0)
	for text, want := range map[string]bool{
		"C(i,k) = A(i,j)*B(j,k)":                                     true,
		"C(i,k) = any_j (A(i,j) and B(j,k))":                         true,
		"C(i,k) = A(i,j)*B(j,k) + B(i,k)":                            true,
		"C(i,k) = B(i,k)*(sum_j A(i,j)*B(j,k))":                      true,
		"C(i,k) = where(B(i,k) > 0, sum_j A(i,j)*B(j,k), 0)":         true, // stores all that B does
		"C(i,k) = A(i,j)*B(j,l)*A(l,k)":                              true,
		"C(i,k) = where(stored(B(i,k)), (sum_j A(i,j)*B(j,k))/k, 0)": false, // 0/0 where nothing was summed
		"C(i,k) = B(i,k) - (sum_j A(i,j)*B(j,k))":                    true,
		"C(i,k) = where(stored(B(i,k)), -(sum_j A(i,j)*B(j,k)), 0)":  false, // -0 where nothing was summed
		"C(i,k) = A(i,j)*B(j,k) + A(i,l)*A(l,k)":                     false, // two workspaces
	} {
		k, err := s.Compile(t.Context(), text, Format("A", tensor.CSR, tensor.Float64), Format("B", tensor.CSR, tensor.Float64), Format("C", tensor.CSR, tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		grids, err := k.Explain("grids")
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range []string{"count_by_warp", "count_by_block", "count_by_slices", "fill_by_warp", "fill_by_block", "fill_by_slices"} {
			if got := strings.Contains(grids, "stage "+stage+" "); got != want {
				t.Errorf("%s: stage %s: %v, want %v", text, stage, got, want)
			}
		}
	}
}
