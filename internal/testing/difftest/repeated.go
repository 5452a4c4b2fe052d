package difftest

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// CompareRepeated runs the program of the case on operands that are on the session's device again and again, sometimes with other values in
// the same patterns, and checks that each result is that of the first run on them, to the bit. Programs that are refused pass.
func (c *Case) CompareRepeated(ctx context.Context, s *lacuna.Session) error {
	opts := c.Options()
	if c.Strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	there := func(args lacuna.Args) (lacuna.Args, error) {
		on := lacuna.Args{}
		for name, o := range args {
			on[name] = o
			if t, ok := o.(*tensor.Tensor); ok {
				moved, err := s.ToDevice(ctx, t)
				if err != nil {
					return nil, err
				}
				on[name] = moved
			}
		}
		return on, nil
	}
	here, others := c.args(), reversed(c.args())
	mixed := lacuna.Args{} // in which only what is dense is another
	for name, o := range here {
		mixed[name] = o
		if t, ok := o.(*tensor.Tensor); ok && t.Format().IsDense() && t.DType().IsFloat() {
			mixed[name] = turned(t)
		}
	}
	args, err := there(here)
	if err != nil {
		return nil
	}
	other, err := there(others)
	if err != nil {
		return c.failure(s, err)
	}
	if mixed, err = there(mixed); err != nil {
		return c.failure(s, err)
	}
	for name, o := range args {
		if t, ok := o.(*tensor.Tensor); ok && !t.Format().IsDense() {
			mixed[name] = o
		}
	}
	for name, o := range args {
		opts = append(opts, lacuna.Operand(name, o))
	}
	k, err := s.Compile(ctx, c.Text, opts...)
	if err != nil {
		return nil
	}
	all := []lacuna.Args{args, mixed, other}
	var want []lacuna.Outputs
	for _, a := range all {
		out, err := k.RunAll(ctx, a)
		if err != nil {
			return nil
		}
		want = append(want, out)
	}
	for run, i := range []int{0, 0, 1, 0, 2, 1, 2} {
		got, err := k.RunAll(ctx, all[i])
		if err == nil {
			err = same(want[i], got)
		}
		if err != nil {
			return c.failure(s, fmt.Errorf("run %d of them: %w", run+len(all), err))
		}
	}
	return nil
}
