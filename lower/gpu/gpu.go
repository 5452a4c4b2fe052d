package gpu

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Options say how to map. The zero value is the default.
type Options struct {
	// Threads is the size of a block; 0 means 256. A multiple of 32 up to 1024.
	Threads int
	// Workers bounds the threads that work on chunks; 0 means 65536.
	Workers int64
	// Scratch bounds the bytes of all copies of what every thread has one of,
	// beyond the first 32; 0 means 1 GiB.
	Scratch int64
	// LongRow is how many iterations for each lane make a row too long for a team of
	// lanes; 0 means 64.
	LongRow int64
	// Few is up to how many entries an operand has few of; 0 means 32768.
	Few int64
	// Scatter is from how many updates on those of a scatter are sorted; 0 means 2048.
	Scatter int64
	// Blocked is from how many elements on those of a product of dense matrices are shared by blocks; 0 means 16384.
	Blocked int64
	// Mapping are ways that a schedule asks for: stages that it does not name choose for themselves.
	Mapping []ir.Mapping
}

// Simulated are the options for the simulated device: blocks of two warps and few workers,
// so that small data takes every way.
var Simulated = Options{Threads: 64, Workers: 96, LongRow: 1, Few: 1 << 10, Scatter: 8, Blocked: 64}

// Default sizes. They suit processors of some hundred thousand resident threads.
const (
	defaultThreads = 256
	defaultWorkers = 1 << 16
	defaultScratch = 1 << 30
	// maxChunks bounds the chunks of a stage whose results are later gone
	// through by one thread.
	maxChunks = 1 << 12
	// manyChunks is that where the partition says, by a grain of 1, that one element is enough for a chunk.
	manyChunks = 1 << 15
)

// Lower is Map between two looks of the verifier, at what it is given and at what it makes.
func Lower(p *loop.Program, o Options) (*loop.Program, error) {
	if err := p.Verify(lib.Lookup); err != nil {
		return nil, err
	}
	m := mapped(p, o)
	if err := m.unmet(); err != nil {
		return nil, err
	}
	if err := m.out.Verify(lib.Lookup); err != nil {
		return nil, fmt.Errorf("BUG: the mapping to a GPU's threads broke a rule: %w", err)
	}
	return m.out, nil
}

// Map returns p as a program of grids. p must have passed the verifier, and is not
// changed.
func Map(p *loop.Program, o Options) *loop.Program { return mapped(p, o).out }

// mapped maps a program.
func mapped(p *loop.Program, o Options) *mapper {
	o.Threads, o.Workers, o.Scratch = cmp.Or(o.Threads, defaultThreads), cmp.Or(o.Workers, defaultWorkers), cmp.Or(o.Scratch, defaultScratch)
	o.LongRow, o.Few, o.Scatter = cmp.Or(o.LongRow, defaultLongRow), cmp.Or(o.Few, cost.GridFew), cmp.Or(o.Scatter, cost.GridScatter)
	o.Blocked = cmp.Or(o.Blocked, defaultBlocked)
	from := *p // partitions are added
	from.Partitions = slices.Clone(p.Partitions)
	m := &mapper{from: &from, opts: o, cuts: make([]*cut, len(p.Partitions)), copies: map[loop.BufferID]loop.ScalarID{}, lengths: map[loop.BufferID]loop.BufferID{}}
	m.out = &loop.Program{Name: p.Name, Scalars: slices.Clone(p.Scalars), Buffers: slices.Clone(p.Buffers)}
	for i := range m.out.Buffers {
		if b := &m.out.Buffers[i]; b.Role == loop.Scratch {
			b.Role = loop.Temp
		}
	}
	m.styles()
	for i := range p.Stages {
		m.stage(&p.Stages[i])
	}
	return m
}

// mapper is a program on its way.
type mapper struct {
	small bool // functions that are begun stand in for others; see gridFunc
	from  *loop.Program
	out   *loop.Program
	opts  Options
	style []style // by partition
	cuts  []*cut  // by partition; nil until a stage has used it
	// copies gives for a buffer of which every thread has one how many there are.
	copies map[loop.BufferID]loop.ScalarID
	// lengths gives for the ends of rows the buffer of the longest row's length.
	lengths map[loop.BufferID]loop.BufferID
	chosen  []ir.Mapping
	inside  bool // a stage is made of others
	// unblocked says that products are not to be blocked: what is mapped stands in for those that need not be.
	unblocked bool
}

// style says how a partition is cut.
type style uint8

const (
	single style = iota // every element is a chunk
	coarse              // a bounded number of chunks
)

// cut is a partition that has been cut.
type cut struct {
	style  style
	n      loop.ScalarID
	chunks loop.ScalarID
	step   loop.ScalarID // of chunks of equal length; -1 with bounds
	bounds loop.BufferID // chunks+1 boundaries, -1 without
}

// styles decides how each partition is cut. Chunks of single elements are best,
// unless every thread needs memory of its own, or one thread goes through what
// the chunks leave.
func (m *mapper) styles() {
	m.style = make([]style, len(m.from.Partitions))
	for i := range m.from.Stages {
		s := &m.from.Stages[i]
		if s.Partition >= 0 && (m.hasScratch(s) || s.Ordered) {
			m.style[s.Partition] = coarse
		}
		if s.Partition >= 0 || s.Func == nil || len(s.Prefixes) > 0 {
			continue
		}
		for d := range m.from.Partitions {
			if slices.Contains(s.Args, m.from.Partitions[d].Chunks) {
				m.style[d] = coarse
			}
		}
	}
}

func (m *mapper) hasScratch(s *loop.Stage) bool {
	return slices.ContainsFunc(s.Bufs, func(b loop.BufferID) bool {
		return int(b) < len(m.from.Buffers) && m.from.Buffers[b].Role == loop.Scratch // others are made here
	})
}

func (m *mapper) scalar(name string) loop.ScalarID {
	m.out.Scalars = append(m.out.Scalars, loop.ProgramScalar{Name: name})
	return loop.ScalarID(len(m.out.Scalars) - 1)
}

func (m *mapper) temp(name string, elem loop.Type) loop.BufferID {
	m.out.Buffers = append(m.out.Buffers, loop.Buffer{Name: name, Elem: elem, Role: loop.Temp})
	return loop.BufferID(len(m.out.Buffers) - 1)
}

func (m *mapper) add(s loop.Stage) { m.out.Stages = append(m.out.Stages, s) }

// run adds a stage that runs on so many blocks; it returns true.
func (m *mapper) run(s loop.Stage, blocks loop.SizeExpr) bool {
	s.Blocks = blocks
	m.out.Stages = append(m.out.Stages, s)
	return true
}

// sizes adds a stage that only computes scalars and allocates.
func (m *mapper) sizes(name string, lets []loop.ScalarLet, trims []loop.Trim, allocs []loop.Alloc) {
	if len(lets)+len(trims)+len(allocs) > 0 {
		m.add(loop.Stage{Name: name, Partition: -1, Lets: lets, Trims: trims, Allocs: allocs})
	}
}

// stage maps one stage.
func (m *mapper) stage(s *loop.Stage) {
	if s.Blocks != nil {
		m.add(*s)
		return
	}
	m.sizes(s.Name+"_sizes", s.Lets, s.Trims, s.Allocs)
	if d := s.Partition; d >= 0 {
		if m.cuts[d] == nil {
			m.cuts[d] = m.cut(d)
		}
		m.perChunk(s, m.cuts[d])
	}
	switch {
	case s.Func == nil:
	case len(s.Prefixes) > 0:
		m.prefixes(s)
	case s.Partition < 0:
		m.choose(s, ofOneCall)
	case s.Ordered:
		m.ordered(s)
	case m.cuts[s.Partition].style == single:
		m.single(s)
	default:
		m.choose(s, ofChunks)
	}
}

// size expressions

func sizeOp(op loop.BinaryOp, x, y loop.SizeExpr) loop.SizeExpr {
	return &loop.SizeOp{Op: op, X: x, Y: y}
}

// blocksFor is the number of blocks for n threads' worth of work.
func (m *mapper) blocksFor(n loop.SizeExpr) loop.SizeExpr {
	return sizeOp(loop.Min, emit.CeilDiv(n, loop.SizeConst(int64(m.opts.Threads))), loop.SizeConst(coop.MaxBlocks))
}

func name(s *loop.Stage, mapping string) string { return fmt.Sprintf("%s_by_%s", s.Name, mapping) }
