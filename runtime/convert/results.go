package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What conversions make, as tensors.

// Empty is a tensor that stores nothing, as options ask for it.
func Empty(shape []int64, format tensor.Format, dt tensor.DType, opts ...tensor.Option) (*tensor.Tensor, error) {
	none, err := tensor.MakeArray(dt, 0)
	if err != nil {
		return nil, err
	}
	return tensor.FromCoords(shape, format, make([][]int64, len(shape)), none, opts...)
}

// renamed is a tensor, that nobody else has, by another name.
func renamed(t *tensor.Tensor, name string) (*tensor.Tensor, error) {
	if name == "" {
		return t, nil
	}
	out, err := t.Convert(t.Format(), tensor.WithName(name))
	if err != nil {
		return nil, err
	}
	return replaced(t, out), nil
}

// replaced is a tensor that was made of another one, which nobody else has.
func replaced(old, by *tensor.Tensor) *tensor.Tensor {
	if old != by {
		old.Release()
	}
	return by
}

// converted assembles what a conversion of t, with these values, has made, of some shape. Buffers
// that are inputs are arrays of t.
func converted(v *invoke.Kernel, t *tensor.Tensor, shape []int64, values tensor.Array, r *runtime.Results) *tensor.Tensor {
	res := v.Lower.Result
	array := func(id loop.BufferID, dt tensor.DType) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		for _, in := range v.Lower.Inputs {
			if in.Buffer == id && in.Kind == emit.Values {
				return values
			}
			if in.Buffer == id {
				return invoke.Operand(t, in)
			}
		}
		return invoke.Array(dt, r.Buffers[id])
	}
	index := func(id loop.BufferID) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		return array(id, tensor.DType(v.Lower.Program.Buffers[id].Elem))
	}
	levels := make([]tensor.Level, len(res.Levels))
	for l := range levels {
		levels[l] = tensor.Level{Pos: index(res.Levels[l].Pos), Crd: index(res.Levels[l].Crd)}
	}
	return tensor.NewTrusted(shape, res.Tensor.Format, levels, array(res.Values, t.DType()), t.Fill())
}
