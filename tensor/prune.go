package tensor

import "github.com/lacuna-sparse/lacuna/tensor/internal/column"

// Prune returns the tensor without the stored entries that equal its fill, in the same
// format and with index arrays of the same types. Operations keep explicit zeros, so that
// what a result stores does not depend on values; this is the operation that drops
// them. What equals the fill is as for [FromDense]: -0.0 differs from a fill of 0, and
// every NaN equals a fill of NaN. An entry that is a dense block goes when all of it
// equals the fill, and a coordinate of a DC level when nothing is left under it. The
// arrays are shared if nothing goes, as in a tensor of D levels alone. The values of
// one coordinate are summed before.
//
// The options are those of [Tensor.Convert].
func (t *Tensor) Prune(opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) {
		out, err := t.standard()
		if err == nil {
			out, err = out.prune(o.memory)
		}
		if err != nil {
			return nil, err
		}
		return out.Convert(t.format, opts...)
	})
}

func (t *Tensor) prune(memory *memoryLimit) (*Tensor, error) {
	if t.format.IsDense() {
		return t, nil
	}
	n, block := t.blocks(), t.block()
	kept, err := column.Choose(n, t.differFromFill(block))
	if err == nil && kept.Len() == n && len(t.format.segments()) == 1 && !t.format.Extended() { // nor can a position have nothing under it
		return t, nil
	}
	var e entries
	if err == nil {
		e, err = t.blockEntries()
	}
	if err == nil && kept.Len() < n {
		if err = memory.admitList(kept.Len(), t.shape); err == nil {
			e, err = e.at(kept)
		}
	}
	if err != nil {
		return nil, tensorError("%v", err)
	}
	out, err := assemble(e, t.shape, t.format, t.fill, &options{name: t.name, memory: memory})
	if err != nil {
		return nil, err
	}
	defer out.Release() // what is returned holds the arrays by itself
	same, levels := out.values.n == t.values.n, out.Levels()
	for k, l := range t.levels {
		alike := levels[k].Pos.n == l.Pos.n && levels[k].Crd.n == l.Crd.n // as nothing comes, what is as long is the same
		if same = same && alike; alike && l.schema().Pack == nil {
			levels[k] = l
			continue
		}
		if levels[k].Pos, err = levels[k].Pos.Convert(l.Pos.dt); err == nil {
			levels[k].Crd, err = levels[k].Crd.Convert(l.Crd.dt)
		}
		if err != nil {
			return nil, levelError(k, "%v", err)
		}
	}
	if same {
		return t, nil
	}
	return out.with(func(out *Tensor) {
		out.levels, out.structure, out.attributes = levels, t.structure, t.attributes.without(PatternSymmetric|DiagonalKnown)
	}), nil
}

// gatherBlocks returns the blocks of so many elements that a list names.
func gatherBlocks(a Array, list column.Permutation, block int) (Array, error) {
	if block == 1 {
		return gather(a, list)
	}
	out, err := MakeArray(a.dt, list.Len()*block)
	if err != nil {
		return out, err
	}
	size := block * a.dt.Size()
	from, to := a.Raw(), out.Raw()
	for i, n := 0, list.Len(); i < n; { // what stands side by side goes at once
		first, j := list.At(i), i+1
		for j < n && list.At(j) == first+j-i {
			j++
		}
		copy(to[i*size:j*size], from[first*size:])
		i = j
	}
	return out, nil
}

// setIndex writes v, which fits, to an element of an array of integers.
func setIndex(a Array, i int, v uint64) {
	switch a.dt.Size() {
	case 1:
		View[uint8](a)[i] = uint8(v)
	case 2:
		View[uint16](a)[i] = uint16(v)
	case 4:
		View[uint32](a)[i] = uint32(v)
	default:
		View[uint64](a)[i] = v
	}
}
