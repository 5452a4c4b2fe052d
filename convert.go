package lacuna

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Convert stores a tensor in another format, with the shared session: see
// [Session.Convert].
func Convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return shared().Convert(ctx, t, format)
}

// FromCoords makes a tensor of entries given by their coordinates, with the
// shared session: see [Session.FromCoords].
func FromCoords(ctx context.Context, shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	return shared().FromCoords(ctx, shape, format, coords, values, opts...)
}

// WithConversionKernels makes a session compile a kernel for every conversion the
// first time, however little there is to convert, rather than once the session has
// converted enough for it to pay. Results are the same; it is for programs that
// convert often and start once, and for measuring.
func WithConversionKernels() SessionOption { return func(s *Session) { s.conversions.always = true } }

// Convert stores a tensor in another format. The result is that of
// [tensor.Tensor.Convert], made by a kernel for the two formats where that is
// faster: on the session's threads, within its memory limit, and until ctx ends.
// Arrays that the two formats have in common are shared. With [WithResidentResults] the
// others stay on the device.
func (s *Session) Convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if err := s.begin(ctx, t); err != nil {
		return nil, err
	}
	defer t.Unpin()
	c := &converting{session: s, options: s.options.Here(), resident: s.options.Resident}
	return c.named(ctx, t, format, t.Name())
}

// FromCoords makes a tensor of entries given by their coordinates: coords has an
// array of integers for each axis, each as long as values. They need not be sorted.
// The result is that of [tensor.FromCoords], which takes the same options: values at
// equal coordinates are summed in the order in which they are given, explicit
// zeros are stored, arrays may be shared.
func (s *Session) FromCoords(ctx context.Context, shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	arrays := append(slices.Clone(coords), values)
	plain := func(why string) (*tensor.Tensor, error) {
		if err := s.fetchFor(fmt.Sprintf("make %s of coordinates", format), why, arrays); err != nil {
			return nil, err
		}
		out, err := tensor.FromColumns(shape, format, coords, values, s.within(opts...)...)
		return out, runtime.Refused(fmt.Sprintf("to make %s of coordinates", format), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rank := len(shape)
	switch {
	case format.Rank() != rank || len(coords) != rank || slices.ContainsFunc(coords, func(c tensor.Array) bool { return !c.DType().IsInteger() }):
		return tensor.FromColumns(shape, format, coords, values, opts...) // which says what is wrong, and reads no array
	case slices.ContainsFunc(coords, func(c tensor.Array) bool { return c.Len() != values.Len() }):
		return plain("the arrays differ in length")
	case rank == 0:
		return plain("kernels are for tensors with axes")
	case slices.Min(shape) <= 0:
		return plain(outsideReason)
	case format.Relaxed():
		return plain(flagsReason(format))
	}
	if values.DType() == tensor.Bool && values.Fetched() && slices.ContainsFunc(tensor.View[uint8](values), func(v uint8) bool { return v > 1 }) {
		return plain("a bool is neither 0 nor 1")
	}
	sample, ok := sampleOf(shape, format, values, opts)
	if !ok {
		return plain("kernels make index arrays of the usual types")
	}
	list, err := tensor.Coordinates(rank).WithOrder(format.Order())
	if err != nil {
		return nil, err
	}
	levels := make([]tensor.Level, rank)
	for l, axis := range format.Order() {
		levels[l].Crd = coords[axis]
	}
	c := &converting{session: s, options: s.options.Here(), resident: s.options.Resident}
	given := tensor.Assemble(shape, list, levels, values, sample.Fill())
	if err := given.Pin(); err != nil { // of arrays that were released
		return nil, err
	}
	defer given.Unpin()
	c.begun = s.onDevice(given)
	out, err := c.fromCoords(ctx, given, format)
	if err != nil {
		given.Release()
	}
	if errors.Is(err, errPlain) {
		return plain(cmp.Or(reasonOf(err), "the result is too large"))
	}
	if err != nil {
		return nil, err
	}
	return renamed(replaced(given, out), sample.Name())
}

// within adds the session's memory limit to options of package tensor.
func (s *Session) within(opts ...tensor.Option) []tensor.Option {
	return append(slices.Clip(opts), tensor.WithMemoryLimit(s.options.MemoryLimit))
}

// sampleOf makes an empty tensor to see what options ask for. It is not ok if that
// is more than a kernel does.
func sampleOf(shape []int64, format tensor.Format, values tensor.Array, opts []tensor.Option) (*tensor.Tensor, bool) {
	sample := emptyTensor(format, values.DType(), opts...)
	if sample == nil {
		return nil, false
	}
	for l, level := range sample.Levels() {
		asked := level.Crd.Len() == 0 && level.Crd.DType().Valid() && level.Crd.DType() != tensor.Uint32 ||
			level.Pos.DType().Valid() && level.Pos.DType() != tensor.Uint32
		if asked || len(opts) > 0 && shape[format.Order()[l]] > wide {
			return nil, false
		}
	}
	return sample, true
}

// errPlain says that a conversion is not one for a kernel.
var errPlain = errors.New("not worth a kernel")

// converting is one conversion, of one or more kernels.
type converting struct {
	session *Session
	options runtime.Options
	latest  *variant // the kernel run last, nil if none was worth it
	begun   bool     // one kernel has been worth it: so are the others
	// unordered says that entries are most likely in no order, so that what sorts them can be
	// compiled ahead.
	unordered bool
	// keep leaves elements of dense blocks stored that equal the fill.
	keep bool
	// resident leaves what becomes of a tensor on the device.
	resident bool
}

// named converts a tensor, by kernels or without, and names the result.
func (c *converting) named(ctx context.Context, t *tensor.Tensor, format tensor.Format, name string) (*tensor.Tensor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if format.Allows(t.Format()) { // arrays are shared, and none is read
		return t.Convert(format, tensor.WithName(name))
	}
	c.begun = c.begun || c.session.onDevice(t) // it is not brought here for what the device can do
	convert := c.convert
	if !t.IsPlain() || format.Relaxed() {
		convert = c.sortedList
	}
	out, err := convert(ctx, t, format)
	if errors.Is(err, errPlain) {
		if why := reasonOf(err); why != "" {
			if err := c.session.onHost(fmt.Sprintf("convert %s to %s", t.Format(), format), why, t); err != nil {
				return nil, err
			}
		}
		if c.keep {
			return c.session.keepStored(t, format, tensor.WithName(name))
		}
		out, err := t.Convert(format, c.session.within(tensor.WithName(name))...)
		return out, runtime.Refused(fmt.Sprintf("to convert %s to %s", t.Format(), format), err)
	}
	if err != nil {
		return nil, err
	}
	return renamed(replaced(out, out.WithAttributesOf(t)), name)
}

// step runs a convert step of a plan.
func (c *converting) step(ctx context.Context, p *ir.Convert, from *tensor.Tensor) (*tensor.Tensor, error) {
	if p.From.Format.IsDense() && p.To.FillKnown {
		var err error
		if from, err = from.Convert(from.Format(), tensor.WithFill(p.To.Fill), tensor.WithName(p.From.Name)); err != nil {
			return nil, err
		}
	}
	c.keep = p.Keeps()
	if p.Restores {
		return c.result(ctx, p, from)
	}
	return c.named(ctx, from, p.To.Format, p.From.Name)
}

// result makes a result of an operand that a statement only stores again. Nothing but the arrays
// is the operand's.
func (c *converting) result(ctx context.Context, p *ir.Convert, from *tensor.Tensor) (*tensor.Tensor, error) {
	view := from
	if p.Axes != nil {
		var err error
		if view, err = from.Transpose(p.Axes); err != nil {
			return nil, err
		}
		defer view.Release()
	}
	return c.named(ctx, view, p.To.Format, p.To.Name)
}

// keepStored converts a tensor without dropping what its dense blocks hold beyond
// the fill: it goes by the coordinates of every stored element.
func (s *Session) keepStored(from *tensor.Tensor, format tensor.Format, opts ...tensor.Option) (*tensor.Tensor, error) {
	what := fmt.Sprintf("the coordinates of all that %s stores", from.Format())
	if err := runtime.Affords(what, from.NNZ()*int64(from.Rank()), tensor.Int64, s.options); err != nil {
		return nil, err
	}
	coords, values, err := from.ToCoords()
	if err != nil {
		return nil, err
	}
	out, err := tensor.FromCoords(from.Shape(), format, coords, values, s.within(append(opts, tensor.WithFill(from.Fill()))...)...)
	return out, runtime.Refused(fmt.Sprintf("to convert %s to %s", from.Format(), format), err)
}

// explained is the variant of a step to explain: the latest or, of a conversion that
// has not run, the one for large tensors of few coordinates.
func (st *step) explained(s *Session) (*variant, error) {
	p, ok := st.plan.(*ir.Convert)
	v := st.latest.Load()
	if !ok || v != nil {
		return v, nil
	}
	shape := make([]int64, p.From.Rank)
	for axis := range shape {
		shape[axis] = 1 << 10
	}
	grids := runtime.OnGrids(s.engine)
	from := p.View()
	path, _ := convert.ChoosePath(from.Format, p.To.Format, convert.Data{Shape: shape, Entries: 1 << 20, DType: from.DType, Grids: grids})
	low, err := convert.Lower(from, p.To, usualTypes{},
		convert.Options{Grain: s.grain, Path: path, Grids: grids})
	if err != nil {
		return nil, err
	}
	return &variant{lower: low}, nil
}

// usualTypes are the types of index arrays that are not special.
type usualTypes struct{}

// IndexType implements lower.OperandTypes.
func (usualTypes) IndexType(*ir.Tensor, int, lower.ArrayKind) tensor.DType { return tensor.Uint32 }

// emptyTensor is a tensor of size 0, an example for the types of arrays that a
// format has by default or by options; nil if they ask for what there is not.
func emptyTensor(format tensor.Format, dt tensor.DType, opts ...tensor.Option) *tensor.Tensor {
	none, err := tensor.MakeArray(dt, 0)
	if err != nil {
		return nil
	}
	rank := format.Rank()
	t, err := tensor.FromCoords(make([]int64, rank), format, make([][]int64, rank), none, opts...)
	if err != nil {
		return nil
	}
	return t
}

// conversions are the kernels of a session that convert, by what they convert.
type conversions struct {
	always bool // use kernels whether or not they pay
	// data is for tests: choose paths as for other data.
	data func(convert.Data) convert.Data

	mu      sync.Mutex
	kernels map[string]*variant
	making  flight.Group[string, *variant] // about to be in kernels
	plain   map[string]int64               // entries converted without a kernel so far
}

// A conversion of fewer entries than these is done before a kernel has started;
// and compiling one takes as long as converting this many without it.
const (
	fewEntries     = 1 << 12
	compileEntries = 1 << 20
)

// pays reports whether a conversion of n entries is worth a kernel.
func (c *conversions) pays(engine runtime.Engine, key string, n int64) bool {
	if c.always {
		return true
	}
	if n < fewEntries || engine.Name() == runtime.InterpName {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kernels[key] != nil || n+c.plain[key] >= compileEntries {
		return true
	}
	if c.plain == nil || len(c.plain) >= cachedKernels {
		c.plain = map[string]int64{}
	}
	c.plain[key] += n
	return false
}

// convert stores a tensor in another format.
func (c *converting) convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if t.Rank() == 0 || t.Rank() != format.Rank() || t.Format() == format {
		return nil, errPlain
	}
	for _, n := range t.Dims() {
		if n == 0 && bytesAway(t) > 0 { // positions
			return emptyOf(t.Shape(), format, t.DType(), t.Fill())
		}
		if n == 0 {
			return nil, errPlain
		}
	}
	c.options.Resident = c.resident
	return c.kernel(ctx, t, format, convert.Stored)
}

// kernel runs the kernel of a conversion, or says errPlain.
func (c *converting) kernel(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries convert.EntryOrder) (*tensor.Tensor, error) {
	path, err := c.path(t, format, entries)
	if err != nil {
		return nil, err
	}
	return c.kernelFor(ctx, t, format, entries, path)
}

// kernelFor runs the kernel of a conversion whose path has been chosen.
func (c *converting) kernelFor(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries convert.EntryOrder, path convert.Path) (*tensor.Tensor, error) {
	v, call, err := c.run(ctx, t, format, entries, path, nil)
	if err != nil {
		return nil, err
	}
	defer v.finish(call)
	c.latest = v
	return v.converted(t, t.Values(), &call.results), nil
}

// path chooses how entries are sorted.
func (c *converting) path(t *tensor.Tensor, format tensor.Format, entries convert.EntryOrder) (convert.Path, error) {
	data := convert.Data{Shape: t.Dims(), Entries: t.NNZ(), DType: t.DType(), Order: entries, Threads: c.threads(), Grain: c.session.grain,
		Grids: runtime.OnGrids(c.session.engine), Spread: func(axis int) int64 { return spread(t, axis) }}
	if f := c.session.conversions.data; f != nil {
		data = f(data)
	}
	path, ok := convert.ChoosePath(t.Format(), format, data)
	if !ok {
		return path, notForKernels("it takes more passes to sort than kernels are made for")
	}
	if path.Alone {
		c.options.Threads = 1 // for what is left to do there is no need of others either
	}
	return path, nil
}

// threads is how many threads a kernel of the conversion runs on.
func (c *converting) threads() int {
	n := goruntime.GOMAXPROCS(0)
	if runtime.OnGrids(c.session.engine) {
		return 0
	}
	if c.options.Threads > 0 {
		n = min(n, c.options.Threads)
	}
	return n
}

// run runs the kernel of one conversion on the arrays of a tensor and, in place
// of its coordinates and values, those of a packed list. The call must be
// finished.
func (c *converting) run(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries convert.EntryOrder, path convert.Path, list *packedList) (*variant, *call, error) {
	v, err := c.conversion(ctx, t, format, entries, path)
	if err != nil {
		return nil, nil, err
	}
	call, err := c.call(ctx, v, t, list)
	return v, call, err
}

// conversion is the kernel that run runs.
func (c *converting) conversion(ctx context.Context, t *tensor.Tensor, format tensor.Format, entries convert.EntryOrder, path convert.Path) (*variant, error) {
	from, to := c.planned("A", t, t.Format()), c.planned("B", t, format)
	types := conversionTypes{t: t, to: to, pos: tensor.Uint32}
	if t.NNZ() >= wide {
		types.pos = tensor.Uint64
	}
	key := fmt.Sprintf("%s %s %v %v %t %v %s %v", t.Format(), format, t.DType(), entries, c.keep, path, indexTypes(t), types.pos)
	for l := range format.Rank() {
		key += " " + types.IndexType(to, l, lower.Coordinates).String()
	}
	return c.variant(ctx, key, t.NNZ(), func() (*lower.Kernel, error) {
		return convert.Lower(from, to, types, convert.Options{Grain: c.session.grain, Entries: entries, Keep: c.keep, Path: path,
			Grids: runtime.OnGrids(c.session.engine)})
	})
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

// planned is a tensor as lowering sees it.
func (c *converting) planned(name string, t *tensor.Tensor, format tensor.Format) *ir.Tensor {
	return &ir.Tensor{Name: name, Rank: t.Rank(), DType: t.DType(), Format: format, Fill: t.Fill()}
}

// conversionTypes are the types of a tensor's arrays, and those that they have by
// default in another format.
type conversionTypes struct {
	t   *tensor.Tensor
	to  *ir.Tensor
	pos tensor.DType
}

// IndexType implements lower.OperandTypes.
func (c conversionTypes) IndexType(t *ir.Tensor, level int, kind lower.ArrayKind) tensor.DType {
	switch {
	case t != c.to && kind == lower.Positions:
		return c.t.LevelAt(level).Pos.DType()
	case t != c.to:
		return c.t.LevelAt(level).Crd.DType()
	case kind == lower.Positions:
		return c.pos
	}
	return coordinateType(c.t.Dims()[t.Format.Order()[level]])
}

// worth is errPlain if a kernel for n entries is not worth its compilation.
func (c *converting) worth(key string, n int64) error {
	if !c.begun && !c.session.conversions.pays(c.session.engine, key, n) {
		return notForKernels("a kernel takes longer to compile than so few entries to convert (WithConversionKernels compiles one)")
	}
	c.begun = true
	return nil
}

// variant returns the kernel of a key, or errPlain where none is worth its
// compilation.
func (c *converting) variant(ctx context.Context, key string, n int64, lowered func() (*lower.Kernel, error)) (v *variant, err error) {
	defer caught(key, &err)
	if err := c.worth(key, n); err != nil {
		return nil, err
	}
	s := c.session
	known := &s.conversions
	return known.making.Do(ctx, key, func() (*variant, bool) {
		known.mu.Lock()
		defer known.mu.Unlock()
		v := known.kernels[key]
		return v, v != nil
	}, func(ctx context.Context) (*variant, error) {
		low, err := lowered()
		if err != nil {
			return nil, err
		}
		exe, err := s.executable(ctx, low.Program)
		if err != nil {
			return nil, err
		}
		v := newVariant(choice{}, low, compiled(exe))
		known.mu.Lock()
		defer known.mu.Unlock()
		if known.kernels == nil || len(known.kernels) >= cachedKernels {
			known.kernels = map[string]*variant{}
		}
		known.kernels[key] = v
		return v, nil
	})
}

// call runs a kernel. The call must be finished.
func (c *converting) call(ctx context.Context, v *variant, t *tensor.Tensor, list *packedList) (*call, error) {
	call := v.calls.Get().(*call)
	for _, in := range v.lower.Inputs {
		m := &call.bindings.Buffers[in.Buffer]
		switch {
		case in.Kind == lower.Words:
			*m = list.words[in.Level]
		case in.Kind == lower.Values && list != nil:
			*m = memoryOf(c.session.engine, list.values)
		default:
			*m = memoryOf(c.session.engine, operandArray(t, in))
		}
	}
	for _, s := range v.lower.Scalars {
		call.bindings.Scalars[s.Scalar] = t.Dims()[s.Axis]
	}
	err := v.exe.exe.RunInto(ctx, call.bindings, c.options, &call.results)
	goruntime.KeepAlive(t) // as in Kernel.compute
	if err == nil {
		return call, nil
	}
	v.finish(call)
	var size *runtime.SizeError
	if errors.As(err, &size) {
		return nil, errPlain // which says it in terms of formats
	}
	return nil, err
}

// converted assembles what a conversion of t, with these values, has made. Buffers
// that are inputs are arrays of t.
func (v *variant) converted(t *tensor.Tensor, values tensor.Array, r *runtime.Results) *tensor.Tensor {
	res := v.lower.Result
	array := func(id loop.BufferID, dt tensor.DType) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		for _, in := range v.lower.Inputs {
			if in.Buffer == id && in.Kind == lower.Values {
				return values
			}
			if in.Buffer == id {
				return operandArray(t, in)
			}
		}
		return arrayOf(dt, r.Buffers[id])
	}
	index := func(id loop.BufferID) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		return array(id, tensor.DType(v.lower.Program.Buffers[id].Elem))
	}
	levels := make([]tensor.Level, len(res.Levels))
	for l := range levels {
		levels[l] = tensor.Level{Pos: index(res.Levels[l].Pos), Crd: index(res.Levels[l].Crd)}
	}
	return tensor.Assemble(t.Dims(), res.Tensor.Format, levels, array(res.Values, t.DType()), t.Fill())
}
