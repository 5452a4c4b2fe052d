package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// estimated is a step of a run: how many entries what it makes was estimated to have, and has.
type estimated struct {
	program, step    string
	expected, actual float64
}

// off is by which factor the estimate is wrong.
func (e *estimated) off() float64 {
	x, y := max(e.expected, 1), max(e.actual, 1)
	return max(x/y, y/x)
}

// estimates compares estimates of what steps make with what they make: of all programs as the optimiser orders them, and of random ones as they are written.
func estimates(s *lacuna.Session, random int) error {
	var chosen, all []estimated
	for _, p := range slices.Concat(programs, more) {
		if !strings.Contains(p.name, *only) {
			continue
		}
		args := lacuna.Args{}
		for name, make := range p.data {
			args[name] = made(name, make)
		}
		list, err := profiled(s, p.name, p.text, args)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		chosen = append(chosen, list...)
	}
	summarise("the programs above", chosen)
	for seed := range random {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		text, args, results := randomProgram(r)
		list, err := profiled(s, fmt.Sprint("seed ", seed), text, args, append(results, lacuna.AsWritten())...)
		if err != nil {
			return fmt.Errorf("seed %d: %s: %w", seed, text, err)
		}
		all = append(all, list...)
	}
	if random > 0 {
		summarise(fmt.Sprint(random, " random programs"), all)
	}
	return nil
}

// profiled runs a program and lists its steps that have an estimate, and more than one element.
func profiled(s *lacuna.Session, name, text string, args lacuna.Args, opts ...lacuna.Option) ([]estimated, error) {
	for of, t := range args {
		opts = append(opts, lacuna.Operand(of, t))
	}
	k, err := s.Compile(context.Background(), text, opts...)
	if err != nil {
		return nil, err
	}
	p, out, err := k.Profile(context.Background(), args)
	if err != nil {
		return nil, err
	}
	for _, t := range out {
		t.Release()
	}
	var list []estimated
	for _, st := range p.Steps {
		if st.Estimate != nil && (st.Estimate.Entries > 1 || st.Entries > 1) {
			list = append(list, estimated{name, st.What, st.Estimate.Entries, float64(st.Entries)})
		}
	}
	return list, nil
}

// summarise prints the share of estimates within a factor of four, and those that are further off.
func summarise(what string, list []estimated) {
	slices.SortStableFunc(list, func(x, y estimated) int { return cmp.Compare(y.off(), x.off()) })
	within := 0
	for _, e := range list {
		if e.off() <= 4 {
			within++
			continue
		}
		fmt.Printf("%-24s %12.0f estimated %12.0f entries  %8.1f  %s\n", e.program, e.expected, e.actual, e.off(), e.step)
	}
	fmt.Printf("%s: %d steps, %.1f %% within a factor of 4\n", what, len(list), 100*float64(within)/float64(max(len(list), 1)))
}

// randomProgram has a few statements of products, sums and masks of square matrices of several kinds, each as it is or transposed.
func randomProgram(r *rand.Rand) (text string, args lacuna.Args, results []lacuna.Option) {
	n := int64(math.Exp2(8 + 4*r.Float64()))
	args = lacuna.Args{}
	var names []string
	for _, name := range []string{"A", "B", "D"} {
		args[name] = randomMatrix(r, n)
		names = append(names, name)
	}
	var lines []string
	products := 0
	for _, name := range []string{"T", "U", "V"} {
		x, y := names[r.IntN(len(names))], names[r.IntN(len(names))]
		form := r.IntN(7)
		if form < 4 && products == 2 {
			form = 4 + r.IntN(3)
		}
		if form < 4 {
			products++
		}
		lines = append(lines, name+"(i,k) = "+[]string{x + "(i,j)*" + y + "(j,k)", x + "(i,j)*" + y + "(k,j)", x + "(j,i)*" + y + "(j,k)", x + "(i,j)*" + y + "(j,k)",
			x + "(i,k)+" + y + "(i,k)", x + "(i,k)*" + y + "(i,k)", x + "(i,k)+" + y + "(k,i)"}[form])
		results = append(results, lacuna.Result(name, tensor.CSR))
		names = append(names, name)
	}
	for _, name := range []string{"A", "B", "D"} {
		if !strings.Contains(strings.Join(lines, ";"), name+"(") {
			delete(args, name)
		}
	}
	return strings.Join(lines, "; "), args, results
}

// randomMatrix has entries spread in one of several ways: uniformly, by power laws, in a band, in blocks, or with a few rows or columns that have most of them.
func randomMatrix(r *rand.Rand, n int64) *tensor.Tensor {
	kind, entries := r.IntN(6), int(float64(n)*math.Exp2(3.5*r.Float64()))
	width := 1 + r.Int64N(32)
	power := 1 + 3*r.Float64()
	skewed := func() int64 { return int64(float64(n) * math.Pow(r.Float64(), power)) }
	seen := map[[2]int64]bool{}
	for range entries {
		at := [2]int64{r.Int64N(n), r.Int64N(n)}
		switch kind {
		case 1:
			at = [2]int64{skewed(), skewed()}
		case 2:
			at[1] = min(max(at[0]+r.Int64N(2*width)-width, 0), n-1)
		case 3:
			at[1] = min(at[0]/width*width+r.Int64N(width), n-1)
		case 4:
			at[0] = skewed()
		case 5:
			at[1] = skewed()
		}
		seen[at] = true
	}
	return matrixAt(n, seen, func() float64 { return 1 + r.Float64() })
}
