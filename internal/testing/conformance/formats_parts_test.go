package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// checkParts cuts a tensor along each of its axes, and along two, over four ranks: what they have together is the tensor, and a program that they run gives
// what one rank gives. A tensor without an axis has no parts.
func (c *formatCase) checkParts(t *testing.T, spelled *tensor.Tensor) {
	whole, err := spelled.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Rank()
	if n == 0 {
		return
	}
	indices := strings.Join(strings.Split("ijklmnopq"[:n], ""), ",")
	program := fmt.Sprintf("y(%s) = 2*A(%s)", indices, indices)
	s := exec.NewSession(exec.WithEngine(runtime.Interp()), exec.WithThreads(1))
	want, err := s.EvalAll(t.Context(), program, exec.Args{"A": whole}, declare.AsWritten())
	if err != nil {
		t.Fatal(err)
	}
	line, square := placement.Line("r", 4), &placement.Grid{Names: []string{"r", "c"}, Sizes: []int{2, 2}}
	var list []*placement.Placement
	dealt := func(extent int64, parts int) *placement.Cut {
		if extent > 1<<16 { // each coordinate is listed
			return placement.Blocks(extent, parts)
		}
		return placement.Cyclic(extent, parts, 1)
	}
	for axis, extent := range whole.Shape() {
		list = append(list, placement.OneAxis(line, n, axis, placement.Blocks(extent, 4), 0), placement.OneAxis(line, n, axis, dealt(extent, 4), 0))
		if axis > 0 {
			p := placement.OneAxis(square, n, axis, placement.Blocks(extent, 2), 1)
			p.Cuts[0], p.Over[0] = dealt(whole.Shape()[0], 2), 0
			list = append(list, p)
		}
	}
	if testing.Short() {
		list = list[len(c.ID)%len(list):][:1]
	}
	for _, p := range list {
		err := ranks.Run(t.Context(), 4, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
			r, err := dist.New(ctx, s, tr, p.Grid)
			if err != nil {
				return err
			}
			a, err := r.Cut(whole, p)
			if err != nil {
				return err
			}
			got, err := r.Gather(ctx, a)
			if err != nil {
				return err
			}
			if d := tensor.Diff(got, whole); d != "" {
				return fmt.Errorf("together: %s", d)
			}
			out, err := r.Eval(ctx, program, map[string]*dist.Tensor{"A": a}, dist.Options{})
			if err != nil {
				return err
			}
			if got, err = r.Gather(ctx, out["y"]); err != nil {
				return err
			}
			if d := tensor.Diff(got, want["y"]); d != "" {
				return fmt.Errorf("%s: %s", program, d)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}
