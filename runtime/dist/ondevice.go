package dist

import (
	"context"
	"math"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file is about arrays in the memory of a rank's device: how they get there, and what is done with them that needs no other rank.

// onDevice reports whether the values of an array are in the memory of the rank's device.
func (r *Rank) onDevice(a tensor.Array) bool {
	at, ok := a.Remote().(*runtime.Resident)
	return a.Len() == 0 || ok && at.On(r.session.Engine())
}

// bring brings the arrays of a tensor to the rank's device, where there is one.
func (r *Rank) bring(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if r.direct == nil {
		return t, nil
	}
	return r.toDevice(ctx, t)
}

// bringStructure is bring without the values.
func (r *Rank) bringStructure(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	none, err := tensor.MakeArray(t.DType(), 0)
	if err != nil {
		return nil, err
	}
	bare, err := r.bring(ctx, tensor.NewTrusted(t.Shape(), t.Format(), t.Levels(), none, t.Fill()))
	if err != nil {
		return nil, err
	}
	return tensor.NewTrusted(t.Shape(), t.Format(), bare.Levels(), t.Values(), t.Fill()), nil
}

func (r *Rank) toDevice(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	c, err := r.session.Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.ToDevice(ctx, t)
}

// indices is a vector of numbers below a bound, on the device.
func (r *Rank) indices(ctx context.Context, list []int64, bound int64) (*tensor.Tensor, error) {
	if bound > 1<<32 {
		return r.toDevice(ctx, tensor.Vector(list))
	}
	short := make([]uint32, len(list))
	for i, x := range list {
		short[i] = uint32(x)
	}
	return r.toDevice(ctx, tensor.Vector(short))
}

// pick is what values have at the numbers of units; no tensor holds it.
func (r *Rank) pick(ctx context.Context, values tensor.Array, unit int64, at *tensor.Tensor) (tensor.Array, error) {
	program, shape := "t(i) = s(p(i))", []int64{int64(values.Len()) / unit}
	if unit > 1 {
		program, shape = "t(i,k) = s(p(i),k)", append(shape, unit)
	}
	s := tensor.NewTrusted(shape, tensor.Dense(len(shape)), nil, values, tensor.Zero(values.DType()))
	defer s.Release()
	t, err := r.picker.Eval(ctx, program, exec.Args{"s": s, "p": at}, declare.AsWritten(), declare.Result("t", tensor.Dense(len(shape))))
	if err != nil {
		return tensor.Array{}, err
	}
	there, ok := t.Values().Remote().(*runtime.Resident)
	if !ok {
		return t.Values(), nil // there are none
	}
	return tensor.RemoteArray(t.DType(), t.Values().Len(), there), nil // which t does not hold
}

// relabelled is the package's function of that name for a tensor on the device: coordinates get their numbers there. It is not ok where levels do more than
// list coordinates one by one. Tables of numbers are kept, by axis.
func (r *Rank) relabelled(ctx context.Context, t *tensor.Tensor, shape []int64, tables map[int]tensor.Array, number func(axis int, x int64) int64) (levels []tensor.Level, ok bool, err error) {
	levels = t.Levels()
	for k, axis := range t.Format().Order() {
		l := &levels[k]
		if l.Size == shape[axis] {
			continue
		}
		if !l.Walked() || !l.HasCrd() || !r.onDevice(l.Crd) || shape[axis] > math.MaxInt32 {
			return nil, false, nil
		}
		table, known := tables[axis]
		if !known {
			numbers := make([]int64, l.Size)
			for x := range numbers {
				numbers[x] = number(axis, int64(x))
			}
			list, err := tensor.ArrayOf(numbers).Convert(l.Crd.DType())
			if err != nil {
				return nil, false, err
			}
			t, err := r.toDevice(ctx, tensor.NewTrusted([]int64{l.Size}, tensor.Dense(1), nil, list, tensor.Zero(list.DType())))
			if err != nil {
				return nil, false, err
			}
			table = t.Values()
			tables[axis] = table
		}
		at := tensor.NewTrusted([]int64{int64(l.Crd.Len())}, tensor.Dense(1), nil, l.Crd, tensor.Zero(l.Crd.DType()))
		l.Crd, err = r.pick(ctx, table, 1, at)
		at.Release()
		if err != nil {
			return nil, false, err
		}
		l.Size = shape[axis]
	}
	return levels, true, nil
}

// address is where an array is in the device's memory.
func address(a tensor.Array) uint64 {
	if a.Len() == 0 {
		return 0
	}
	return a.Remote().(*runtime.Resident).Address()
}

// allocate makes an array on the device.
func (r *Rank) allocate(ctx context.Context, dt tensor.DType, n int64) (tensor.Array, error) {
	if n == 0 {
		return tensor.MakeArray(dt, 0)
	}
	at, err := runtime.Allocate(ctx, r.session.Engine(), n*int64(dt.Size()))
	if err != nil {
		return tensor.Array{}, err
	}
	return tensor.RemoteArray(dt, int(n), at), nil
}

// seen is an array on the device as one of its own, which does not keep its memory.
func (r *Rank) seen(a tensor.Array) (tensor.Array, error) {
	if a.Len() == 0 {
		return a, nil
	}
	at, err := runtime.ForeignResident(r.session.Engine(), address(a), a.Bytes())
	if err != nil {
		return a, err
	}
	return tensor.RemoteArray(a.DType(), a.Len(), at), nil
}

// free gives an array back that no tensor has.
func free(a tensor.Array) {
	if at, ok := a.Remote().(*runtime.Resident); ok {
		at.Free()
	}
}

// sameStructure is tensor.SameStructure, for which index arrays on the device do not come to the host.
func (r *Rank) sameStructure(ctx context.Context, a, b *tensor.Tensor) (bool, error) {
	k, l := a.Levels(), b.Levels()
	if r.direct == nil || a.Format() != b.Format() || len(k) != len(l) {
		return tensor.SameStructure(a, b), nil
	}
	equal := map[tensor.Remote]tensor.Array{} // of b: those of a that have the same elements
	for i := range k {
		for _, pair := range [][2]tensor.Array{{k[i].Pos, l[i].Pos}, {k[i].Crd, l[i].Crd}, {k[i].Group, l[i].Group}} {
			x, y := pair[0], pair[1]
			if x.Len() != y.Len() {
				return false, nil
			}
			if x.Len() == 0 || x.DType() != y.DType() || x.Remote() == y.Remote() || !r.onDevice(x) || !r.onDevice(y) {
				continue
			}
			same, err := r.equal(ctx, x, y)
			if err != nil || !same {
				return false, err
			}
			equal[y.Remote()] = x
		}
	}
	like, err := b.MapArrays(func(y tensor.Array) (tensor.Array, error) {
		if x, ok := equal[y.Remote()]; ok {
			return x, nil
		}
		return y, nil
	})
	if err != nil {
		return false, err
	}
	defer like.Release()
	return tensor.SameStructure(a, like), nil
}

// equal compares two arrays on the device, which are of one type and length.
func (r *Rank) equal(ctx context.Context, x, y tensor.Array) (bool, error) {
	args := exec.Args{}
	for name, a := range map[string]tensor.Array{"x": x, "y": y} {
		t := tensor.NewTrusted([]int64{int64(a.Len())}, tensor.Dense(1), nil, a, tensor.Zero(a.DType()))
		defer t.Release()
		args[name] = t
	}
	d, err := r.picker.Eval(ctx, "d = any_i (x(i) != y(i))", args, declare.AsWritten())
	if err != nil {
		return false, err
	}
	defer d.Release()
	if err := d.Fetch(); err != nil {
		return false, err
	}
	return !tensor.StoredValues[bool](d)[0], nil
}
