package difftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// ComparePrepared prepares the program of the case for its operands, runs it on operands of
// the same patterns whose values come in the opposite order, and on its own again,
// and checks that each result is that of a plain run, to the bit. Programs that are refused pass.
func (c *Case) ComparePrepared(ctx context.Context, s *lacuna.Session) error {
	args, opts := c.args(), append(c.Options(), lacuna.AsWritten()) // as prepared kernels run
	if c.Strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	for name, o := range args {
		opts = append(opts, lacuna.Operand(name, o))
	}
	k, err := s.Compile(ctx, c.Text, opts...)
	if err != nil {
		return nil
	}
	if _, err := k.RunAll(ctx, args); err != nil {
		return nil
	}
	p, err := k.Prepare(ctx, args)
	if err != nil {
		return c.failure(s, fmt.Errorf("prepare: %w", err))
	}
	for _, a := range []lacuna.Args{reversed(args), args} {
		want, err := k.RunAll(ctx, a)
		if err != nil {
			return c.failure(s, fmt.Errorf("with other values: %w", err))
		}
		got, err := p.RunAll(ctx, a)
		if err == nil {
			err = same(want, got)
		} else if errors.Is(err, lacuna.ErrPattern) && dropsZeros(k) {
			continue // values decide what is stored again
		}
		if err != nil {
			return c.failure(s, fmt.Errorf("prepared: %w", err))
		}
	}
	return nil
}

// dropsZeros reports whether a kernel stores something with dense blocks again without
// their zeros.
func dropsZeros(k *lacuna.Kernel) bool {
	for _, c := range k.Conversions() {
		from, _, _ := strings.Cut(c, " to ") // as in "A: C-D[1,0] to CSR: why"
		levels, _, _ := strings.Cut(from[strings.LastIndex(from, " ")+1:], "[")
		if slices.Contains(strings.Split(levels, "-"), "D") {
			return true
		}
	}
	return false
}

// reversed are operands of the same patterns, those that are tensors of floats with their
// values in the opposite order. Other types may be indices, and what is stored in dense
// blocks may lose its zeros when it is converted.
func reversed(args lacuna.Args) lacuna.Args {
	out := lacuna.Args{}
	for name, o := range args {
		out[name] = o
		t, ok := o.(*tensor.Tensor)
		if !ok || !t.DType().IsFloat() || t.Structure() != tensor.General || t.Format().HasBlocks() || t.Format().Relaxed() {
			continue
		}
		out[name] = turned(t)
	}
	return out
}

// turned is a tensor of the same pattern with its values in the opposite order.
func turned(t *tensor.Tensor) *tensor.Tensor {
	v := t.Values()
	values, err := tensor.MakeArray(v.DType(), v.Len())
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	for i := range v.Len() {
		values.SetScalar(i, v.Scalar(v.Len()-1-i))
	}
	other, err := tensor.New(t.Shape(), t.Format(), t.Levels(), values, tensor.WithFill(t.Fill()))
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	return other
}
