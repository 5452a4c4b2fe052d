package tensor

import "fmt"

// formatOfPhysical is the format whose physical levels are these: the inverse of
// [Format.Physical]. Dense levels after the last sparse one are D, others C; a
// compressed level and the singletons after it are a run of S, closed by DC if levels
// other than D follow. A compressed level that says it is unique, though singletons
// follow it, is taken as any other.
func formatOfPhysical(types []LevelType, order []int) (Format, error) {
	kinds := make([]LevelKind, len(types))
	flags := make([]LevelFlags, len(types))
	sparse := 0
	for k, l := range types {
		if l.Kind != DenseLevel {
			sparse = k + 1
		}
	}
	first := -1 // of the run
	for k, l := range types {
		switch l.Kind {
		case DenseLevel:
			if !l.Unique || !l.Ordered {
				return Format{}, fmt.Errorf("level %d is %v: a dense level is unique and ordered", k, l)
			}
			if kinds[k] = C; k >= sparse {
				kinds[k] = D
			}
			first = -1
			continue
		case CompressedLevel:
			first = k
		case SingletonLevel:
			if first < 0 {
				return Format{}, fmt.Errorf("level %d is singleton: it must follow a compressed level or a singleton", k)
			}
		default:
			return Format{}, fmt.Errorf("level %d is %v: levels are dense, compressed and singleton", k, l)
		}
		if !l.Ordered {
			flags[first] |= Unsorted
		}
		kinds[k] = S
		if k+1 < len(types) && types[k+1].Kind == SingletonLevel {
			continue
		}
		if k+1 < sparse {
			kinds[k] = DC
		}
		if !l.Unique {
			flags[k] |= Duplicates
		}
	}
	return FormatWith(kinds, order, flags)
}

// ungrouped is the tensor with the values of one coordinate told apart by repeating it, for
// formats whose last level groups them by pointers: MLIR and TACO have no such pointers.
func (t *Tensor) ungrouped() (*Tensor, error) {
	if !t.format.grouped() {
		return t, nil
	}
	kinds := t.format.Levels()
	kinds[t.format.sparseRank()-1] = S
	format, err := FormatWith(kinds, t.format.Order(), t.format.Flags())
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
