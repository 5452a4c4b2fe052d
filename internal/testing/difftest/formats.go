package difftest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/oracle"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// CompareFormats runs the case, and again with its sparse operands and its results stored otherwise, and checks that elements
// whose value does not depend on the order of sums are the same: how a tensor is stored matters through what it stores alone.
func (c *Case) CompareFormats(ctx context.Context, s *lacuna.Session) error {
	if c.Refused != "" {
		return nil
	}
	want, err := c.judge(c.Strict)
	if err != nil {
		return nil // a program that is refused, which Compare looks at
	}
	first, err := c.run(ctx, s, c.Strict)
	if err != nil {
		return nil
	}
	other := c.otherFormats()
	got, err := other.run(ctx, s, c.Strict)
	if other.unsupported(err) {
		return nil
	}
	if err != nil {
		return other.failure(s, err)
	}
	for name, w := range want {
		if err := sameValues(first[name], got[name], w); err != nil {
			return other.failure(s, fmt.Errorf("%s in other formats: %w", name, err))
		}
	}
	return nil
}

// otherFormats is the case with sparse operands as lists, or as compressed levels if they are lists, in the opposite order of
// axes, and with results dense or, if they are, sparse. What a later statement reads stays, as what it stores counts there.
func (c *Case) otherFormats() *Case {
	v := *c
	v.Operands, v.Results = maps.Clone(c.Operands), maps.Clone(c.Results)
	for name, t := range c.Operands {
		_, declared := c.Results[name]
		if declared || c.Stored[name] != nil || t.Rank() == 0 || t.Format().HasBlocks() {
			continue
		}
		order := slices.Clone(t.Format().Order())
		slices.Reverse(order)
		f := tensor.Coordinates(t.Rank())
		if first := t.Format().Outer(2); first.IsCoordinates() {
			f = tensor.CSF(t.Rank())
		}
		f, err := f.WithOrder(order)
		if err != nil {
			panic(fmt.Sprintf("difftest: %v", err))
		}
		if v.Operands[name], err = t.Convert(f); err != nil {
			panic(fmt.Sprintf("difftest: %v", err))
		}
	}
	for name, r := range c.Results {
		if !r.HasFormat || r.Format.Rank() == 0 || c.Operands[name] != nil || strings.Count(c.Text, name+"(") != 1 {
			continue
		}
		if r.Format.IsDense() {
			r.Format = tensor.CSF(r.Format.Rank())
		} else {
			r.Format = tensor.Dense(r.Format.Rank())
		}
		v.Results[name] = r
	}
	return &v
}

// sameValues compares two results where the oracle knows one right value.
func sameValues(a, b *tensor.Tensor, want *oracle.Dense) error {
	x, err := a.ToDense()
	if err != nil {
		return err
	}
	y, err := b.ToDense()
	if err != nil {
		return err
	}
	for i, w := range want.Values {
		if w.Err != 0 || w.Disputed {
			continue
		}
		if v, u := x.Scalar(i), y.Scalar(i); !v.Same(u) && !oracle.FromScalar(v).Accepts(a.DType(), oracle.FromScalar(u)) {
			return fmt.Errorf("element %d is %s and %s", i, v, u)
		}
	}
	return nil
}
