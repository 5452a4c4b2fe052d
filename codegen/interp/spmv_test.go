package interp

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file has benchmarks of whole functions.

// spmvText multiplies a CSR matrix by a vector, as the lowerer writes it.
const spmvText = `func spmv(readonly A_pos: []u32, readonly A_crd: []u32, readonly A_vals: []f64, readonly x: []f64, y: []f64; n: i64) chunk c, lo, hi {
  for independent i = lo to hi {
    var s: f64 = 0.0
    for p = i64(A_pos[i]) to i64(A_pos[i + 1]) {
      s = s + A_vals[p] * x[i64(A_crd[p])]
    }
    y[i] = s
  }
}
`

// mergeText multiplies two sparse vectors entry by entry.
const mergeText = `func dot(readonly A_crd: []u32, readonly A_vals: []f64, readonly B_crd: []u32, readonly B_vals: []f64, y: []f64; na: i64, nb: i64) chunk c, lo, hi {
  var s: f64 = 0.0
  var pa: i64 = 0
  var pb: i64 = 0
  while pa < na & pb < nb {
    let ja: i64 = i64(A_crd[pa])
    let jb: i64 = i64(B_crd[pb])
    let j: i64 = min(ja, jb)
    if ja == j & jb == j {
      s = s + A_vals[pa] * B_vals[pb]
    }
    pa = pa + i64(ja == j)
    pb = pb + i64(jb == j)
  }
  y[0] = s
}
`

func mustParse(t testing.TB, text string) *loop.Func {
	t.Helper()
	f, err := loop.ParseFunc(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustCompile(t testing.TB, text string) *Kernel {
	t.Helper()
	k, err := Compile(mustParse(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// memory is the Memory of a slice.
func memory[T any](s []T) Memory {
	return Memory{unsafe.Pointer(unsafe.SliceData(s)), int64(len(s))}
}

// A csr is a random matrix and the operands of SpMV.
type csr struct {
	pos, crd   []uint32
	vals, x, y []float64
}

func randomCSR(rows, perRow int) *csr {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &csr{pos: []uint32{0}, x: make([]float64, rows), y: make([]float64, rows)}
	for i := range rows {
		m.x[i] = rng.Float64()
		for range rng.IntN(2*perRow + 1) {
			m.crd = append(m.crd, uint32(rng.IntN(rows)))
			m.vals = append(m.vals, rng.Float64())
		}
		m.pos = append(m.pos, uint32(len(m.crd)))
	}
	return m
}

func (m *csr) buffers(y []float64) []Memory {
	return []Memory{memory(m.pos), memory(m.crd), memory(m.vals), memory(m.x), memory(y)}
}

// multiply is what spmvText says, in Go.
func (m *csr) multiply(y []float64) {
	for i := range y {
		s := 0.0
		for p := m.pos[i]; p < m.pos[i+1]; p++ {
			s += float64(m.vals[p] * m.x[m.crd[p]])
		}
		y[i] = s
	}
}

func BenchmarkSpMV(b *testing.B) {
	m := randomCSR(10000, 16)
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			m.multiply(m.y)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(m.crd)), "ns/entry")
	})
	b.Run("interp", func(b *testing.B) {
		k := mustCompile(b, spmvText)
		bufs := m.buffers(m.y)
		for b.Loop() {
			k.Call(bufs, []int64{10000}, 0, 0, 10000)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(m.crd)), "ns/entry")
	})
}

func BenchmarkMerge(b *testing.B) {
	k := mustCompile(b, mergeText)
	const n = 10000
	crdA, crdB, vals, y := make([]uint32, n), make([]uint32, n), make([]float64, n), make([]float64, 1)
	for i := range crdA {
		crdA[i], crdB[i] = uint32(2*i), uint32(3*i)
	}
	bufs := []Memory{memory(crdA), memory(vals), memory(crdB), memory(vals), memory(y)}
	for b.Loop() {
		k.Call(bufs, []int64{n, n}, 0, 0, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/entry")
}

func BenchmarkCompile(b *testing.B) {
	f := mustParse(b, spmvText)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(f, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	k := mustCompile(b, spmvText)
	m := randomCSR(1, 1)
	bufs := m.buffers(m.y)
	b.ReportAllocs()
	for b.Loop() {
		k.Call(bufs, []int64{1}, 0, 0, 0)
	}
}
