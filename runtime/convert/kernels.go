package convert

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/ir"
	lowerconvert "github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// kernels are those of a session that convert, by what they convert.
type kernels struct {
	known flight.Cache[*invoke.Kernel]

	mu     sync.Mutex
	waived map[string]int64 // entries converted without a kernel so far
}

// mostWaived is of how many kernels waived tells.
const mostWaived = 256

// pays reports whether a conversion of n entries is worth a kernel.
func (s *Service) pays(key string, n int64) bool {
	if s.Always {
		return true
	}
	if n < cost.FewEntries || s.Engine.Name() == runtime.InterpName {
		return false
	}
	k := &s.kernels
	if _, known := k.known.Get([]byte(key)); known {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n+k.waived[key] >= ondisk.Limits().CompileEntries {
		return true
	}
	if k.waived == nil || len(k.waived) >= mostWaived {
		k.waived = map[string]int64{}
	}
	k.waived[key] += n
	return false
}

// worth is errFallback if a kernel for n entries is not worth its compilation.
func (c *conversion) worth(key string, n int64) error {
	if !c.begun && !c.pays(key, n) {
		return fallback("a kernel takes longer to compile than so few entries to convert (WithConversionKernels compiles one)")
	}
	c.begun = true
	return nil
}

// kernel runs the kernel of a conversion, or says errFallback.
func (c *conversion) kernel(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries lowerconvert.EntryOrder) (*tensor.Tensor, error) {
	path, err := c.path(t, format, entries)
	if err != nil {
		return nil, err
	}
	return c.kernelFor(ctx, t, format, entries, path)
}

// kernelFor runs the kernel of a conversion whose path has been chosen.
func (c *conversion) kernelFor(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries lowerconvert.EntryOrder, path lowerconvert.Path) (*tensor.Tensor, error) {
	v, call, err := c.run(ctx, t, format, entries, path, nil)
	if err != nil {
		return nil, err
	}
	defer call.Finish()
	c.latest = v
	return converted(v, t, c.shape(t), t.Values(), &call.Results), nil
}

// path chooses how entries are sorted.
func (c *conversion) path(t *tensor.Tensor, format tensor.Format, entries lowerconvert.EntryOrder) (lowerconvert.Path, error) {
	caches, err := machine.HostCaches()
	if err != nil {
		return lowerconvert.Path{}, err
	}
	data := lowerconvert.Data{Shape: c.shape(t), Map: c.mapping.Map, Entries: t.NNZ(), DType: t.DType(), Order: entries, Threads: c.threads(), Grain: c.Grain,
		Cache: caches.L2, Shared: caches.Share(c.threads()), Grids: c.OnGrids(), Spread: func(axis int) int64 { return spread(t, axis) }}
	if c.mapping.Map != nil {
		data.Spread = nil
	}
	if c.Data != nil {
		data = c.Data(data)
	}
	path, ok := lowerconvert.ChoosePath(t.Format(), format, data)
	if !ok {
		return path, fallback("it takes more passes to sort than kernels are made for")
	}
	if path.Alone {
		c.options.Threads = 1 // for what is left to do there is no need of others either
	}
	return path, nil
}

// threads is how many threads a kernel of the conversion runs on.
func (c *conversion) threads() int {
	if c.OnGrids() {
		return 0
	}
	return c.options.MostThreads()
}

// spread estimates over how many coordinates of an axis a few consecutive entries
// spread: the median over short windows; 0 if entries do not store the coordinate.
func spread(t *tensor.Tensor, axis int) int64 {
	last := t.LevelAt(t.Rank() - 1)
	l := slices.Index(t.Format().Order(), axis)
	crd := t.LevelAt(l).Crd
	if crd.Len() != last.Crd.Len() {
		return 0
	}
	switch crd.DType() {
	case tensor.Uint16:
		return spreadOf(tensor.View[uint16](crd))
	case tensor.Uint32:
		return spreadOf(tensor.View[uint32](crd))
	case tensor.Uint64:
		return spreadOf(tensor.View[uint64](crd))
	case tensor.Int64:
		return spreadOf(tensor.View[int64](crd))
	}
	return 0
}

// spreadOf is spread for the coordinates of all entries.
func spreadOf[T uint16 | uint32 | uint64 | int64](crd []T) int64 {
	const windows, width = 33, 64
	if len(crd) < windows*width {
		return 0
	}
	var ranges [windows]int64
	for w := range ranges {
		begin := (len(crd) - width) / windows * w
		window := crd[begin : begin+width]
		ranges[w] = int64(slices.Max(window) - slices.Min(window))
	}
	slices.Sort(ranges[:])
	return ranges[windows/2]
}

// run runs the kernel of one conversion on the arrays of a tensor and, in place
// of its coordinates and values, those of a packed list. The call must be
// finished.
func (c *conversion) run(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries lowerconvert.EntryOrder, path lowerconvert.Path, list *packedList) (*invoke.Kernel, *invoke.Call, error) {
	v, err := c.compiled(ctx, t, format, entries, path)
	if err != nil {
		return nil, nil, err
	}
	call, err := c.call(ctx, v, t, list)
	return v, call, err
}

// compiled is the kernel that run runs.
func (c *conversion) compiled(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries lowerconvert.EntryOrder, path lowerconvert.Path) (*invoke.Kernel, error) {
	from, to := c.planned("A", t, t.Format()), c.planned("B", t, format)
	types := conversionTypes{t: t, to: to, shape: c.shape(t), pos: invoke.CoordinateType(t.NNZ() + 1)}
	if c.prune && format == t.Format() {
		types.to = nil // index arrays keep their types
	}
	key := fmt.Sprintf("%s %s %v %v %t %t %v %s %v %v", t.Format(), format, t.DType(), entries, c.keep, c.prune, path, invoke.IndexTypes(t), types.pos, c.mapping.Map)
	for l := range format.Rank() {
		key += " " + types.IndexType(to, l, emit.Coordinates).String()
	}
	return c.keyed(ctx, key, t.NNZ(), func() (*emit.Kernel, error) {
		return lowerconvert.Lower(from, to, types, lowerconvert.Options{Grain: c.Grain, Entries: entries, Keep: c.keep, Prune: c.prune, Map: c.mapping.Map, Path: path,
			Grids: c.OnGrids()})
	})
}

// planned is a tensor as lowering sees it.
func (c *conversion) planned(name string, t *tensor.Tensor, format tensor.Format) *ir.Tensor {
	return &ir.Tensor{Name: name, Rank: format.Rank(), DType: t.DType(), Format: format, Fill: t.Fill()}
}

// conversionTypes are the types of a tensor's arrays, and those that they have by
// default in another format.
type conversionTypes struct {
	t     *tensor.Tensor
	to    *ir.Tensor
	shape []int64 // of to
	pos   tensor.DType
}

// IndexType implements emit.OperandTypes.
func (c conversionTypes) IndexType(t *ir.Tensor, level int, kind emit.ArrayKind) tensor.DType {
	switch {
	case t != c.to && kind == emit.Positions:
		return c.t.LevelAt(level).Pos.DType()
	case t != c.to:
		return c.t.LevelAt(level).Crd.DType()
	case kind == emit.Positions:
		return c.pos
	}
	return invoke.CoordinateType(c.shape[t.Format.Order()[level]])
}

// keyed returns the kernel of a key, or errFallback where none is worth its
// compilation.
func (c *conversion) keyed(ctx context.Context, key string, n int64, lowered func() (*emit.Kernel, error)) (v *invoke.Kernel, err error) {
	defer runtime.Caught(key, &err)
	if err := c.worth(key, n); err != nil {
		return nil, err
	}
	return c.kernels.known.Do(ctx, key, func(ctx context.Context) (*invoke.Kernel, error) {
		low, err := lowered()
		if err != nil {
			return nil, err
		}
		return c.Compile(ctx, low)
	})
}

// call runs a kernel. The call must be finished.
func (c *conversion) call(ctx context.Context, v *invoke.Kernel, t *tensor.Tensor, list *packedList) (*invoke.Call, error) {
	call, err := v.Begin(ctx)
	if err != nil {
		return nil, err
	}
	for _, in := range v.Lower.Inputs {
		m := &call.Bindings.Buffers[in.Buffer]
		switch {
		case in.Kind == emit.Words:
			*m = list.words[in.Level]
		case in.Kind == emit.Values && list != nil:
			*m = c.Memory(list.values)
		default:
			*m = c.Memory(invoke.Operand(t, in))
		}
	}
	for _, s := range v.Lower.Scalars {
		extents := t.Dims()
		switch {
		case s.Tensor == lowerconvert.Shifts:
			extents = c.mapping.shifts
		case s.Tensor == v.Lower.Result.Tensor:
			extents = c.shape(t)
		}
		call.Bindings.Scalars[s.Scalar] = extents[s.Axis]
	}
	err = call.Run(ctx, c.options)
	goruntime.KeepAlive(t) // the bindings do not keep memory of mapped files
	if err == nil {
		return call, nil
	}
	call.Finish()
	var size *runtime.SizeError
	if errors.As(err, &size) {
		return nil, errFallback // which says it in terms of formats
	}
	return nil, err
}

// Usual is the kernel of a convert step for large tensors of few coordinates, to look at before one has run.
func (s *Service) Usual(p *ir.Convert) (*emit.Kernel, error) {
	shape := make([]int64, p.From.Rank)
	for axis := range shape {
		shape[axis] = 1 << 10
	}
	grids, from := s.OnGrids(), p.View()
	path, _ := lowerconvert.ChoosePath(from.Format, p.To.Format, lowerconvert.Data{Shape: shape, Entries: 1 << 20, DType: from.DType, Grids: grids})
	return lowerconvert.Lower(from, p.To, usualTypes{}, lowerconvert.Options{Grain: s.Grain, Path: path, Grids: grids})
}

// usualTypes are the types of index arrays that are not special.
type usualTypes struct{}

// IndexType implements emit.OperandTypes.
func (usualTypes) IndexType(*ir.Tensor, int, emit.ArrayKind) tensor.DType { return tensor.Uint32 }
