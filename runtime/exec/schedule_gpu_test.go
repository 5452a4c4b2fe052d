package exec

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestMappingsInSchedules says how statements are mapped to the threads of a GPU: what is printed gives the same grids, other ways the same numbers, and
// one that does not hold is refused with what there is.
func TestMappingsInSchedules(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	s := NewSession(WithEngine(runtime.Simulated()))
	args := Args{"A": randomMatrix(t, r, 60, 60, 5, tensor.CSR), "x": denseVector(t, 60)}
	grids := func(program string) (schedule, grids string, y []float64, err error) {
		k, err := s.kernelFor(ctx, program, args, nil)
		if err != nil {
			return "", "", nil, err
		}
		out, err := k.Run(ctx, args)
		if err != nil {
			return "", "", nil, err
		}
		if schedule, err = k.Explain("schedule"); err != nil {
			t.Fatal(err)
		}
		if grids, err = k.Explain("grids"); err != nil {
			t.Fatal(err)
		}
		return schedule, grids, numbers(t, out), nil
	}
	const product = "y(i) = A(i,j)*x(j)"
	said, usual, want, err := grids(product)
	if err != nil || !strings.Contains(said, "gpu(") {
		t.Fatalf("%v: %s", err, said)
	}
	again, same, _, err := grids(said)
	if err != nil || again != said || same != usual {
		t.Errorf("%v: %s gives\n%s", err, said, again)
	}
	for _, how := range []string{"gpu(rows)", "gpu(elements)"} {
		said, other, got, err := grids(product + " with " + how)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if !strings.Contains(said, strings.Trim(how[4:], ")")) || other == usual && !strings.Contains(said, how) {
			t.Errorf("%s: %s", how, said)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Fatalf("%s: y(%d) is %g, want %g", how, i, got[i], want[i])
			}
		}
	}
	for how, want := range map[string]string{
		"gpu(atomics)":         "and no atomics",
		"gpu(other: rows)":     "and no other: rows",
		"gpu(row)":             "there is no way row",
		"gpu":                  "takes ways",
		"gpu(rows, columns)":   "one way for all stages",
		"gpu(rows), gpu(rows)": "said twice",
	} {
		_, _, _, err := grids(product + " with " + how)
		var refused *lang.Error
		if !errors.As(err, &refused) || refused.Code != lang.ErrSchedule || !refused.Pos.IsKnown() || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
}

// TestMappingsBeforeRuns pastes what is printed before a run, when it is not known which stages there will be.
func TestMappingsBeforeRuns(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	s := NewSession(WithEngine(runtime.Simulated()))
	args := Args{}
	for _, name := range []string{"A", "B", "D", "E"} {
		args[name] = randomMatrix(t, r, 40, 40, 4, tensor.CSR)
	}
	k, err := s.kernelFor(ctx, "C(i,k) = (sum_j A(i,j)*B(j,k)) + (sum_j D(i,j)*E(j,k))", args, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := k.Run(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := NewSession(WithEngine(runtime.Simulated())).kernelFor(ctx, "C(i,k) = (sum_j A(i,j)*B(j,k)) + (sum_j D(i,j)*E(j,k))", args, nil)
	if err != nil {
		t.Fatal(err)
	}
	for when, k := range map[string]*Kernel{"before a run": fresh, "after one": k} {
		said, err := k.Explain("schedule")
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.kernelFor(ctx, said, args, nil)
		if err != nil {
			t.Fatalf("%s: %s: %v", when, said, err)
		}
		got, err := again.Run(ctx, args)
		if err != nil {
			t.Fatalf("%s: %s: %v", when, said, err)
		}
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("%s: %s: %s", when, said, d)
		}
	}
}
