package bridge

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// operands are the caller's tensors. The tokens of arrays that were not kept are added to returned.
func (b *Bridge) operands(list map[string]operand, returned *[]uint64) (lacuna.Args, error) {
	args := lacuna.Args{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		t, err := b.operand(name, list[name], returned)
		if err != nil {
			return nil, err
		}
		args[name] = t
	}
	return args, nil
}

// operand is one of the caller's tensors.
func (b *Bridge) operand(name string, o operand, returned *[]uint64) (tensor.Operand, error) {
	if o.Handle != 0 {
		return b.tensorOf(o.Handle)
	}
	format, err := tensor.ParseFormat(o.Format, len(o.Shape))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	values, err := b.array(o.Values, returned)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	arrays := map[string]tensor.Array{}
	for _, key := range slices.Sorted(maps.Keys(o.Arrays)) {
		if arrays[key], err = b.array(o.Arrays[key], returned); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	opts := []tensor.Option{tensor.WithName(name)}
	if o.Fill != nil {
		fill, err := o.Fill.value()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		opts = append(opts, tensor.WithFill(fill))
	}
	t, err := tensor.NewNamed(o.Shape, format, arrays, values, opts...)
	if err != nil || o.Whole == nil {
		return t, err
	}
	return tensor.NewBlocks(t, o.Whole)
}

// array is an array of the caller's, or a part of one of ours that he hands back.
func (b *Bridge) array(a array, returned *[]uint64) (tensor.Array, error) {
	if a.Owner == 0 {
		return b.lenders.array(a, returned)
	}
	t, err := b.tensorOf(a.Owner)
	if err != nil {
		return tensor.Array{}, err
	}
	dt, err := tensor.ParseDType(a.Type)
	if err != nil {
		return tensor.Array{}, err
	}
	for _, of := range arraysOf(t) {
		begin := uintptr(of.Pointer())
		offset := uintptr(a.Address) - begin
		if uintptr(a.Address) >= begin && offset <= uintptr(of.Bytes()) && a.Len >= 0 && a.Len <= (int(of.Bytes())-int(offset))/dt.Size() {
			return tensor.ArrayAt(dt, unsafe.Add(of.Pointer(), offset), a.Len), nil
		}
	}
	return tensor.Array{}, fmt.Errorf("an array of %d %s does not lie in its tensor", a.Len, dt)
}

// arraysOf are the arrays of a tensor: its values last.
func arraysOf(t *tensor.Tensor) []tensor.Array {
	var all []tensor.Array
	for _, l := range t.Levels() {
		for _, a := range []tensor.Array{l.Pos, l.Crd, l.Group} {
			if a.DType() != tensor.Invalid {
				all = append(all, a)
			}
		}
	}
	return append(all, t.Values())
}

// value reads a scalar.
func (s *scalar) value() (tensor.Scalar, error) {
	dt, err := tensor.ParseDType(s.Type)
	if err != nil {
		return tensor.Scalar{}, err
	}
	bytes, err := hex.DecodeString(s.Bytes)
	if err != nil || len(bytes) != dt.Size() {
		return tensor.Scalar{}, fmt.Errorf("%q are not the bytes of a value of type %s", s.Bytes, dt)
	}
	a, err := tensor.MakeArray(dt, 1)
	if err != nil {
		return tensor.Scalar{}, err
	}
	copy(a.Raw(), bytes)
	return a.Scalar(0), nil
}

// scalarOf writes a scalar.
func scalarOf(v tensor.Scalar) (scalar, error) {
	a, err := tensor.MakeArray(v.DType(), 1)
	if err != nil {
		return scalar{}, err
	}
	a.SetScalar(0, v)
	return scalar{Type: v.DType().String(), Bytes: hex.EncodeToString(a.Raw())}, nil
}
