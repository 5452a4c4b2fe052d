package bridge

import (
	"fmt"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// own returns a result of which the caller may change the arrays: those that an operand or another result has too are
// copied. taken are the arrays that are not his.
func own(t *tensor.Tensor, taken *[]tensor.Array) (*tensor.Tensor, error) {
	levels := t.Levels()
	values := t.Values()
	shared := false
	for k := range levels {
		l := &levels[k]
		for _, a := range []*tensor.Array{&l.Pos, &l.Crd, &l.Group} {
			if err := separate(a, *taken, &shared); err != nil {
				return nil, err
			}
		}
	}
	if err := separate(&values, *taken, &shared); err != nil {
		return nil, err
	}
	out := t
	if shared {
		out = tensor.NewTrusted(t.Shape(), t.Format(), levels, values, t.Fill())
	}
	*taken = append(*taken, arraysOf(out)...)
	return out, nil
}

// separate copies an array that overlaps one of those taken.
func separate(a *tensor.Array, taken []tensor.Array, shared *bool) error {
	begin := uintptr(a.Pointer())
	for _, other := range taken {
		from := uintptr(other.Pointer())
		if a.Len() == 0 || other.Len() == 0 || begin >= from+uintptr(other.Bytes()) || from >= begin+uintptr(a.Bytes()) {
			continue
		}
		out, err := tensor.MakeArray(a.DType(), a.Len())
		if err != nil {
			return err
		}
		copy(out.Raw(), a.Raw())
		*a, *shared = out, true
		return nil
	}
	return nil
}

// takenBy are the arrays of operands.
func takenBy(args lacuna.Args) []tensor.Array {
	var all []tensor.Array
	for _, o := range args {
		switch o := o.(type) {
		case *tensor.Tensor:
			all = append(all, arraysOf(o)...)
		case *tensor.Blocks:
			all = append(all, arraysOf(o.Blocked())...)
		}
	}
	return all
}

// describe gives a tensor a handle and says what it holds.
func (b *Bridge) describe(t *tensor.Tensor) (described, error) {
	if t.Structure() != tensor.General {
		whole, err := t.Canonical()
		if err != nil {
			return described{}, err
		}
		t = whole
	}
	fill, err := scalarOf(t.Fill())
	if err != nil {
		return described{}, err
	}
	d := described{
		Shape: t.Shape(), Type: t.DType().String(), Format: t.Format().String(), Order: t.Format().Order(), Stored: t.NNZ(),
		Fill: fill, Arrays: map[string]array{}, Values: ours(t.Values()), Text: t.String(), Levels: []string{},
	}
	for k, kind := range t.Format().Levels() {
		d.Levels = append(d.Levels, kind.String())
		if a, ok := t.Indices(k); ok {
			d.Arrays[fmt.Sprintf("indices_%d", k)] = ours(a)
		}
		if a, ok := t.Pointers(k); ok {
			d.Arrays[fmt.Sprintf("pointers_%d", k)] = ours(a)
		}
	}
	d.Handle = b.keepTensor(t)
	return d, nil
}

// ours is an array of ours, for the caller.
func ours(a tensor.Array) array {
	return array{Type: a.DType().String(), Len: a.Len(), Address: uint64(uintptr(unsafe.Pointer(a.Pointer())))}
}
