package tensor

// ungrouped is the tensor with the values of one coordinate told apart by repeating it, for
// formats whose last level groups them by pointers: MLIR and TACO have no such pointers.
func (t *Tensor) ungrouped() (*Tensor, error) {
	if !t.format.grouped() {
		return t.Listed()
	}
	format, err := t.format.repeating()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	out, err := t.Convert(format)
	return out, err
}

// sameWidth returns the arrays of a list that are there with one width each, the widest, and
// that width in bits; 0 if there is none. Those of that width are shared.
func sameWidth(arrays []Array) ([]Array, int, error) {
	widest := Invalid
	for _, a := range arrays {
		if a.dt.Size() > widest.Size() {
			widest = a.dt
		}
	}
	out := make([]Array, len(arrays))
	for k, a := range arrays {
		out[k] = a
		if a.dt == Invalid || a.dt.Size() == widest.Size() {
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
func (t *Tensor) indexArrays() (pos, crd []Array, err error) {
	pos, crd = make([]Array, len(t.levels)), make([]Array, len(t.levels))
	for k, l := range t.levels {
		pos[k], crd[k] = l.Pos, l.Crd
	}
	widest := Invalid
	for k := 1; k < len(pos); k++ {
		if pos[k].dt.Size() > widest.Size() {
			widest = pos[k].dt
		}
	}
	if len(pos) > 0 && pos[0].dt != Invalid && widest != Invalid && uint64(t.levels[0].Crd.n) <= widest.maxIndex() {
		pos[0], err = pos[0].Convert(widest)
	}
	return pos, crd, err
}
