package convert

import (
	"context"
	"fmt"
	"slices"

	lowerconvert "github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Lists of coordinates, which conversions sort first where they are in no order.

// fromCoords converts a list of coordinates that nobody has looked at.
func (c *conversion) fromCoords(ctx context.Context, list *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if err := c.worth(checkKey(list), list.NNZ()/2); err != nil { // a list takes several kernels
		return nil, err
	}
	if c.unordered {
		c.sortAhead(list, format)
	}
	found, err := c.check(ctx, list)
	if err != nil {
		return nil, err
	}
	if found[lowerconvert.CoordinateOutside] != 0 {
		return nil, fallback(outsideReason)
	}
	c.options.Resident = c.resident
	falls, repeats := found[lowerconvert.CoordinateFalls] != 0, found[lowerconvert.CoordinateRepeats] != 0
	switch {
	case falls || repeats:
		to := format
		if format.HasBlocks() {
			to = list.Format()
		}
		if falls {
			list, err = c.sorted(ctx, list, to)
		} else {
			list, err = c.kernel(ctx, list, to, lowerconvert.Repeating)
		}
		if err != nil || to == format {
			return list, err
		}
		defer list.Release()
	}
	return c.fromSorted(ctx, list, format)
}

// fromSorted converts a list of different coordinates in order.
func (c *conversion) fromSorted(ctx context.Context, list *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	c.options.Resident = c.resident
	if list.Format() == format && narrowlyTyped(list) {
		return list, nil
	}
	return c.kernel(ctx, list, format, lowerconvert.Stored)
}

// narrowlyTyped reports whether coordinates have the types that tensors have them
// in by default; those of a list that a caller has made may be others.
func narrowlyTyped(list *tensor.Tensor) bool {
	for _, l := range list.Levels() {
		if l.Crd.DType() != invoke.CoordinateType(l.Size) {
			return false
		}
	}
	return true
}

// sorted sorts a list and stores it in a format of the same order.
func (c *conversion) sorted(ctx context.Context, list *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	path, err := c.path(list, format, lowerconvert.Unordered)
	if err != nil {
		return nil, err
	}
	if path.Rows {
		return c.kernelFor(ctx, list, format, lowerconvert.Unordered, path)
	}
	c.ahead(list, format, lowerconvert.Packed, path)
	v, call, err := c.run(ctx, list, list.Format(), lowerconvert.Unordered, path, nil)
	if err != nil {
		return nil, err
	}
	res := v.Lower.Result
	var words []runtime.Memory
	for _, id := range res.Words {
		words = append(words, call.Results.Buffers[id])
	}
	values := invoke.Array(list.DType(), call.Results.Buffers[res.Values])
	found := invoke.Array(tensor.Uint8, call.Results.Buffers[res.Found])
	call.Finish()
	if err := found.Fetch(); err != nil {
		return nil, err
	}
	entries := lowerconvert.Packed
	if tensor.View[uint8](found)[0] != 0 {
		entries = lowerconvert.PackedRepeating
	}
	v, call, err = c.run(ctx, list, format, entries, path, &packedList{words, values})
	for _, m := range words {
		m.GiveBack()
	}
	if err != nil {
		return nil, err
	}
	defer call.Finish()
	out := converted(v, list, list.Dims(), values, &call.Results)
	values.Discard() // unless they are in the result
	return out, nil
}

// packedList is what a kernel for unordered entries has made.
type packedList struct {
	words  []runtime.Memory
	values tensor.Array
}

// sortAhead begins to compile what sorted runs, while the list is looked at.
func (c *conversion) sortAhead(list *tensor.Tensor, format tensor.Format) {
	guess := *c
	if format.HasBlocks() {
		format = list.Format()
	}
	path, err := guess.path(list, format, lowerconvert.Unordered)
	if err != nil {
		return
	}
	if path.Rows {
		c.ahead(list, format, lowerconvert.Unordered, path)
		return
	}
	c.ahead(list, list.Format(), lowerconvert.Unordered, path)
	c.ahead(list, format, lowerconvert.Packed, path)
}

// ahead begins to compile a kernel that will most likely be run, on engines whose
// compilers take long. Whoever runs it waits for the same compilation.
func (c *conversion) ahead(t *tensor.Tensor, format tensor.Format, entries lowerconvert.EntryOrder, path lowerconvert.Path) {
	if !c.OnGrids() {
		return
	}
	other := *c
	other.begun = true
	go func() {
		_, _ = other.compiled(context.Background(), t, format, entries, path) // an error comes again when it is run
	}()
}

// check looks for faults in a list of coordinates.
func (c *conversion) check(ctx context.Context, list *tensor.Tensor) ([]uint8, error) {
	from := c.planned("A", list, list.Format())
	v, err := c.keyed(ctx, checkKey(list), list.NNZ()/2, func() (*emit.Kernel, error) {
		return lowerconvert.CheckCoordinates(from, conversionTypes{t: list}, c.Grain), nil
	})
	if err != nil {
		return nil, err
	}
	here := *c
	here.options = c.options.Here()
	call, err := here.call(ctx, v, list, nil)
	if err != nil {
		return nil, err
	}
	defer call.Finish()
	return runtime.SliceOf[uint8](call.Results.Buffers[v.Lower.Result.Found]), nil
}

// checkKey names the kernel that checks a list.
func checkKey(list *tensor.Tensor) string {
	return fmt.Sprintf("check %s %v %s", list.Format(), list.DType(), invoke.IndexTypes(list))
}

// sortedList stores a list of coordinates, in any order and with duplicates, in a standard
// format, by kernels where that pays: sorting is most of the work. It says errFallback of
// other tensors.
func (c *conversion) sortedList(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	switch {
	case format.Relaxed():
		return nil, fallback("%s", flagsReason(format))
	case t.Structure() != tensor.General:
		return nil, fallback("kernels convert whole matrices, not one triangle (%s)", t.Structure())
	case slices.Contains(t.Dims(), 0) && bytesAway(t) > 0: // positions
		return Empty(t.Shape(), format, t.DType(), tensor.WithFill(t.Fill()))
	}
	if c.begun && c.OnGrids() && expands(t) {
		list, err := c.expanded(ctx, t)
		if err != nil {
			return nil, err
		}
		defer list.Release()
		t = list
	}
	if t.Rank() == 0 || slices.Contains(t.Dims(), 0) || !t.Format().IsCoordinates() {
		return nil, fallback("kernels sort lists of coordinates, not %s", t.Format())
	}
	order, err := tensor.Coordinates(t.Rank()).WithOrder(format.Order())
	if err != nil {
		return nil, err
	}
	list := make([]tensor.Level, t.Rank())
	for l, axis := range format.Order() {
		list[l].Crd = t.LevelAt(slices.Index(t.Format().Order(), axis)).Crd
	}
	c.unordered = t.Format().Flags()[0]&tensor.Unsorted != 0
	entries := tensor.NewTrusted(t.Shape(), order, list, t.Values(), t.Fill())
	out, err := c.fromCoords(ctx, entries, format)
	if err != nil {
		entries.Release()
		return nil, err
	}
	return replaced(entries, out), nil
}

// expands reports whether a tensor that is not sorted has a sorted counterpart with the same arrays,
// of which a kernel can make a list.
func expands(t *tensor.Tensor) bool {
	f := t.Format()
	return t.Structure() == tensor.General && !slices.Contains(t.Dims(), 0) && !f.HasBlocks() && !f.IsCoordinates() &&
		!slices.ContainsFunc(t.Levels(), func(l tensor.Level) bool { return l.Group.Len() > 0 })
}

// expanded lists the entries of such a tensor in the order in which they are stored: the kernel goes
// by positions, and compares no coordinates.
func (c *conversion) expanded(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	order, err := tensor.Coordinates(t.Rank()).WithOrder(t.Format().Order())
	if err != nil {
		return nil, err
	}
	given := tensor.NewTrusted(t.Shape(), t.Format().Standard(), t.Levels(), t.Values(), t.Fill())
	defer given.Release()
	remote := *c
	remote.options.Resident = true
	return remote.kernel(ctx, given, order, lowerconvert.Stored)
}
