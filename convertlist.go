package lacuna

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Lists of coordinates, which conversions sort first where they are in no order.

// fromCoords converts a list of coordinates that nobody has looked at.
func (c *converting) fromCoords(ctx context.Context, list *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
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
	if found[convert.CoordinateOutside] != 0 {
		return nil, notForKernels(outsideReason)
	}
	c.options.Resident = c.resident
	falls, repeats := found[convert.CoordinateFalls] != 0, found[convert.CoordinateRepeats] != 0
	switch {
	case falls || repeats:
		to := format
		if !sparseOnly(format) {
			to = list.Format()
		}
		if falls {
			list, err = c.sorted(ctx, list, to)
		} else {
			list, err = c.kernel(ctx, list, to, convert.Repeating)
		}
		if err != nil || to == format {
			return list, err
		}
		defer list.Release()
	}
	return c.fromSorted(ctx, list, format)
}

// fromSorted converts a list of different coordinates in order.
func (c *converting) fromSorted(ctx context.Context, list *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	c.options.Resident = c.resident
	if list.Format() == format && narrowlyTyped(list) {
		return list, nil
	}
	return c.kernel(ctx, list, format, convert.Stored)
}

// sparseOnly reports whether a format has no D levels.
func sparseOnly(f tensor.Format) bool {
	levels := f.Levels()
	return levels[len(levels)-1] != tensor.D
}

// narrowlyTyped reports whether coordinates have the types that tensors have them
// in by default; those of a list that a caller has made may be others.
func narrowlyTyped(list *tensor.Tensor) bool {
	for _, l := range list.Levels() {
		if l.Crd.DType() != coordinateType(l.Size) {
			return false
		}
	}
	return true
}

// coordinateType is the type of the coordinates of an axis of the given extent.
func coordinateType(extent int64) tensor.DType {
	if extent > wide {
		return tensor.Uint64
	}
	return tensor.Uint32
}

// sorted sorts a list and stores it in a format of the same order.
func (c *converting) sorted(ctx context.Context, list *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	path, err := c.path(list, format, convert.Unordered)
	if err != nil {
		return nil, err
	}
	if path.Rows {
		return c.kernelFor(ctx, list, format, convert.Unordered, path)
	}
	c.ahead(list, format, convert.Packed, path)
	v, call, err := c.run(ctx, list, list.Format(), convert.Unordered, path, nil)
	if err != nil {
		return nil, err
	}
	res := v.lower.Result
	var words []runtime.Memory
	for _, id := range res.Words {
		words = append(words, call.results.Buffers[id])
	}
	values := arrayOf(list.DType(), call.results.Buffers[res.Values])
	found := arrayOf(tensor.Uint8, call.results.Buffers[res.Found])
	v.finish(call)
	if err := found.Fetch(); err != nil {
		return nil, err
	}
	entries := convert.Packed
	if tensor.View[uint8](found)[0] != 0 {
		entries = convert.PackedRepeating
	}
	v, call, err = c.run(ctx, list, format, entries, path, &packedList{words, values})
	for _, m := range words {
		m.GiveBack()
	}
	if err != nil {
		return nil, err
	}
	defer v.finish(call)
	out := v.converted(list, values, &call.results)
	values.Discard() // unless they are in the result
	return out, nil
}

// packedList is what a kernel for unordered entries has made.
type packedList struct {
	words  []runtime.Memory
	values tensor.Array
}

// sortAhead begins to compile what sorted runs, while the list is looked at.
func (c *converting) sortAhead(list *tensor.Tensor, format tensor.Format) {
	guess := *c
	if !sparseOnly(format) {
		format = list.Format()
	}
	path, err := guess.path(list, format, convert.Unordered)
	if err != nil {
		return
	}
	if path.Rows {
		c.ahead(list, format, convert.Unordered, path)
		return
	}
	c.ahead(list, list.Format(), convert.Unordered, path)
	c.ahead(list, format, convert.Packed, path)
}

// ahead begins to compile a kernel that will most likely be run, on engines whose
// compilers take long. Whoever runs it waits for the same compilation.
func (c *converting) ahead(t *tensor.Tensor, format tensor.Format, entries convert.EntryOrder, path convert.Path) {
	if !runtime.OnGrids(c.session.engine) {
		return
	}
	other := *c
	other.begun = true
	go func() {
		_, _ = other.conversion(context.Background(), t, format, entries, path) // an error comes again when it is run
	}()
}

// check looks for faults in a list of coordinates.
func (c *converting) check(ctx context.Context, list *tensor.Tensor) ([]uint8, error) {
	from := c.planned("A", list, list.Format())
	v, err := c.variant(ctx, checkKey(list), list.NNZ()/2, func() (*lower.Kernel, error) {
		return convert.CheckCoordinates(from, conversionTypes{t: list}, c.session.grain), nil
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
	defer v.finish(call)
	return runtime.SliceOf[uint8](call.results.Buffers[v.lower.Result.Found]), nil
}

// checkKey names the kernel that checks a list.
func checkKey(list *tensor.Tensor) string {
	return fmt.Sprintf("check %s %v %s", list.Format(), list.DType(), indexTypes(list))
}
