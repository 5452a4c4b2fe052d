package runtime

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file has the programs of the tests of this package.

// The programs that the tests run, each with a point of its own.

func mustFunc(t testing.TB, src string) *loop.Func {
	t.Helper()
	f, err := loop.ParseFunc(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return f
}

// scaleProgram is one call and no allocation: y = 2x.
func scaleProgram(t testing.TB) *loop.Program {
	return &loop.Program{
		Name:    "scale",
		Scalars: []loop.ProgramScalar{{Name: "n", Bound: true}},
		Buffers: []loop.Buffer{{Name: "x", Elem: loop.F64, Role: loop.Input}, {Name: "y", Elem: loop.F64, Role: loop.InOut}},
		Stages: []loop.Stage{{
			Name: "scale", Partition: -1, Bufs: []loop.BufferID{0, 1}, Args: []loop.ScalarID{0},
			Func: mustFunc(t, `func scale(readonly x: []f64, y: []f64; n: i64) chunk c, lo, hi {
				for i = 0 to n { y[i] = 2.0 * x[i] }
			}`),
		}},
	}
}

// spmvProgram is cut by the weight of the rows and allocates its result:
// y = A x, A in CSR. It fails on a column index of x's length or more.
func spmvProgram(t testing.TB) *loop.Program {
	return &loop.Program{
		Name:    "spmv",
		Scalars: []loop.ProgramScalar{{Name: "m", Bound: true}, {Name: "n", Bound: true}, {Name: "chunks"}},
		Buffers: []loop.Buffer{
			{Name: "A_pos", Elem: loop.U32, Role: loop.Input}, {Name: "A_crd", Elem: loop.U32, Role: loop.Input},
			{Name: "A_vals", Elem: loop.F64, Role: loop.Input}, {Name: "x", Elem: loop.F64, Role: loop.Input},
			{Name: "y", Elem: loop.F64, Role: loop.Output},
		},
		Partitions: []loop.Partition{{Name: "rows", N: loop.SizeScalar(0), Weights: 0, Grain: 50, Chunks: 2}},
		Stages: []loop.Stage{{
			Name: "multiply", Partition: 0,
			Allocs: []loop.Alloc{{Buffer: 4, Len: loop.SizeScalar(0)}},
			Bufs:   []loop.BufferID{0, 1, 2, 3, 4}, Args: []loop.ScalarID{1},
			Func: mustFunc(t, `func spmv(readonly pos: []u32, readonly crd: []u32, readonly vals: []f64, readonly x: []f64, y: []f64; n: i64) chunk c, lo, hi {
				for i = lo to hi {
					var s: f64 = 0.0
					for p = i64(pos[i]) to i64(pos[i + 1]) {
						let j: i64 = i64(crd[p])
						if j >= n { fail 0 "column index out of range" }
						s = s + vals[p] * x[j]
					}
					y[i] = s
				}
			}`),
		}},
	}
}

// filterProgram counts, sums the counts up and fills: the elements of x above
// 0, in order. The size of the result is known only halfway.
func filterProgram(t testing.TB) *loop.Program {
	const (
		n, chunks, found loop.ScalarID = 0, 1, 2
		x, counts, out   loop.BufferID = 0, 1, 2
	)
	return &loop.Program{
		Name:    "filter",
		Scalars: []loop.ProgramScalar{{Name: "n", Bound: true}, {Name: "chunks"}, {Name: "found"}},
		Buffers: []loop.Buffer{
			{Name: "x", Elem: loop.F64, Role: loop.Input},
			{Name: "counts", Elem: loop.I64, Role: loop.Temp},
			{Name: "out", Elem: loop.F64, Role: loop.Output},
		},
		Partitions: []loop.Partition{{Name: "elements", N: loop.SizeScalar(n), Weights: -1, Grain: 37, Chunks: chunks}},
		Stages: []loop.Stage{{
			Name: "count", Partition: 0,
			PartitionAllocs: []loop.Alloc{{Buffer: counts, Zero: true,
				Len: &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(chunks), Y: loop.SizeConst(1)}}},
			Bufs: []loop.BufferID{x, counts},
			Func: mustFunc(t, `func count(readonly x: []f64, counts: []i64) chunk c, lo, hi {
				var k: i64 = 0
				for i = lo to hi { if x[i] > 0.0 { k = k + 1 } }
				counts[c + 1] = k
			}`),
		}, {
			Name: "sum", Partition: -1, Bufs: []loop.BufferID{counts}, Args: []loop.ScalarID{chunks},
			Func: mustFunc(t, `func sum(counts: []i64; chunks: i64) chunk c, lo, hi {
				for k = 0 to chunks { counts[k + 1] = counts[k + 1] + counts[k] }
			}`),
		}, {
			Name: "fill", Partition: 0,
			Lets:   []loop.ScalarLet{{Scalar: found, Value: &loop.SizeLoad{Buffer: counts, Index: loop.SizeScalar(chunks)}}},
			Allocs: []loop.Alloc{{Buffer: out, Len: loop.SizeScalar(found)}},
			Bufs:   []loop.BufferID{x, counts, out},
			Func: mustFunc(t, `func fill(readonly x: []f64, readonly counts: []i64, out: []f64) chunk c, lo, hi {
				var p: i64 = counts[c]
				for i = lo to hi { if x[i] > 0.0 { out[p] = x[i]  p = p + 1 } }
			}`),
		}},
	}
}

// sumProgram sums x in chunks and adds the chunks' sums up in order, so that
// rounding is the same however many threads there are.
func sumProgram(t testing.TB) *loop.Program {
	const (
		n, chunks          loop.ScalarID = 0, 1
		x, partials, total loop.BufferID = 0, 1, 2
	)
	return &loop.Program{
		Name:    "sum",
		Scalars: []loop.ProgramScalar{{Name: "n", Bound: true}, {Name: "chunks"}},
		Buffers: []loop.Buffer{
			{Name: "x", Elem: loop.F64, Role: loop.Input},
			{Name: "partials", Elem: loop.F64, Role: loop.Temp},
			{Name: "total", Elem: loop.F64, Role: loop.Output},
		},
		Partitions: []loop.Partition{{Name: "elements", N: loop.SizeScalar(n), Weights: -1, Grain: 100, Chunks: chunks}},
		Stages: []loop.Stage{{
			Name: "partial", Partition: 0,
			PartitionAllocs: []loop.Alloc{{Buffer: partials, Len: loop.SizeScalar(chunks)}},
			Bufs:            []loop.BufferID{x, partials},
			Func: mustFunc(t, `func partial(readonly x: []f64, partials: []f64) chunk c, lo, hi {
				var s: f64 = 0.0
				for i = lo to hi { s = s + x[i] }
				partials[c] = s
			}`),
		}, {
			Name: "combine", Partition: 0, Ordered: true,
			Allocs: []loop.Alloc{{Buffer: total, Len: loop.SizeConst(1), Zero: true}},
			Bufs:   []loop.BufferID{partials, total},
			Func: mustFunc(t, `func combine(readonly partials: []f64, total: []f64) chunk c, lo, hi {
				total[0] = total[0] + partials[c]
			}`),
		}},
	}
}
