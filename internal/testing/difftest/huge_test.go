package difftest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares tensors of huge extents with small ones of the same entries.

// far is where a small coordinate goes in a tensor whose extents are huge, in order.
func far(c int64) int64 { return c<<44 | c*2654435761&0xffff }

// hugeShapes are programs in which only what is stored matters: sums of products.
func hugeShapes() []string {
	var list []string
	for _, sh := range shapes {
		others := []string{"where", "min", "max", "mean", "prod", "any", "log", "k*", "in A", "in B", "_k (", "+1", "2*", "R(1,", "count"}
		used := false
		for _, o := range others {
			used = used || strings.Contains(sh.text, o)
		}
		if !used {
			list = append(list, sh.text)
		}
	}
	return list
}

// TestHugeExtents runs programs on tensors whose axes have extents of 2^50, stored in
// formats that do not list every coordinate, and compares what they store with what the same
// entries give in small tensors.
func TestHugeExtents(t *testing.T) {
	var engines []*lacuna.Session
	for _, how := range []setting{{1, "", true}, {0, "hash", false}, {0, "sort", true}} {
		engines = append(engines, session(runtime.Interp(), 2, how))
	}
	native, err := runtime.CPU()
	compiled := session(native, 2, setting{})
	for n, text := range hugeShapes() {
		for trial := range 4 {
			if testengine.Thin(2, n/2, trial) {
				continue
			}
			g := newGenerator(program(*seed, 100*n+trial))
			g.dtype, g.mixed, g.special, g.Strict = tensor.Int64, false, false, false
			s := engines[(n+trial)%len(engines)]
			if err == nil && n%8 == 0 && trial == 0 {
				s = compiled // for some: each costs a compilation
			}
			if err := g.compareHuge(text, s); err != nil {
				t.Errorf("%s, trial %d: %v", text, trial, err)
			}
		}
	}
}

// compareHuge runs a program on small and on huge tensors.
func (g *generator) compareHuge(text string, s *lacuna.Session) error {
	for _, v := range indexNames {
		g.extents[v] = int64(pick(g, 3, 4, 2, 5))
	}
	g.fit(text)
	small, huge := lacuna.Args{}, lacuna.Args{}
	var opts []lacuna.Option
	results := map[string]bool{}
	var err error
	describe := ""
	for _, stmt := range strings.Split(text, "; ") {
		left, right, _ := strings.Cut(stmt, "=")
		letters(right, func(name string, indices []string) {
			if results[name] || small[name] != nil || err != nil {
				return
			}
			var shape []int64
			for _, v := range indices {
				shape = append(shape, g.extents[v])
			}
			f := g.thin(len(shape))
			a := g.fromValues(shape, f, g.dtype, tensor.Zero(g.dtype), func() tensor.Scalar { return g.value(g.dtype) })
			if a, err = a.Convert(f); err != nil {
				return
			}
			small[name] = a
			huge[name], err = spread(a)
			describe += fmt.Sprintf(" %s: %v", name, f)
		})
		letters(left, func(name string, indices []string) {
			f := g.thin(len(indices))
			results[name] = true
			opts = append(opts, lacuna.Result(name, f))
			describe += fmt.Sprintf(" %s: %v", name, f)
		})
	}
	if err != nil {
		return err
	}
	want, err := s.EvalAll(context.Background(), strings.ReplaceAll(text, "; ", "\n"), small, opts...)
	if err != nil {
		return fmt.Errorf("small:%s: %w", describe, err)
	}
	got, err := s.EvalAll(context.Background(), strings.ReplaceAll(text, "; ", "\n"), huge, opts...)
	if err != nil {
		return fmt.Errorf("huge:%s: %w", describe, err)
	}
	for name, w := range want {
		if w.Rank() > 0 {
			if w, err = spread(w); err != nil {
				return err
			}
		}
		if d := tensor.Diff(w, got[name]); d != "" {
			return fmt.Errorf("%s differs:%s: %s", name, describe, d)
		}
	}
	return nil
}

// thin is a random format without levels that list every coordinate.
func (g *generator) thin(rank int) tensor.Format {
	levels, order := make([]tensor.LevelKind, rank), make([]int, rank)
	for k := range levels {
		levels[k], order[k] = pick(g, tensor.S, tensor.DC), k
	}
	if rank > 0 {
		levels[rank-1] = tensor.S
	}
	f, err := tensor.FormatOf(levels, shuffle(g, order))
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	return f
}

// spread moves every entry of a tensor to where it is far from the others.
func spread(t *tensor.Tensor) (*tensor.Tensor, error) {
	coords, values, err := t.ToCoords()
	if err != nil {
		return nil, err
	}
	shape := make([]int64, t.Rank())
	for axis, list := range coords {
		shape[axis] = 1 << 50
		for i, c := range list {
			list[i] = far(c)
		}
	}
	return tensor.FromCoords(shape, t.Format(), coords, values, tensor.WithFill(t.Fill()))
}
