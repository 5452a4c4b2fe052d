//go:build gosource

// Command gosource compares kernels as Go source with those of a session on one thread, and with what one would write by hand in
// Go: no vectors, every index checked. sh bench/gosource.sh makes the kernels first.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/bench/gosource/kernels"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// rows is small enough that a run is shorter than a time slice, and that its operands fit in a cache of a core, which the least times
// on a busy machine then tell something about.
const rows = 4000

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func random(n, per int, seed uint64) *tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 1))
	pos, crd, vals := []int64{0}, []int64{}, []float64{}
	for range n {
		m := map[int64]bool{}
		for len(m) < per {
			m[r.Int64N(int64(n))] = true
		}
		var l []int64
		for c := range m {
			l = append(l, c)
		}
		slices.Sort(l)
		crd = append(crd, l...)
		for range l {
			vals = append(vals, r.Float64())
		}
		pos = append(pos, int64(len(crd)))
	}
	p32, c32 := make([]uint32, len(pos)), make([]uint32, len(crd))
	for i := range pos {
		p32[i] = uint32(pos[i])
	}
	for i := range crd {
		c32[i] = uint32(crd[i])
	}
	return must(tensor.NewCSR([]int64{int64(n), int64(n)}, p32, c32, vals))
}

func dense(shape ...int64) *tensor.Tensor {
	n := int64(1)
	for _, s := range shape {
		n *= s
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = rand.Float64()
	}
	return must(tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(v)))
}

// compare prints a row of the table: the least times of three ways by turns; by hand may be nil.
func compare(title string, ours, source, hand func()) {
	sides := []func(){ours, source, hand}
	least := make([]float64, len(sides))
	for round := range 1000 {
		for i, f := range sides {
			if f == nil {
				continue
			}
			at := time.Now()
			f()
			if took := time.Since(at).Seconds() * 1e3; round == 3 || round > 3 && took < least[i] {
				least[i] = took
			}
		}
	}
	byHand := ""
	if hand != nil {
		byHand = fmt.Sprintf("%.3g", least[2])
	}
	fmt.Printf("| %s | %.3g | %.3g | %s | %.2f |\n", title, least[0], least[1], byHand, least[0]/least[1])
}

func main() {
	ctx := context.Background()
	fmt.Printf("Least times of 996 runs in milliseconds, by turns, one thread, two random matrices of %d rows with 16 entries each.\n\n| operation | lacuna 1t | Go source | Go by hand | lacuna / Go source |\n| --- | ---: | ---: | ---: | ---: |\n", rows)
	s := lacuna.NewSession(lacuna.WithEngine(must(runtime.CPU())), lacuna.WithThreads(1))
	A, B := random(rows, 16, 1), random(rows, 16, 2)
	x, X, X8 := dense(rows), dense(rows, 64), dense(rows, 8)
	run := func(src string, args lacuna.Args, opts ...lacuna.Option) func() {
		for n, t := range args {
			opts = append(opts, lacuna.Operand(n, t))
		}
		k := must(s.Compile(ctx, src, opts...))
		return func() { must(k.Run(ctx, args)).Release() }
	}
	pos, crd, vals := tensor.View[uint32](A.LevelAt(1).Pos), tensor.View[uint32](A.LevelAt(1).Crd), tensor.View[float64](A.Values())
	bpos, bcrd, bvals := tensor.View[uint32](B.LevelAt(1).Pos), tensor.View[uint32](B.LevelAt(1).Crd), tensor.View[float64](B.Values())
	xs := tensor.View[float64](x.Values())
	hand := func() {
		y := make([]float64, rows)
		for i := range y {
			lo, hi := pos[i], pos[i+1]
			c, v := crd[lo:hi], vals[lo:hi]
			acc := 0.0
			for k, j := range c {
				acc += v[k] * xs[j]
			}
			y[i] = acc
		}
	}
	handMM := func(X *tensor.Tensor, K int) func() {
		xs := tensor.View[float64](X.Values())
		return func() {
			out := make([]float64, rows*K)
			for i := range rows {
				row := out[i*K:][:K]
				p, end := int(pos[i]), int(pos[i+1])
				for ; p+4 <= end; p += 4 {
					a0, a1, a2, a3 := vals[p], vals[p+1], vals[p+2], vals[p+3]
					b0, b1, b2, b3 := xs[int(crd[p])*K:][:K], xs[int(crd[p+1])*K:][:K], xs[int(crd[p+2])*K:][:K], xs[int(crd[p+3])*K:][:K]
					for k := range row {
						row[k] = row[k] + a0*b0[k] + a1*b1[k] + a2*b2[k] + a3*b3[k]
					}
				}
				for ; p < end; p++ {
					a, b := vals[p], xs[int(crd[p])*K:][:K]
					for k := range row {
						row[k] += a * b[k]
					}
				}
			}
		}
	}
	// For few columns: those of a row in registers, two entries at a time, one check of bounds for eight elements. Faster than
	// handMM for 8 columns, slower for 64.
	handStrips := func(X *tensor.Tensor) func() {
		const K = 8
		xs := tensor.View[float64](X.Values())
		return func() {
			out := make([]float64, rows*K)
			for i := range rows {
				lo, hi := pos[i], pos[i+1]
				c, v := crd[lo:hi], vals[lo:hi]
				v = v[:len(c)]
				o := (*[K]float64)(out[i*K:])
				s0, s1, s2, s3, s4, s5, s6, s7 := o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7]
				p := 0
				for ; p+1 < len(c); p += 2 {
					a, e := v[p], v[p+1]
					at, next := int(c[p])*K, int(c[p+1])*K
					b, d := (*[K]float64)(xs[at:at+K:at+K]), (*[K]float64)(xs[next:next+K:next+K])
					s0 = s0 + a*b[0] + e*d[0]
					s1 = s1 + a*b[1] + e*d[1]
					s2 = s2 + a*b[2] + e*d[2]
					s3 = s3 + a*b[3] + e*d[3]
					s4 = s4 + a*b[4] + e*d[4]
					s5 = s5 + a*b[5] + e*d[5]
					s6 = s6 + a*b[6] + e*d[6]
					s7 = s7 + a*b[7] + e*d[7]
				}
				for ; p < len(c); p++ {
					a, at := v[p], int(c[p])*K
					b := (*[K]float64)(xs[at : at+K : at+K])
					s0 += a * b[0]
					s1 += a * b[1]
					s2 += a * b[2]
					s3 += a * b[3]
					s4 += a * b[4]
					s5 += a * b[5]
					s6 += a * b[6]
					s7 += a * b[7]
				}
				*o = [K]float64{s0, s1, s2, s3, s4, s5, s6, s7}
			}
		}
	}
	handAdd := func() {
		oc, ov := make([]uint32, len(crd)+len(bcrd)), make([]float64, len(crd)+len(bcrd))
		op := make([]uint32, rows+1)
		n := 0
		for i := range rows {
			p, e, q, f := int(pos[i]), int(pos[i+1]), int(bpos[i]), int(bpos[i+1])
			for p < e && q < f {
				a, b := crd[p], bcrd[q]
				switch {
				case a < b:
					oc[n], ov[n] = a, vals[p]
					p++
				case a > b:
					oc[n], ov[n] = b, bvals[q]
					q++
				default:
					oc[n], ov[n] = a, vals[p]+bvals[q]
					p++
					q++
				}
				n++
			}
			for ; p < e; p++ {
				oc[n], ov[n] = crd[p], vals[p]
				n++
			}
			for ; q < f; q++ {
				oc[n], ov[n] = bcrd[q], bvals[q]
				n++
			}
			op[i+1] = uint32(n)
		}
	}

	compare("A*x", run("y(i) = A(i,j)*x(j)", lacuna.Args{"A": A, "x": x}), func() { must(kernels.SpMV(ctx, A, x)) }, hand)
	compare("A*X, 64 columns", run("C(i,k) = A(i,j)*B(j,k)", lacuna.Args{"A": A, "B": X}), func() { must(kernels.SpMM(ctx, A, X)) }, handMM(X, 64))
	compare("A*X, 8 columns", run("C(i,k) = A(i,j)*B(j,k)", lacuna.Args{"A": A, "B": X8}), func() { must(kernels.SpMM(ctx, A, X8)) }, handStrips(X8))
	csr := tensor.CSR
	compare("A+B", run("C(i,j) = A(i,j)+B(i,j)", lacuna.Args{"A": A, "B": B}, lacuna.Result("C", csr)), func() { must(kernels.Add(ctx, A, B)) }, handAdd)
	compare("A*B", run("C(i,j) = A(i,j)*B(i,j)", lacuna.Args{"A": A, "B": B}, lacuna.Result("C", csr)), func() { must(kernels.Mul(ctx, A, B)) }, nil)
}
