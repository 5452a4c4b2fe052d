package tensor

// Kinds of levels beside the three of the compiler's own are those that a program registers. Whatever tensors go through
// as lists of entries (conversions, files, statistics), goes through the counterpart that has compressed levels in their place.

// Extended reports whether a level is of a kind that was registered.
func (f Format) Extended() bool {
	for k := range len(f.levels) {
		if LevelKind(f.levels[k]).registered() {
			return true
		}
	}
	return false
}

// Listed is the format with compressed levels in the place of those of registered kinds.
func (f Format) Listed() Format {
	if !f.Extended() {
		return f
	}
	kinds := f.Levels()
	for k, kind := range kinds {
		if kind.registered() {
			kinds[k] = listKind(k == f.SparseRank()-1)
		}
	}
	g, err := FormatWith(kinds, f.Order(), f.Flags())
	if err != nil {
		panic("BUG: format of lists: " + err.Error())
	}
	return g
}

// Listed is the tensor in the [Format.Listed] of its own: its values are shared.
func (t *Tensor) Listed() (*Tensor, error) {
	if t == nil {
		return nil, errNoTensor
	}
	format := t.format.Listed()
	if format == t.format {
		return t, nil
	}
	levels, parents := t.Levels(), int64(1)
	for k, l := range t.levels {
		if list := l.schema().List; list != nil {
			var err error
			if levels[k].Pos, levels[k].Crd, err = list(&t.levels[k], parents); err != nil {
				return nil, named(levelError(k, "%v", err), t.name)
			}
		}
		if parents *= l.Size; !l.Full() {
			parents = int64(levels[k].Crd.n)
		}
	}
	out := NewTrusted(t.shape, format, levels, t.values, t.fill)
	out.name, out.structure, out.attributes = t.name, t.structure, t.attributes
	return out, nil
}

// packed is a tensor, in the [Format.Listed] of a format, in that format.
func (t *Tensor) packed(format Format, memory *memoryLimit) (*Tensor, error) {
	levels := t.Levels()
	for k, physical := range format.Physical() {
		s := physical.schema()
		if s.Pack == nil {
			continue
		}
		l, parents := levels[k], t.positions(k-1)
		l.LevelType = physical
		n, ok := s.Length(&l, parents)
		if !ok || n > maxElements {
			return nil, levelError(k, "format %v of shape %s has more than 2^58 elements in a level of kind %v", format, shapeString(t.shape), physical)
		}
		err := memory.admit(n, Uint64.Size())
		if err == nil {
			levels[k].Crd, err = s.Pack(&l, parents)
		}
		if err != nil {
			return nil, levelError(k, "%v", err)
		}
	}
	out := NewTrusted(t.shape, format, levels, t.values, t.fill)
	out.name = t.name
	return out, nil
}
