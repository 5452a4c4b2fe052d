package results_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// releaseSize is how many rows the matrices of these tests have: their arrays are large
// enough to come from the pool.
const releaseSize = 6000

// releaseMatrix is a result of a run, so that its arrays are the pool's, and a copy whose
// arrays are not.
func releaseMatrix(t *testing.T, s *lacuna.Session, perRow int) (A, copied *tensor.Tensor) {
	t.Helper()
	return seededMatrix(t, s, perRow, 1)
}

// seededMatrix is releaseMatrix with other places of as many entries.
func seededMatrix(t *testing.T, s *lacuna.Session, perRow int, seed uint64) (A, copied *tensor.Tensor) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(perRow)))
	pos, crd, vals := []uint32{0}, []uint32{}, []float64{}
	for range releaseSize {
		row := map[uint32]bool{}
		for len(row) < perRow {
			row[random.Uint32N(releaseSize)] = true
		}
		first := len(crd)
		for c := range row {
			crd = append(crd, c)
			vals = append(vals, random.Float64())
		}
		slices.Sort(crd[first:])
		pos = append(pos, uint32(len(crd)))
	}
	half, err := tensor.New([]int64{releaseSize, releaseSize}, tensor.CSR,
		[]tensor.Level{{}, {Pos: tensor.ArrayOf(pos), Crd: tensor.ArrayOf(crd)}}, tensor.ArrayOf(vals))
	if err != nil {
		t.Fatal(err)
	}
	// The sum, not the product by a number, which would share the pattern.
	if A, err = s.Eval(context.Background(), "A(i,j) = H(i,j) + G(i,j)", lacuna.Args{"H": half, "G": half}, lacuna.Result("A", tensor.CSR)); err != nil {
		t.Fatal(err)
	}
	return A, deepCopy(t, A)
}

// deepCopy is the tensor with arrays that nothing else has.
func deepCopy(t *testing.T, from *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	out, err := from.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		to, err := tensor.MakeArray(a.DType(), a.Len())
		copy(to.Raw(), a.Raw())
		return to, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// overwrite makes results in blocks of every size that a tensor's arrays had, so that what
// was given back is overwritten. It keeps them.
func overwrite(t *testing.T, s *lacuna.Session, sizes []int64) (kept []*tensor.Tensor) {
	t.Helper()
	for range 3 {
		for _, bytes := range sizes {
			x, err := tensor.FromDense([]int64{bytes / 8}, tensor.Dense(1), tensor.ArrayOf(make([]float64, bytes/8)))
			if err != nil {
				t.Fatal(err)
			}
			y, err := s.Eval(context.Background(), "y(i) = x(i) - 7", lacuna.Args{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, y)
		}
	}
	return kept
}

func sizesOf(t *tensor.Tensor) (sizes []int64) {
	same, err := t.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		sizes = append(sizes, a.Bytes())
		return a, nil
	})
	if err == nil {
		same.Release() // or it would keep the arrays
	}
	return sizes
}

// Whatever a session makes of a result, and whatever it remembers of it, is as it was when
// the result is released and its memory is another result's.
func TestReleaseSparesWhatSharesArrays(t *testing.T) {
	ctx := context.Background()
	eval := func(program string, opts ...lacuna.Option) func(*lacuna.Session, *tensor.Tensor) (*tensor.Tensor, error) {
		return func(s *lacuna.Session, A *tensor.Tensor) (*tensor.Tensor, error) {
			return s.Eval(ctx, program, lacuna.Args{"A": A}, opts...)
		}
	}
	convert := func(f tensor.Format) func(*lacuna.Session, *tensor.Tensor) (*tensor.Tensor, error) {
		return func(s *lacuna.Session, A *tensor.Tensor) (*tensor.Tensor, error) { return s.Convert(ctx, A, f) }
	}
	ways := map[string]func(*lacuna.Session, *tensor.Tensor) (*tensor.Tensor, error){
		"CSR":       convert(tensor.CSR),
		"COO":       convert(tensor.COO),
		"DCSR":      convert(tensor.DCSR),
		"CSC":       convert(tensor.CSC),
		"itself":    eval("B(i,j) = A(i,j)", lacuna.Result("B", tensor.CSR)),
		"as CSC":    eval("B(i,j) = A(i,j)", lacuna.Result("B", tensor.CSC)),
		"as COO":    eval("B(i,j) = A(i,j)", lacuna.Result("B", tensor.COO)),
		"scaled":    eval("B(i,j) = 2*A(i,j)", lacuna.Result("B", tensor.CSR)),
		"transpose": eval("B(i,j) = A(j,i)", lacuna.Result("B", tensor.CSR)),
		"twice":     eval("B(i,j) = A(j,i) + A(i,j)", lacuna.Result("B", tensor.CSR)),
		"pattern":   eval("B(i,j) = where(stored(A(i,j)), 1.0, 0.0)", lacuna.Result("B", tensor.CSR)),
		"columns":   eval("y(j) = sum_i A(i,j)"),
		"scan":      eval("B(i,j) = cumsum_{j in A} A(i,j)"),
		"list": func(s *lacuna.Session, A *tensor.Tensor) (*tensor.Tensor, error) {
			coo, err := A.Convert(tensor.COO)
			if err != nil {
				return nil, err
			}
			return s.FromColumns(ctx, A.Shape(), tensor.COO, []tensor.Array{coo.LevelAt(0).Crd, coo.LevelAt(1).Crd}, A.Values())
		},
		"list by rows": func(s *lacuna.Session, A *tensor.Tensor) (*tensor.Tensor, error) {
			coo, err := A.Convert(tensor.COO)
			if err != nil {
				return nil, err
			}
			return s.FromColumns(ctx, A.Shape(), tensor.CSR, []tensor.Array{coo.LevelAt(0).Crd, coo.LevelAt(1).Crd}, A.Values())
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := lacuna.NewSession(lacuna.WithConversionKernels())
			A, copied := releaseMatrix(t, s, 9)
			B, err := way(s, A)
			if err != nil {
				t.Fatal(err)
			}
			want := deepCopy(t, B)
			C, err := way(s, A) // with what is remembered of the first time
			if err != nil {
				t.Fatal(err)
			}
			sizes := append(sizesOf(A), sizesOf(B)...)
			C.Release()
			others := overwrite(t, s, sizes)
			if d := tensor.Diff(A, copied); d != "" {
				t.Errorf("the operand, after a result was released: %s", d)
			}
			A.Release()
			others = append(others, overwrite(t, s, sizes)...)
			if d := tensor.Diff(B, want); d != "" {
				t.Errorf("the result, after the operand was released: %s", d)
			}
			again, err := way(s, copied) // whose arrays may be where the operand's were
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(again, want); d != "" {
				t.Errorf("the result of a copy: %s", d)
			}
			B.Release()
			others = append(others, overwrite(t, s, sizes)...)
			for _, y := range others {
				for i, v := range tensor.View[float64](y.Values()) {
					if v != -7 {
						t.Fatalf("element %d of a result is %v: two results share memory", i, v)
					}
				}
			}
			if _, err := way(s, A); !errors.Is(err, tensor.ErrReleased) {
				t.Errorf("the operand was released: %v", err)
			}
		})
	}
}

// The memory of a released result is that of the next one.
func TestReleaseRecycles(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithThreads(1))
	ctx := context.Background()
	A, _ := releaseMatrix(t, s, 40)
	k, err := s.Compile(t.Context(), "C(i,j) = sum_k A(i,k) * A(k,j)", lacuna.Operand("A", A), lacuna.Result("C", tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[unsafe.Pointer]bool{}
	reused := 0
	const rounds = 4
	for range rounds {
		C, err := k.Run(ctx, lacuna.Args{"A": A})
		if err != nil {
			t.Fatal(err)
		}
		if p := C.Values().Pointer(); seen[p] {
			reused++
		} else {
			seen[p] = true
		}
		C.Release()
	}
	if reused < rounds-2 { // the first run may be of another variant
		t.Errorf("of %d results %d were in memory of earlier ones", rounds, reused)
	}
}

// What a run makes on the way goes when it ends, but for what its results share.
func TestReleaseOfStepsBetween(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession()
	A, _ := releaseMatrix(t, s, 4)
	programs := []string{
		"T(i,j) = A(i,j) + A(j,i); B(i,j) = 2*T(i,j)",
		"T(i,j) = sum_k A(i,k)*A(k,j); B(i,j) = T(j,i)",
		"B(i,j) = sum_{k,l} A(i,k)*A(k,l)*A(l,j)",
		"T(i,j) = A(i,j) + A(j,i); U(i,j) = T(i,j); B(i,j) = U(i,j) + T(j,i)",
	}
	for _, program := range programs {
		args := lacuna.Args{"A": A}
		var want *tensor.Tensor
		for round := range 4 {
			out, err := s.EvalAll(ctx, program, args, lacuna.Result("B", tensor.CSR))
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				want = deepCopy(t, out["B"])
			}
			kept := deepCopy(t, out["B"])
			for name, x := range out {
				if name != "B" {
					x.Release()
				}
			}
			overwrite(t, s, sizesOf(kept))
			if d := tensor.Diff(out["B"], want); d != "" {
				t.Errorf("%s, round %d: %s", program, round, d)
			}
			B, err := s.Eval(ctx, program, args, lacuna.Result("B", tensor.CSR))
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, s, sizesOf(kept))
			if d := tensor.Diff(B, want); d != "" {
				t.Errorf("%s, round %d, the last result alone: %s", program, round, d)
			}
			B.Release()
			out["B"].Release()
		}
	}
}

// A Prepared kernel knows patterns by address: that of an operand that was released is not
// that of another.
func TestReleasePrepared(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession()
	seededMatrix(t, s, 9, 3) // the first sum is made another way than later ones
	A, _ := releaseMatrix(t, s, 9)
	k, err := s.Compile(t.Context(), "C(i,j) = sum_k A(i,k) * A(k,j)", lacuna.Operand("A", A), lacuna.Result("C", tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Prepare(ctx, lacuna.Args{"A": A})
	if err != nil {
		t.Fatal(err)
	}
	sizes := sizesOf(A)
	A.Release()
	other, _ := seededMatrix(t, s, 9, 2) // where A was, if nothing else had it
	if _, err := p.Run(ctx, lacuna.Args{"A": other}); !errors.Is(err, lacuna.ErrPattern) {
		t.Errorf("another pattern: %v", err)
	}
	overwrite(t, s, sizes)
	if _, err := p.Run(ctx, lacuna.Args{"A": A}); !errors.Is(err, tensor.ErrReleased) {
		t.Errorf("the operand was released: %v", err)
	}
	same, copied := releaseMatrix(t, s, 9)
	want, err := k.Run(ctx, lacuna.Args{"A": copied})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Run(ctx, lacuna.Args{"A": same})
	if err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(got, want); d != "" {
		t.Error(d)
	}
}

// A run holds its operands: what another goroutine releases goes when it ends.
func TestReleaseDuringRuns(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithConversionKernels())
	first, copied := releaseMatrix(t, s, 9)
	k, err := s.Compile(t.Context(), "y(i) = sum_j A(i,j) + sum_j A(j,i)", lacuna.Operand("A", first))
	if err != nil {
		t.Fatal(err)
	}
	want, err := k.Run(ctx, lacuna.Args{"A": copied})
	if err != nil {
		t.Fatal(err)
	}
	want = deepCopy(t, want)
	const rounds, readers = 20, 3
	for range rounds {
		A, _ := releaseMatrix(t, s, 9)
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				y, err := k.Run(ctx, lacuna.Args{"A": A})
				if errors.Is(err, tensor.ErrReleased) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				if d := tensor.Diff(y, want); d != "" {
					t.Error(d)
				}
				y.Release()
			})
		}
		wg.Go(func() {
			sizes := sizesOf(A)
			A.Release()
			overwrite(t, s, sizes)
		})
		wg.Wait()
	}
}

// What only a device has goes with the last tensor that has it.
func TestReleaseOnDevice(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	y, err := s.Eval(ctx, "y(i) = 2*x(i)", lacuna.Args{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	other := y.Share()
	y.Release()
	if got, want := tensor.View[float64](other.Values()), []float64{2, 4, 6}; !slices.Equal(got, want) {
		t.Errorf("the other tensor has %v, want %v", got, want)
	}
	z := other.Share()
	other.Release()
	z.Release()
	if _, err := s.Eval(ctx, "y(i) = 2*x(i)", lacuna.Args{"x": z}); !errors.Is(err, tensor.ErrReleased) {
		t.Errorf("an operand that was released: %v", err)
	}
}
