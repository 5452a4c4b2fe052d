package tensor

import (
	"cmp"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// This file cuts tensors into parts that each suit another format.

// HBCSF stores a tensor of rank 2 or more in the hybrid format HB-CSF: each slice
// along the first axis of order goes, by the lengths of its fibres (the entries
// that differ in the last axis of order alone), to one of three parts:
//
//   - slices of one entry, as a list of coordinates (S-…-S);
//   - slices whose fibres all have one entry, with a list of coordinates for each
//     slice (DC-S-…-S; the paper's CSL);
//   - the others, as CSF.
//
// Parts that would be empty are left out, but one stays. A nil order is that in
// which the tensor is stored. Of dense blocks, elements that equal the fill are not
// stored, as after [Tensor.Convert] to a format without D levels: stored(T) is false there. The error is a [*FormatError].
//
// Nisa, Li, Sukumaran-Rajam, Vuduc, Sadayappan: Load-Balanced Sparse MTTKRP on
// GPUs, IPDPS 2019 (arXiv 1904.03329).
func HBCSF(t *Tensor, order []int) (*Parts, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	p, err := hbcsf(t, order)
	return p, named(err, t.name)
}

func hbcsf(t *Tensor, order []int) (*Parts, error) {
	rank := t.Rank()
	if rank < 2 {
		return nil, tensorError("HB-CSF distinguishes slices and fibres: the rank must be 2 or more, not %d", rank)
	}
	if order == nil {
		order = t.format.Order()
	}
	list, slice, csf, err := hybridFormats(order)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	e, perm, err := t.entriesIn(order)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	group := make([]uint8, e.n)
	keys := column.InOrder(e.cols, order)
	for i := 0; i < e.n; {
		end, longest, fibre := i, 0, 0
		for ; end < e.n && column.Same(keys[:1], perm.At(i), perm.At(end)); end++ {
			if end > i && column.Same(keys[:rank-1], perm.At(end-1), perm.At(end)) {
				fibre++
			} else {
				fibre = 1
			}
			longest = max(longest, fibre)
		}
		kind := uint8(2)
		switch {
		case end == i+1:
			kind = 0
		case longest == 1:
			kind = 1
		}
		for ; i < end; i++ {
			group[perm.At(i)] = kind
		}
	}
	return t.cut(e, group, []Format{list, slice, csf})
}

// hybridFormats are the formats of HB-CSF's parts.
func hybridFormats(order []int) (list, slice, csf Format, err error) {
	n := len(order)
	if list, err = Coordinates(n).WithOrder(order); err != nil {
		return
	}
	if slice, err = Stack(order, Coordinates(1), Coordinates(n-1)); err != nil {
		return
	}
	csf, err = CSF(n).WithOrder(order)
	return
}

// MMCSF stores a tensor of rank 2 or more in the mixed-mode format MM-CSF: each entry
// goes to the part of the axis along which its fibre (the entries that differ in that
// axis alone) is the longest, the first such axis where several are. The part of an axis
// is a CSF with that axis innermost and the others by their extents, the smallest
// outermost. One copy then serves computations along every axis: each part is
// walked as it is stored. Parts that would be empty are left out, but one stays. Of
// dense blocks, elements that equal the fill are not stored, as after [Tensor.Convert] to a format without
// D levels: stored(T) is false there. The error is a [*FormatError].
//
// Nisa, Li, Sukumaran-Rajam, Rawat, Krishnamoorthy, Sadayappan: An Efficient
// Mixed-Mode Representation of Sparse Tensors, SC 2019.
func MMCSF(t *Tensor) (*Parts, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	p, err := mmcsf(t)
	return p, named(err, t.name)
}

func mmcsf(t *Tensor) (*Parts, error) {
	rank := t.Rank()
	if rank < 2 {
		return nil, tensorError("MM-CSF distinguishes fibres: the rank must be 2 or more, not %d", rank)
	}
	formats := make([]Format, rank)
	var group []uint8
	var longest []int
	var e entries
	for axis := range rank {
		order := innermost(t.shape, axis)
		var err error
		if _, _, formats[axis], err = hybridFormats(order); err != nil {
			return nil, err
		}
		var perm column.Permutation
		if e, perm, err = t.entriesIn(order); err != nil {
			return nil, tensorError("%v", err)
		}
		if axis == 0 {
			group, longest = make([]uint8, e.n), make([]int, e.n)
		}
		keys := column.InOrder(e.cols, order)[:rank-1]
		for i := 0; i < e.n; {
			end := i + 1
			for end < e.n && column.Same(keys, perm.At(i), perm.At(end)) {
				end++
			}
			for length := end - i; i < end; i++ {
				if at := perm.At(i); length > longest[at] {
					longest[at], group[at] = length, uint8(axis)
				}
			}
		}
	}
	return t.cut(e, group, formats)
}

// innermost lists all axes with one last and the others by their extents.
func innermost(shape []int64, axis int) []int {
	var order []int
	for a := range shape {
		if a != axis {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shape[a], shape[b]) })
	return append(order, axis)
}

// entriesIn lists the tensor's values, always in the same order, and how they stand in
// the order of the given axes.
func (t *Tensor) entriesIn(order []int) (entries, column.Permutation, error) {
	plain, err := t.Canonical()
	if err != nil {
		return entries{}, column.Permutation{}, err
	}
	e, err := plain.valueEntries()
	if err != nil || e.n == 0 {
		return e, column.Permutation{}, err
	}
	keys := column.InOrder(e.cols, order)
	if column.Ascending(e.n, keys) {
		return e, column.Permutation{}, nil
	}
	perm, _, err := column.Sort(e.n, keys)
	return e, perm, err
}

// cut stores each group of entries as a part in the format of its number.
func (t *Tensor) cut(e entries, group []uint8, formats []Format) (*Parts, error) {
	p := &Parts{}
	opts := options{name: t.name}
	for g, format := range formats {
		list, err := column.Choose(e.n, func(i int) bool { return group[i] == uint8(g) })
		if err != nil {
			return nil, tensorError("%v", err)
		}
		some, err := e.at(list)
		if err != nil {
			return nil, tensorError("%v", err)
		}
		if some.n == 0 && (len(p.parts) > 0 || e.n > 0 || g+1 < len(formats)) {
			continue
		}
		part, err := assemble(some, t.shape, format, t.fill, &opts)
		if err != nil {
			return nil, err
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}
