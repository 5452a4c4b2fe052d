package derive_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/oracle"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares gradients of random programs with differences.

var (
	programs = flag.Int("programs", 100, "number of random programs in TestDifferences")
	seed     = flag.Uint64("seed", 1, "seed of TestDifferences")
	only     = flag.Int("only", -1, "the one program of TestDifferences to run")
)

// TestDifferences compares gradients of random programs with central differences, which
// the oracle computes: it shares nothing with the compiler. A tenth of the derived
// programs is derived once more.
//
//	go test ./ir/derive -run Differences -programs 2000 -seed 1 -timeout 0
func TestDifferences(t *testing.T) {
	testengine.Parallel(t)
	var engines []*lacuna.Session
	for _, e := range testengine.All(t) {
		engines = append(engines, lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithThreads(2)))
	}
	tallies := make([]tally, *programs)
	testengine.Each(*programs, func(n int) bool {
		if *only >= 0 && n != *only {
			return true
		}
		g := newWriter(rand.New(rand.NewPCG(*seed, uint64(n))))
		s := engines[0]
		if n%10 == 0 {
			s = engines[len(engines)-1]
		}
		src := g.program()
		wrt := g.operand()
		derived := compare(t, s, g, src, wrt, &tallies[n], n)
		if derived != nil && n%10 == 1 {
			g.args[derived.Upstream] = g.upstream(src)
			compare(t, s, g, derived.Source, wrt, &tallies[n], n)
		}
		return !t.Failed()
	})
	if t.Failed() {
		return
	}
	total := tally{}
	for _, one := range tallies {
		total.gradients += one.gradients
		total.elements += one.elements
		total.kinks += one.kinks
		total.refused += one.refused
	}
	t.Logf("%d gradients, %d elements compared, %d at kinks left out, %d programs without a gradient", total.gradients, total.elements, total.kinks, total.refused)
	if *only < 0 && (total.kinks > total.elements/10 || total.refused > *programs/3) {
		t.Errorf("too little was compared: %+v", total)
	}
}

type tally struct{ gradients, elements, kinks, refused int }

// compare derives a program and checks every element of the gradient.
func compare(t *testing.T, s *lacuna.Session, g *writer, src, wrt string, total *tally, n int) *lacuna.Gradient {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("program %d: %s\nwith respect to %s: %s\n%s", n, src, wrt, fmt.Sprintf(format, args...), g.describe())
	}
	var opts []lacuna.Option
	for name, a := range g.args {
		opts = append(opts, lacuna.Operand(name, a))
	}
	d, err := s.Grad(t.Context(), src, wrt, opts...)
	if err != nil {
		// No dependence; a form without a rule; `in` with two accesses that it may mean.
		for _, code := range []string{"[E501]", "[E503]", "[E209]"} {
			if strings.Contains(err.Error(), code) {
				total.refused++
				return nil
			}
		}
		fail("%v", err)
		return nil
	}
	args := lacuna.Args{}
	for name, a := range g.args {
		args[name] = a
	}
	up := g.upstream(src)
	args[d.Upstream] = up
	got, err := s.EvalGrad(context.Background(), src, wrt, args)
	if err != nil {
		fail("%v\nderived:\n%s", err, d.Source)
		return nil
	}
	a := g.args[wrt]
	if got.Format() != a.Format() || got.NNZ() != a.NNZ() || !got.Fill().IsZero() {
		fail("the gradient is %v, the operand %v", got, a)
		return nil
	}
	total.gradients++
	want := tensor.View[float64](a.Values())
	grad := tensor.View[float64](got.Values())
	loss := g.loss(src, up)
	for e := range want {
		at := func(h float64) float64 { return loss(wrt, e, h) }
		const h = 1e-5
		below, here, above := at(-h), at(0), at(h)
		left, right := (here-below)/h, (above-here)/h
		fd := (above - below) / (2 * h)
		scale := math.Max(1, math.Max(math.Abs(fd), math.Abs(here)))
		if math.IsNaN(fd) || math.Abs(left-right) > 1e-2*scale {
			total.kinks++
			continue
		}
		total.elements++
		if !(math.Abs(fd-grad[e]) <= 2e-5*scale) {
			fail("element %d: the gradient is %v, differences give %v (%v, %v)\nderived:\n%s", e, grad[e], fd, left, right, d.Source)
			return nil
		}
	}
	return d
}

// loss evaluates the sum of upstream times result by brute force, with one element of one
// operand moved.
func (g *writer) loss(src string, up *tensor.Tensor) func(wrt string, element int, by float64) float64 {
	p, ext := g.bind(src)
	weights, err := up.ToDense()
	if err != nil {
		panic(err)
	}
	w := tensor.View[float64](weights)
	last := p.Stmts[len(p.Stmts)-1].LHS.Tensor.Name
	return func(wrt string, element int, by float64) float64 {
		args := map[string]*tensor.Tensor{}
		for name, a := range g.args {
			args[name] = a
		}
		args[wrt] = moved(g.args[wrt], element, by)
		out, err := oracle.Eval(p, args, ext, oracle.Gaps)
		if err != nil {
			return math.NaN()
		}
		sum := 0.0
		for i, v := range out[last].Values {
			sum += w[i] * real(v.C)
		}
		return sum
	}
}

// moved is a tensor with one stored value changed.
func moved(a *tensor.Tensor, element int, by float64) *tensor.Tensor {
	values, err := a.Values().Convert(tensor.Float64)
	if err != nil {
		panic(err)
	}
	list := append([]float64(nil), tensor.View[float64](values)...)
	list[element] += by
	return tensor.NewTrusted(a.Shape(), a.Format(), a.Levels(), tensor.ArrayOf(list), a.Fill())
}
