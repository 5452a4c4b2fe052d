package grids_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Unions and intersections of matrices in rows, whose entries grids place by ranks: in
// patterns that are the same, have nothing in common, or something, and rows of all
// lengths.
func TestMergesOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	csf, err := tensor.FormatOf([]tensor.LevelKind{tensor.C, tensor.C, tensor.S}, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string]tensor.Format{"A": tensor.COO, "B": tensor.COO, "C": tensor.COO}
	rows := map[string]tensor.Format{"A": tensor.DCSR, "B": tensor.DCSR, "C": tensor.DCSR}
	vector := tensor.Coordinates(1)
	cases := []struct {
		text    string
		formats map[string]tensor.Format
		stage   string
	}{
		{"C(i,j) = A(i,j) + B(i,j)", nil, "ranks"},
		{"C(i,j) = A(i,j) - 2*B(i,j) + A(i,j)*B(i,j)", nil, "ranks"},
		{"C(i,j) = A(i,j) * B(i,j)", nil, "ranks"},
		{"C(i,j) = A(i,j) * (B(i,j) + 1)", nil, "ranks"},
		{"C(i,j) = (A(i,j) + 1) * B(i,j)", nil, "ranks"},
		{"C(i,j) = max(A(i,j), B(i,j))", nil, "ranks"},
		{"C(i,j) = where(B(i,j) != 0, A(i,j), 0)", nil, "ranks"},
		{"C(i,j) = where(B(i,j) != 0, 0, A(i,j))", nil, "ranks"},
		{"C(i,j) = A(i,j)*x(j) + y(i)*B(i,j)", map[string]tensor.Format{"x": tensor.Dense(1), "y": tensor.Dense(1)}, "ranks"},
		{"C(i,j) = A(i,j)*i + B(i,j)*j", nil, "ranks"},
		{"C(i,j) = A(i,j)*sum_k x(k) + B(i,j)", map[string]tensor.Format{"x": tensor.Dense(1)}, "ranks"},
		{"C(i,j) = where(i < j, A(i,j) + B(i,j), 0)", nil, "ranks"},
		{"C(i,j) = where(i < j, A(i,j), 0)", nil, "ranks"},
		{"C(i,j) = where(i < j, A(i,j), 0)", lists, "ranks"},
		{"C(i,j) = where(i < j, A(i,j), B(i,j))", lists, "ranks"},
		{"C(i,j) = where(i < j, A(i,j), B(i,j)) * x(j)", map[string]tensor.Format{"x": tensor.Dense(1)}, "ranks"},
		{"C(i,j) = -A(i,j)", lists, "ranks"},
		{"C(i,j) = -A(i,j)", nil, "count"},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j)", nil, "ranks"},
		{"C(i,j) = A(i,j) * (B(i,j) + D(i,j))", nil, "ranks"},
		{"C(i,j) = A(i,j) + B(i,j) * D(i,j)", map[string]tensor.Format{"A": tensor.COO, "B": tensor.COO, "C": tensor.COO, "D": tensor.COO}, "ranks"},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j)*A(j,i) - B(j,i)", nil, "count"},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j)*A(j,i)", nil, "ranks"},
		{"C(i,j) = A(i,j) + x(j)", map[string]tensor.Format{"A": tensor.CSR, "x": vector}, "count"},
		{"C(j) = x(j) + y(j)", map[string]tensor.Format{"C": vector, "x": vector, "y": vector}, "ranks"},
		{"C(i,j) = A(i,j) + B(i,j)", lists, "ranks"},
		{"C(i,j) = A(i,j) * B(i,j)", lists, "ranks"},
		{"C(i,j) = A(i,j)*i + B(i,j)*j", lists, "ranks"},
		{"C(i,j) = A(i,j) * (B(i,j) + 1)", lists, "ranks"},
		{"C(i,j) = A(i,j) + B(j,i)", lists, "ranks"},
		{"C(i,j) = A(i,j) - A(j,i)", lists, "ranks"},
		{"C(i,j) = A(i,j) + B(i,j)", rows, "ranks"},
		{"C(i,j) = A(i,j) * B(j,i)", rows, "ranks"},
		{"C(i,j) = A(i,j) * x(j) + B(i,j)", map[string]tensor.Format{"C": tensor.COO, "x": tensor.Dense(1), "B": tensor.DCSR}, "ranks"},
		{"C(i,j) = A(i,j) - A(j,i)", nil, "ranks"},
		{"C(i,j,k) = T(i,j,k)*i + U(i,j,k)*j", map[string]tensor.Format{"T": tensor.Coordinates(3), "U": tensor.Coordinates(3), "C": tensor.Coordinates(3)}, "ranks"},
		{"C(i,j) = A(i,j) + B(i,j)", map[string]tensor.Format{"A": tensor.DCSR, "B": tensor.COO}, "ranks"},
		{"C(i,j,k) = T(i,j,k) + U(i,k,j)", map[string]tensor.Format{"T": tensor.CSF(3), "U": tensor.Coordinates(3), "C": csf}, "ranks"},
		{"C(j,i) = A(j,i) + B(j,i)", map[string]tensor.Format{"A": tensor.CSC, "B": tensor.CSC, "C": tensor.CSC}, "ranks"},
		{"C(i,j) = A(i,j) + B(j,i)", nil, "ranks"},
		{"C(i,j,k) = T(i,j,k)*i + U(i,j,k)*j", map[string]tensor.Format{"T": csf, "U": csf, "C": csf}, "ranks"},
	}
	for i, c := range cases {
		if _, ok := c.formats["C"]; !ok {
			c.formats = maps.Clone(c.formats)
			if c.formats == nil {
				c.formats = map[string]tensor.Format{}
			}
			c.formats["C"] = tensor.CSR
		}
		for d, dt := range []tensor.DType{tensor.Float64, tensor.Float16, tensor.Int32, tensor.Complex64} {
			if d > 0 && testengine.Thin(3, i, d) || dt == tensor.Complex64 && strings.Contains(c.text, "max") {
				continue
			}
			t.Run(strings.ReplaceAll(c.text, " ", "")+"/"+c.formats["C"].String()+"/"+dt.String(), func(t *testing.T) {
				operands := map[string]int{}
				for _, name := range []string{"A", "B", "D", "T", "U", "x", "y"} {
					if at := strings.Index(c.text, name+"("); at >= 0 && (at == 0 || c.text[at-1] != 'a') {
						operands[name] = strings.Count(c.text[at:at+strings.IndexByte(c.text[at:], ')')], ",") + 1
					}
				}
				format := func(name string) tensor.Format {
					if f, ok := c.formats[name]; ok {
						return f
					}
					return tensor.CSR
				}
				result := lacuna.Format("C", format("C"), dt)
				opts := []lacuna.Option{result}
				for name := range operands {
					opts = append(opts, lacuna.Format(name, format(name), dt))
				}
				grids := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())))
				serial := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
				if !hasStage(t, grids, c.text, c.stage, opts...) {
					t.Errorf("no stage %s", c.stage)
				}
				for seed, n := range []int64{0, 1, 2, 31, 32, 33, 70} {
					if d > 0 && n != 33 || d == 0 && testengine.Thin(2, i, seed) {
						continue
					}
					args := lacuna.Args{}
					for name, rank := range operands {
						shape := make([]int64, rank)
						for i := range shape {
							shape[i] = n
						}
						if rank == 3 {
							shape[0] = min(n, 3)
						}
						// B is like A in its first half.
						args[name] = similarIntegers(t, shape, format(name), dt, uint64(seed), uint64(len(args)))
					}
					got, err := grids.Eval(context.Background(), c.text, args, result)
					if err != nil {
						t.Fatal(n, err)
					}
					want, err := serial.Eval(context.Background(), c.text, args, result)
					if err != nil {
						t.Fatal(n, err)
					}
					if !tensor.Equal(got, want) || got.NNZ() != want.NNZ() {
						t.Errorf("%d rows: got %v, want %v", n, got, want)
					}
				}
			})
		}
	}
}

// hasStage reports whether one of the program's steps has a stage.
func hasStage(t *testing.T, s *lacuna.Session, text, name string, opts ...lacuna.Option) bool {
	t.Helper()
	k, err := s.Compile(t.Context(), text, opts...)
	if err != nil {
		t.Fatal(err)
	}
	loops, err := k.Explain("loops")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range strings.Split("\n"+loops, "\nprogram ")[1:] {
		p, err := loop.ParseProgram("program " + step)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(p.Stages, func(st loop.Stage) bool { return st.Name == name }) {
			return true
		}
	}
	return false
}

// similarIntegers is a tensor of values from -2 to 2: tensors of the same seed store the
// same coordinates where the outermost one is even, in rows from empty to full.
func similarIntegers(t *testing.T, shape []int64, format tensor.Format, dt tensor.DType, seed, own uint64) *tensor.Tensor {
	t.Helper()
	same, other := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2+own))
	coords := make([][]int64, len(shape))
	var values []float64
	at := make([]int64, len(shape))
	var fill func(level int)
	fill = func(level int) {
		if level < len(shape) {
			for x := range shape[level] {
				at[level] = x
				fill(level + 1)
			}
			return
		}
		choice, kind := other.IntN(16), at[0]%16
		if kind%2 == 0 {
			choice = same.IntN(16)
		}
		if int64(choice) >= kind {
			return
		}
		for d, x := range at {
			coords[d] = append(coords[d], x)
		}
		values = append(values, float64(other.IntN(5)-2))
	}
	fill(0)
	array, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tensor.FromCoords(shape, format, coords, array)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A prepared merge finds ranks once, for any values.
func TestPreparedMergesOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	grids := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())))
	serial := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	ctx := context.Background()
	for _, text := range []string{"C(i,j) = A(i,j) + 2*B(i,j)", "C(i,j) = where(i < j, A(i,j)*B(i,j) + B(i,j), 0)"} {
		var opts []lacuna.Option
		for _, name := range []string{"A", "B", "C"} {
			opts = append(opts, lacuna.Format(name, tensor.CSR, tensor.Float64))
		}
		k, err := grids.Compile(t.Context(), text, opts...)
		if err != nil {
			t.Fatal(err)
		}
		args := func(scale float64) lacuna.Args {
			list := lacuna.Args{}
			for own, name := range []string{"A", "B"} {
				a := similarIntegers(t, []int64{40, 40}, tensor.CSR, tensor.Float64, 5, uint64(own))
				values := slices.Clone(tensor.View[float64](a.Values()))
				for i := range values {
					values[i] *= scale
				}
				b, err := tensor.New(a.Shape(), a.Format(), a.Levels(), tensor.ArrayOf(values))
				if err != nil {
					t.Fatal(err)
				}
				list[name] = b
			}
			return list
		}
		p, err := k.Prepare(ctx, args(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, scale := range []float64{1, 3} {
			got, err := p.Run(ctx, args(scale))
			if err != nil {
				t.Fatal(text, err)
			}
			want, err := serial.Eval(ctx, text, args(scale), opts[2])
			if err != nil {
				t.Fatal(err)
			}
			if !tensor.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", text, got, want)
			}
		}
	}
}
