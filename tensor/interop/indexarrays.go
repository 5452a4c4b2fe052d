package interop

import "github.com/lacuna-sparse/lacuna/tensor"

// ungrouped is a tensor with the values of one coordinate told apart by repeating it, for
// formats whose last level groups them by pointers: MLIR and TACO have no such pointers.
func ungrouped(t *tensor.Tensor) (*tensor.Tensor, error) {
	format, err := t.Format().Repeating()
	switch {
	case err != nil:
		return nil, tensor.Errorf(-1, "%v", err)
	case format == t.Format():
		return t.Listed()
	}
	return t.Convert(format)
}

// sameWidth returns the arrays of a list that are there with one width each, the widest, and
// that width in bits; 0 if there is none. Those of that width are shared.
func sameWidth(arrays []tensor.Array) ([]tensor.Array, int, error) {
	widest := tensor.Invalid
	for _, a := range arrays {
		if a.DType().Size() > widest.Size() {
			widest = a.DType()
		}
	}
	out := make([]tensor.Array, len(arrays))
	for k, a := range arrays {
		out[k] = a
		if a.DType() == tensor.Invalid || a.DType().Size() == widest.Size() {
			continue
		}
		var err error
		if out[k], err = a.Convert(widest); err != nil {
			return nil, 0, err
		}
	}
	return out, widest.Size() * 8, nil
}

// indexArrays lists the positions and coordinates of each level, with the root positions
// no wider than the others.
func indexArrays(t *tensor.Tensor) (pos, crd []tensor.Array, err error) {
	levels := t.Levels()
	pos, crd = make([]tensor.Array, len(levels)), make([]tensor.Array, len(levels))
	for k, l := range levels {
		pos[k], crd[k] = l.Pos, l.Crd
	}
	widest := tensor.Invalid
	for k := 1; k < len(pos); k++ {
		if pos[k].DType().Size() > widest.Size() {
			widest = pos[k].DType()
		}
	}
	if len(pos) > 0 && pos[0].DType() != tensor.Invalid && widest != tensor.Invalid {
		if n := uint64(levels[0].Crd.Len()); tensor.Uint(widest, n).Uint64() == n {
			pos[0], err = pos[0].Convert(widest)
		}
	}
	return pos, crd, err
}
