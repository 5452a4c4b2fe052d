package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	lowerconvert "github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests lists of coordinates that are sorted by row alone (runtime/convert/entries.go).

// rowSessions convert by the path for rows: on one thread and on three, at once and
// in groups.
func rowSessions() map[string]*Session {
	engines := map[string]runtime.Engine{"interp": runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines["cpu"] = cpu
	}
	sessions := map[string]*Session{}
	for name, engine := range engines {
		compiled := runtime.NewCache(cachedPrograms)
		for _, threads := range []int{1, 3} {
			for _, entries := range []int64{0, 1 << 20} {
				s := NewSession(WithEngine(engine), WithThreads(threads), sharing(compiled))
				s.env.convert.Always, s.env.Grain = true, int64(threads-1)
				s.env.convert.Data = func(d lowerconvert.Data) lowerconvert.Data {
					d.Entries = max(d.Entries, entries)
					return d
				}
				sessions[fmt.Sprintf("%s, %d threads, as for %d entries", name, threads, entries)] = s
			}
		}
	}
	for _, grain := range []int64{0, 3} {
		s := NewSession(WithEngine(runtime.Simulated()))
		s.env.convert.Always, s.env.Grain = true, grain
		sessions[fmt.Sprintf("grids, grain %d", grain)] = s
	}
	return sessions
}

// TestFromCoordsRows compares matrices made of lists in no order with those of
// tensor.FromCoords: long rows, one row, one column, empty rows, many repeats.
func TestFromCoordsRows(t *testing.T) {
	sessions := rowSessions()
	r := rand.New(rand.NewPCG(5, 6))
	dtypes := []tensor.DType{tensor.Float64, tensor.Float32, tensor.Bool, tensor.Int8, tensor.Int64, tensor.Complex64, tensor.Complex128, tensor.Float16}
	for i, c := range []struct {
		shape   []int64
		entries int
	}{
		{[]int64{50, 40}, 300}, {[]int64{20, 4000}, 300}, {[]int64{1, 3000}, 150}, {[]int64{3000, 1}, 150},
		{[]int64{1, 1}, 9}, {[]int64{400, 1 << 31}, 250}, {[]int64{2000, 6}, 20},
	} {
		for k, format := range []tensor.Format{tensor.CSR, tensor.CSC} {
			dt := dtypes[r.IntN(len(dtypes))]
			if format == tensor.CSC && c.shape[1] > 1<<20 {
				continue // more positions than a test should write
			}
			rows, cols := make([]uint32, c.entries), make([]int64, c.entries)
			for i := range c.entries {
				rows[i], cols[i] = uint32(r.Int64N(c.shape[0])), r.Int64N(c.shape[1])
				if i > 0 && r.IntN(3) == 0 {
					p := r.IntN(i)
					rows[i], cols[i] = rows[p], cols[p]
				}
			}
			rows[0], cols[0] = uint32(c.shape[0]-1), c.shape[1]-1 // out of order
			values := randomNumbers(t, r, dt, c.entries)
			wide := make([]int64, c.entries)
			for i, x := range rows {
				wide[i] = int64(x)
			}
			want, err := tensor.FromCoords(c.shape, format, [][]int64{wide, cols}, values)
			if err != nil {
				t.Fatal(err)
			}
			for name, s := range sessions {
				if s.env.Engine.Name() == runtime.SimulatedName && testengine.Thin(3, i, k, int(s.env.Grain)) {
					continue
				}
				if s.env.Engine.Name() == runtime.CPUName && (i+k+int(s.env.Grain)/2)%2 != 0 {
					continue // compiling is slow
				}
				got, err := s.FromCoords(t.Context(), c.shape, format, []tensor.Array{tensor.ArrayOf(rows), tensor.ArrayOf(cols)}, values)
				if err == nil {
					err = sameArrays(got, want)
				}
				if err != nil {
					t.Fatalf("%d, %s: %d entries as %v: %v", k, name, c.entries, want, err)
				}
			}
		}
	}
	checkKernelsRan(t, sessions)
}

// TestFromCoordsRowsMoves: values that are not summed keep their bits, those of a
// signalling NaN too.
func TestFromCoordsRowsMoves(t *testing.T) {
	const nan32, nan64 = 0x7fa00001, 0x7ff4000000000001
	rows, cols := tensor.ArrayOf([]int32{2, 0, 1, 0, 0}), tensor.ArrayOf([]int32{1, 3, 0, 2, 2})
	for name, s := range rowSessions() {
		f32, _ := tensor.MakeArray(tensor.Float32, 5)
		tensor.View[uint32](f32)[1] = nan32
		f64, _ := tensor.MakeArray(tensor.Float64, 5)
		tensor.View[uint64](f64)[1] = nan64
		x, err := s.FromCoords(t.Context(), []int64{3, 4}, tensor.CSR, []tensor.Array{rows, cols}, f32)
		if err != nil {
			t.Fatal(err)
		}
		y, err := s.FromCoords(t.Context(), []int64{3, 4}, tensor.CSR, []tensor.Array{rows, cols}, f64)
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.View[uint32](x.Values()); len(got) != 4 || got[1] != nan32 {
			t.Errorf("%s: f32 values %x", name, got)
		}
		if got := tensor.View[uint64](y.Values()); len(got) != 4 || got[1] != nan64 {
			t.Errorf("%s: f64 values %x", name, got)
		}
	}
}
