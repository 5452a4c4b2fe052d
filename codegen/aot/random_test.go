package aot_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/internal/testing/difftest"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// This file compares random programs, compiled ahead of time, with sessions.

var randomSeeds = flag.Int("aot.random", 40, "how many random programs are compiled ahead of time")
var firstSeed = flag.Uint64("aot.seed", 0, "the first of their seeds")

// seeded is a difftest.Source.
type seeded struct{ *rand.Rand }

func (s seeded) Intn(n int) int { return s.IntN(n) }

// TestRandom compares random programs, on random operands, with a session.
func TestRandom(t *testing.T) {
	l := needLLVM(t)
	smallChunks(t)
	ran := 0
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for seed := *firstSeed; seed < *firstSeed+uint64(*randomSeeds); seed++ {
		c := difftest.New(seeded{rand.New(rand.NewPCG(seed, 7))})
		opts := c.Options()
		args := lacuna.Args{}
		for name, x := range c.Operands {
			args[name] = x
		}
		if len(c.Stored) > 0 {
			continue
		}
		want, wantErr := session.EvalAll(context.Background(), c.Text, args, opts...)
		for name, x := range c.Operands {
			plain, err := x.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			c.Operands[name] = plain
			opts = append(opts, lacuna.Operand(name, plain))
		}
		p, err := lacuna.Link(t.Context(), c.Text, lacuna.BuildOptions{Name: "k"}, opts...)
		var unsupported *aot.UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			continue
		case err != nil:
			// What a session refuses when it binds operands may be refused now.
			var e *lang.Error
			if wantErr == nil || !errors.As(err, &e) {
				t.Fatalf("seed %d: %v (want %v)\n%s", seed, err, wantErr, c)
			}
			continue
		}
		k := load(t, l, p)
		ran++
		for _, threads := range []int{0, 2} {
			got, err := k.run(c.Operands, threads)
			if err != nil || wantErr != nil {
				if err == nil || wantErr == nil || strings.Contains(err.Error(), "no message") {
					t.Fatalf("seed %d: error %v, want %v\n%s", seed, err, wantErr, c)
				}
				continue
			}
			for name, w := range want {
				same(t, name, got[name], w)
			}
			if t.Failed() {
				t.Fatalf("seed %d, %d threads\n%s", seed, threads, c)
			}
		}
		k.module.Close()
	}
	if ran < *randomSeeds/3 {
		t.Errorf("%d of %d programs ran", ran, *randomSeeds)
	}
}
