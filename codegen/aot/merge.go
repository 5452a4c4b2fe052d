package aot

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// join adds the stages of a lowered step, which makes the tensor to of the given shape.
// bound gives the values of the scalars that a caller would bind.
func (k *linker) join(low *emit.Kernel, to *ir.Tensor, shape []loop.SizeExpr, bound func(emit.Scalar) loop.SizeExpr) error {
	if k.in.Grids {
		mapped := *low
		var err error
		if mapped.Program, err = gpu.Lower(low.Program, gpu.Options{Mapping: low.Mapping}); err != nil {
			return err
		}
		low = &mapped
	} else if err := low.Program.Verify(lib.Lookup); err != nil {
		return err
	}
	m := &merger{linker: k, low: low, scalars: map[loop.ScalarID]loop.SizeExpr{}, buffers: make([]loop.BufferID, len(low.Program.Buffers))}
	for _, s := range low.Scalars {
		e := bound(s)
		if _, ok := e.(loop.SizeConst); !ok {
			e = loop.SizeScalar(k.let(low.Program.Scalars[s.Scalar].Name, e))
		}
		m.scalars[s.Scalar] = e
	}
	m.takeBuffers()
	made := m.result(to)
	made.dims = shape
	m.takeStages()
	m.rootPointers(to, made)
	k.measure(to.Format, made)
	k.stored[to] = made
	k.out.Notes = append(k.out.Notes, low.Notes...)
	return nil
}

// merger adds one step's program to the linked one.
type merger struct {
	*linker
	low     *emit.Kernel
	scalars map[loop.ScalarID]loop.SizeExpr
	buffers []loop.BufferID // by the step's own number
}

// takeBuffers gives every buffer of the step a place in the linked program.
func (m *merger) takeBuffers() {
	inputs := map[loop.BufferID]emit.Input{}
	for _, in := range m.low.Inputs {
		inputs[in.Buffer] = in
	}
	for i, b := range m.low.Program.Buffers {
		if in, ok := inputs[loop.BufferID(i)]; ok {
			m.buffers[i] = m.array(in)
			continue
		}
		role := b.Role
		if role == loop.Output {
			role = loop.Temp // until it turns out to be a result's
		}
		m.buffers[i] = m.buffer(fmt.Sprintf("s%d_%s", m.step, b.Name), b.Elem, role)
	}
}

// array is the buffer of a tensor's array that a step reads.
func (m *merger) array(in emit.Input) loop.BufferID {
	s := m.stored[in.Tensor]
	switch in.Kind {
	case emit.Positions:
		return s.levels[in.Level].Pointers.Buffer
	case emit.Coordinates:
		return s.levels[in.Level].Indices.Buffer
	case emit.FillValue:
		if s.fill < 0 {
			s.fill = m.constant(in.Tensor.Name+"_fill", in.Tensor.Fill)
		}
		return s.fill
	}
	return s.values.Buffer
}

// constant is a buffer that holds one value.
func (k *linker) constant(name string, v tensor.Scalar) loop.BufferID {
	id := k.buffer(name, loop.Type(v.DType()), loop.Input)
	k.out.Constants[id] = v
	return id
}

// result is where what the step makes will be.
func (m *merger) result(to *ir.Tensor) *stored {
	res := m.low.Result
	s := &stored{fill: -1, levels: make([]Level, len(to.Format.Levels()))}
	array := func(id loop.BufferID) Array {
		if id < 0 {
			return Array{Buffer: -1}
		}
		at := m.buffers[id]
		return Array{Type: m.loops.Buffers[at].Elem, Buffer: at}
	}
	for l := range s.levels {
		if l < res.SharedLevels {
			s.levels[l] = m.stored[res.Shared].levels[l]
			continue
		}
		s.levels[l] = Level{Pointers: array(res.Levels[l].Pos), Indices: array(res.Levels[l].Crd)}
		m.count(to, s.levels[l])
	}
	s.values = array(res.Values)
	s.values.Type = loop.Type(to.DType)
	m.loops.Buffers[s.values.Buffer].Elem = s.values.Type // moved as an integer
	if res.Fill >= 0 {
		s.fill = m.buffers[res.Fill]
	}
	return s
}

// rootPointers adds the pointers of an outermost level that is compressed, 0 and the
// number of its entries, where the step has not made them.
func (m *merger) rootPointers(to *ir.Tensor, s *stored) {
	physical := to.Format.Physical()
	if len(physical) == 0 || !physical[0].Ranges() || s.levels[0].Pointers.Buffer >= 0 {
		return
	}
	n := m.scalar(fmt.Sprintf("s%d_entries", m.step))
	b := loop.NewBuilder("root_" + to.Name)
	elem := m.positions()
	pos := b.Buf("pos", elem, loop.ReadWrite)
	count := b.Arg("entries")
	b.Store(pos, loop.Int(0), loop.NewCast(elem, loop.Int(0)))
	b.Store(pos, loop.Int(1), loop.NewCast(elem, count))
	at := m.buffer(fmt.Sprintf("s%d_%s0_pos", m.step, to.Name), elem, loop.Temp)
	m.addStage(loop.Stage{
		Name: "root", Partition: -1, Func: b.Func(), Bufs: []loop.BufferID{at}, Args: []loop.ScalarID{n},
		Lets:   []loop.ScalarLet{{Scalar: n, Value: loop.SizeLen{Buffer: s.levels[0].Indices.Buffer}}},
		Allocs: []loop.Alloc{{Buffer: at, Len: loop.SizeConst(2)}},
	})
	s.levels[0].Pointers = Array{Type: elem, Buffer: at}
	m.count(to, s.levels[0])
}

// count has the driver see to it that the pointers of a level can count its entries.
func (m *merger) count(to *ir.Tensor, l Level) {
	if l.Pointers.Type == loop.U32 {
		m.out.Counted[l.Indices.Buffer] = to.Name
	}
}

// scalarOf is a scalar of the step.
func (m *merger) scalarOf(id loop.ScalarID) loop.SizeExpr {
	e, ok := m.scalars[id]
	if !ok {
		e = loop.SizeScalar(m.scalar(fmt.Sprintf("s%d_%s", m.step, m.low.Program.Scalars[id].Name)))
		m.scalars[id] = e
	}
	return e
}

// defined is a scalar of the step that the step defines, or passes to a function.
func (m *merger) defined(id loop.ScalarID) loop.ScalarID {
	e := m.scalarOf(id)
	if s, ok := e.(loop.SizeScalar); ok {
		return loop.ScalarID(s)
	}
	s := m.let(m.low.Program.Scalars[id].Name, e)
	m.scalars[id] = loop.SizeScalar(s)
	return s
}

func (m *merger) size(e loop.SizeExpr) loop.SizeExpr {
	return mapSize(e, m.scalarOf, func(id loop.BufferID) loop.BufferID { return m.buffers[id] })
}

func (m *merger) lets(list []loop.ScalarLet) []loop.ScalarLet {
	out := make([]loop.ScalarLet, len(list))
	for i, l := range list {
		out[i] = loop.ScalarLet{Scalar: m.defined(l.Scalar), Value: m.size(l.Value)}
	}
	return out
}

func (m *merger) allocs(list []loop.Alloc) []loop.Alloc {
	out := make([]loop.Alloc, len(list))
	for i, a := range list {
		out[i] = loop.Alloc{Buffer: m.buffers[a.Buffer], Len: m.size(a.Len), Zero: a.Zero}
	}
	return out
}

// takeStages adds the stages and partitions of the step.
func (m *merger) takeStages() {
	p := m.low.Program
	base := len(m.loops.Partitions)
	for i := range p.Partitions {
		part := p.Partitions[i]
		part.Name = fmt.Sprintf("cut%d", base+i)
		part.N = m.size(part.N)
		part.Chunks = m.defined(part.Chunks)
		if part.Weights >= 0 {
			part.Weights = m.buffers[part.Weights]
		}
		m.loops.Partitions = append(m.loops.Partitions, part)
	}
	for i := range p.Stages {
		s := p.Stages[i]
		s.Symbolic, s.Prefixes = false, nil // of no use to a driver
		if s.Blocks != nil {
			s.Blocks = m.size(s.Blocks)
		}
		s.Lets, s.PartitionLets = m.lets(s.Lets), m.lets(s.PartitionLets)
		s.Allocs, s.PartitionAllocs = m.allocs(s.Allocs), m.allocs(s.PartitionAllocs)
		trims := s.Trims
		s.Trims = nil
		for _, t := range trims {
			s.Trims = append(s.Trims, loop.Trim{Buffer: m.buffers[t.Buffer], Len: m.size(t.Len)})
		}
		if s.Partition >= 0 {
			s.Partition += base
		}
		bufs, args := s.Bufs, s.Args
		s.Bufs, s.Args = nil, nil
		for _, id := range bufs {
			s.Bufs = append(s.Bufs, m.buffers[id])
		}
		for _, id := range args {
			s.Args = append(s.Args, m.defined(id))
		}
		m.loops.Stages = append(m.loops.Stages, s)
	}
}

// convert adds a conversion. Its path must do for all data: see below.
func (k *linker) convert(s *ir.Convert) error {
	from := k.stored[s.From]
	if s.From.Format.IsDense() && s.To.FillKnown {
		// What counts as not stored is the target's fill, whatever the source has beyond
		// its extents.
		own := from.fill
		from.fill = k.constant(s.From.Name+"_fill", s.To.Fill)
		defer func() { from.fill = own }()
	}
	path, err := k.anyPath(s.From.Format, s.To.Format, s.From.DType)
	if err != nil {
		return err
	}
	k.narrow(s.From.Name, from.dims)
	k.wider = k.countedWide(s, from)
	defer func() { k.wider = false }()
	low, err := convert.Lower(s.From, s.To, k, convert.Options{Grain: k.in.Grain, Keep: s.Keeps(), Path: path, Grids: k.in.Grids})
	if err != nil {
		return err
	}
	return k.join(low, s.To, from.dims, func(x emit.Scalar) loop.SizeExpr { return from.dims[x.Axis] })
}

// countedWide reports whether the entries of a tensor that is converted may be more than 32 bits count. Those of a
// dense one, which nobody has counted, are refused where its elements are.
func (k *linker) countedWide(s *ir.Convert, from *stored) bool {
	if !s.From.Format.IsDense() {
		return slices.ContainsFunc(from.levels, func(l Level) bool { return l.Pointers.Type == loop.U64 })
	}
	if k.positions() == loop.U32 && !s.To.Format.IsDense() {
		k.out.Checks = append(k.out.Checks, Check{Code: ErrSize, Tensor: -1, X: from.values.Len, Y: loop.SizeConst(math.MaxUint32), Message: tooMany(s.To.Name)})
	}
	return false
}

// tooMany says that a result has more entries than pointers of 32 bits count.
func tooMany(name string) string {
	return name + " may have more than 2^32-1 entries: build the kernel with 64-bit coordinates"
}

// anyPath is a path of a conversion that does for operands of any size: where one axis
// is sorted by, and the target has a pointer for each of its coordinates, a counting pass with
// a counter for each; else, and on grids, radix passes over all bits that coordinates may have.
func (k *linker) anyPath(from, to tensor.Format, dt tensor.DType) (convert.Path, error) {
	data := convert.Data{Shape: slices.Repeat([]int64{1}, from.Rank()), DType: dt, Entries: 1, Threads: 1}
	if k.in.Grids {
		data.Threads, data.Grids = 0, true
	}
	path, _ := convert.ChoosePath(from, to, data)
	if path.None() || !k.in.Grids && path.Axes == 1 && to.Physical()[0].Full() {
		return path, nil
	}
	for axis := range data.Shape {
		data.Shape[axis] = 1 << 32
		if k.in.Wide {
			data.Shape[axis] = 1 << 62
		}
	}
	path, ok := convert.ChoosePath(from, to, data)
	if !ok {
		return path, &UnsupportedError{fmt.Sprintf("the conversion of %s to %s, which would take too many passes", from, to), "convert the operand beforehand"}
	}
	return path, nil
}

// results makes the results of the program from what the steps have made.
func (k *linker) results() {
	for _, t := range k.in.Plan.Source.Tensors {
		p := k.in.Plan.Results[t]
		if p == nil {
			continue
		}
		s := k.stored[p]
		x := Tensor{Name: t.Name, Format: p.Format, DType: p.DType, Fill: p.Fill, FillKnown: p.FillKnown, FillBuffer: -1, Extents: s.dims}
		for l := range s.levels {
			x.Levels = append(x.Levels, Level{
				Pointers: k.owned(fmt.Sprintf("%s%d_pos", t.Name, l), s.levels[l].Pointers),
				Indices:  k.owned(fmt.Sprintf("%s%d_crd", t.Name, l), s.levels[l].Indices),
			})
		}
		x.Values = k.owned(t.Name+"_vals", s.values)
		if !p.FillKnown && s.fill >= 0 {
			x.FillBuffer = s.fill
		}
		k.out.Tensors = append(k.out.Tensors, x)
	}
}

// owned is an array of a result: one that a step has made for it becomes the result's
// own, one that is an operand's or already another result's is copied.
func (k *linker) owned(name string, a Array) Array {
	if a.Buffer < 0 {
		return a
	}
	b := &k.loops.Buffers[a.Buffer]
	if b.Role == loop.Temp {
		b.Role, b.Name = loop.Output, loop.CleanName(name)
		return a
	}
	// Moved as integers, so that NaNs keep their bits; complex numbers are moved as they are.
	elem := b.Elem
	if !elem.IsComplex() {
		elem = []loop.Type{1: loop.U8, 2: loop.U16, 4: loop.U32, 8: loop.U64}[elem.Size()]
	}
	f := loop.NewBuilder("copy_" + name)
	from, to := f.Buf("from", elem, loop.ReadOnly), f.Buf("to", elem, loop.ReadWrite)
	f.ForIndependent("p", f.Lo(), f.Hi(), func(p loop.Expr) { f.Store(to, p, f.Load(from, p)) })
	out := k.buffer(name, a.Type, loop.Output)
	k.elementwise("copy", f.Func(), out, a.Len, []loop.BufferID{a.Buffer, out})
	return Array{Type: a.Type, Buffer: out, Len: a.Len}
}
