package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// entryList is a matrix as coordinates, sorted by row.
type entryList struct {
	name       string
	n          int64
	rows, cols []int64
	values     []float64
}

// benchmarkMatrices are matrices of three kinds: rows all alike, a grid, and a
// graph with heavy rows.
func benchmarkMatrices(b *testing.B) []entryList {
	r := rand.New(rand.NewPCG(1, 1))
	uniform := entryList{name: "uniform", n: 20000}
	for i := range uniform.n {
		for range 16 {
			uniform.add(i, r.Int64N(uniform.n))
		}
	}
	const side = 500
	grid := entryList{name: "grid", n: side * side}
	for i := range grid.n {
		for _, d := range []int64{-side, -1, 0, 1, side} {
			if j := i + d; j >= 0 && j < grid.n && (d*d != 1 || i/side == j/side) {
				grid.add(i, j)
			}
		}
	}
	const scale = 16
	graph := entryList{name: "rmat", n: 1 << scale}
	for range graph.n * 16 {
		var i, j int64
		for range scale {
			x := r.Float64()
			i, j = 2*i, 2*j
			switch {
			case x < .57:
			case x < .76:
				j++
			case x < .95:
				i++
			default:
				i, j = i+1, j+1
			}
		}
		graph.add(i, j)
	}
	list := []entryList{uniform, grid, graph}
	for k := range list {
		l := &list[k]
		t, err := tensor.FromCoords([]int64{l.n, l.n}, tensor.COO, [][]int64{l.rows, l.cols}, tensor.ArrayOf(l.values))
		if err != nil {
			b.Fatal(err)
		}
		coords, values, err := t.ToCoords()
		if err != nil {
			b.Fatal(err)
		}
		l.rows, l.cols, l.values = coords[0], coords[1], tensor.View[float64](values)
	}
	return list
}

func (l *entryList) add(i, j int64) {
	l.rows, l.cols, l.values = append(l.rows, i), append(l.cols, j), append(l.values, float64(len(l.rows)%7+1))
}

// shuffled is the list in random order.
func (l entryList) shuffled() entryList {
	out := entryList{name: l.name, n: l.n}
	for _, k := range rand.New(rand.NewPCG(2, 2)).Perm(len(l.rows)) {
		out.rows, out.cols, out.values = append(out.rows, l.rows[k]), append(out.cols, l.cols[k]), append(out.values, l.values[k])
	}
	return out
}

func narrowed(list []int64) tensor.Array {
	out := make([]uint32, len(list))
	for i, v := range list {
		out[i] = uint32(v)
	}
	return tensor.ArrayOf(out)
}

// BenchmarkConvert measures conversions by kernels on one and two threads, and
// without kernels.
func BenchmarkConvert(b *testing.B) {
	for _, l := range benchmarkMatrices(b) {
		shape := []int64{l.n, l.n}
		values := tensor.ArrayOf(l.values)
		coo, err := tensor.FromCoords(shape, tensor.COO, [][]int64{l.rows, l.cols}, values)
		if err != nil {
			b.Fatal(err)
		}
		csr, err := coo.Convert(tensor.CSR)
		if err != nil {
			b.Fatal(err)
		}
		mixed := l.shuffled()
		mixedValues := tensor.ArrayOf(mixed.values)
		cases := []struct {
			name  string
			plain func() (*tensor.Tensor, error)
			run   func(s *Session) (*tensor.Tensor, error)
		}{
			{"CSR-CSC", func() (*tensor.Tensor, error) { return csr.Convert(tensor.CSC) },
				func(s *Session) (*tensor.Tensor, error) { return s.Convert(b.Context(), csr, tensor.CSC) }},
			{"COO-CSR-sorted", func() (*tensor.Tensor, error) { return coo.Convert(tensor.CSR) },
				func(s *Session) (*tensor.Tensor, error) { return s.Convert(b.Context(), coo, tensor.CSR) }},
			{"coords-CSR-sorted",
				func() (*tensor.Tensor, error) {
					return tensor.FromCoords(shape, tensor.CSR, [][]int64{l.rows, l.cols}, values)
				},
				func(s *Session) (*tensor.Tensor, error) {
					return s.FromCoords(b.Context(), shape, tensor.CSR, []tensor.Array{narrowed2(l.rows), narrowed2(l.cols)}, values)
				}},
			{"coords-CSR-shuffled",
				func() (*tensor.Tensor, error) {
					return tensor.FromCoords(shape, tensor.CSR, [][]int64{mixed.rows, mixed.cols}, mixedValues)
				},
				func(s *Session) (*tensor.Tensor, error) {
					return s.FromCoords(b.Context(), shape, tensor.CSR, []tensor.Array{narrowed2(mixed.rows), narrowed2(mixed.cols)}, mixedValues)
				}},
		}
		for _, c := range cases {
			measure := func(b *testing.B, f func() (*tensor.Tensor, error)) {
				if _, err := f(); err != nil { // compiles
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := f(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(l.rows)), "ns/entry")
			}
			b.Run(fmt.Sprintf("%s/%s/plain", c.name, l.name), func(b *testing.B) { measure(b, c.plain) })
			cpu, err := runtime.CPU()
			if err != nil {
				b.Skip(err)
			}
			for _, threads := range []int{1, 2} {
				s := NewSession(WithEngine(cpu), WithThreads(threads))
				s.env.convert.Always = true
				b.Run(fmt.Sprintf("%s/%s/threads=%d", c.name, l.name, threads), func(b *testing.B) {
					measure(b, func() (*tensor.Tensor, error) { return c.run(s) })
				})
			}
		}
	}
}

// narrowLists remembers narrowed lists, which are not what is measured.
var narrowLists = map[*int64]tensor.Array{}

func narrowed2(list []int64) tensor.Array {
	a, ok := narrowLists[&list[0]]
	if !ok {
		a = narrowed(list)
		narrowLists[&list[0]] = a
	}
	return a
}
