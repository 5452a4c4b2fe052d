package interp

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file looks at each access of a grid function to an element that some thread
// may write. Two accesses of different threads conflict unless both load or both
// are atomic. They are ordered by a barrier between them, or by a barrier of the
// warp if both threads are of one. For each element the accesses since the last
// barrier are summed up, by kind: which thread, or several of one warp, or of
// several. (The idea is that of FastTrack's epochs: C. Flanagan and S. N. Freund,
// PLDI 2009.) Blocks are never ordered. So a race is found in whatever order the
// threads happen to run, if they do what they did here.

// An access is what a statement does with an element.
type access uint8

const (
	loading access = iota
	storing
	changing   // an atomic
	exchanging // an atomic that does not depend on the element
)

// An Access is one side of a race.
type Access struct {
	Kind   string // "load", "store" or "atomic"
	Block  int64  // number of the block, -1: several
	Thread int    // number of the thread in its block, -1: several or not known
}

// String names the access.
func (a Access) String() string {
	switch {
	case a.Block < 0:
		return a.Kind + " by several blocks"
	case a.Thread < 0:
		return fmt.Sprintf("%s by threads of block %d", a.Kind, a.Block)
	}
	return fmt.Sprintf("%s by thread %d of block %d", a.Kind, a.Thread, a.Block)
}

// RaceError says that two threads accessed an element, at least one of them wrote
// to it, and nothing ordered them.
type RaceError struct {
	Func   string // name of the function
	Buffer string // name of the buffer or shared array
	Index  int64  // the element
	First  Access
	Second Access // the one that was found
}

// Error implements error.
func (e *RaceError) Error() string {
	return fmt.Sprintf("interp: func %s: race on %s[%d]: %v and %v, with nothing between them that orders them",
		e.Func, e.Buffer, e.Index, e.First, e.Second)
}

// UndefinedError says that a thread read an element of a shared array that no thread
// of its block had written.
type UndefinedError struct {
	Func   string // name of the function
	Array  string // name of the shared array
	Index  int64  // the element
	Block  int64
	Thread int // number of the thread in its block
}

// Error implements error.
func (e *UndefinedError) Error() string {
	return fmt.Sprintf("interp: func %s: thread %d of block %d reads %s[%d], which was not written: shared arrays start undefined",
		e.Func, e.Thread, e.Block, e.Array, e.Index)
}

// A mark sums up accesses of one kind to an element since a barrier.
type mark struct {
	epoch  uint64 // which barrier
	order  uint32 // barriers of the warp before the last access
	warp   int16  // severalOf: of several warps
	thread int16  // severalOf: several threads of the warp since its barrier
}

const severalOf = -1

// unordered reports whether an access in m conflicts with one by t now.
func (m *mark) unordered(t *thread) bool {
	return m.epoch == t.block.epoch &&
		(m.warp != t.warp.number || m.order == t.warp.order && m.thread != t.number)
}

// add sums up an access by t.
func (m *mark) add(t *thread) {
	switch {
	case m.epoch != t.block.epoch:
		*m = mark{t.block.epoch, t.warp.order, t.warp.number, t.number}
	case m.warp != t.warp.number:
		m.warp = severalOf
	case m.order != t.warp.order:
		m.order, m.thread = t.warp.order, t.number
	case m.thread != t.number:
		m.thread = severalOf
	}
}

// A cell is what is known of one element. Kinds are load, store and atomic.
type cell struct {
	marks   [3]mark
	blocks  [3]int64 // 1 + the block that accessed the element; -1: several
	defined uint64   // of a shared array: 1 + number of blocks started before that which wrote it
}

// kindOf is the place of an access in a cell.
var kindOf = [...]int{loading: 0, storing: 1, changing: 2, exchanging: 2}

var kindNames = [...]string{"load", "store", "atomic"}

// conflicts lists, for each kind, the kinds that it must not meet.
var conflicts = [...][]int{{1, 2}, {0, 1, 2}, {0, 1}}

// pageSize is how many cells come into being at once.
const pageSize = 1 << 8

// A shadow has the cells of a buffer or shared array, those that were touched.
type shadow struct {
	name   string
	len    int64
	shared bool
	pages  []*[pageSize]cell
}

func newShadow(b loop.Buf, n int64) *shadow {
	return &shadow{name: b.Name, len: n, pages: make([]*[pageSize]cell, (n+pageSize-1)/pageSize)}
}

func (s *shadow) cell(i int64) *cell {
	p := &s.pages[i/pageSize]
	if *p == nil {
		*p = new([pageSize]cell)
	}
	return &(*p)[i%pageSize]
}

// touch looks at an access to element i of a buffer, which need not exist. It does
// not return when the access breaks a rule.
func (t *thread) touch(buf int, i int64, how access) {
	s := t.block.shadows[buf]
	if uint64(i) >= uint64(s.len) {
		return // the access finds out
	}
	c, kind := s.cell(i), kindOf[how]
	for _, other := range conflicts[kind] {
		if c.marks[other].unordered(t) {
			m := c.marks[other]
			first := Access{Kind: kindNames[other], Block: t.block.number, Thread: int(m.thread)}
			if m.warp == severalOf {
				first.Thread = severalOf
			}
			t.race(s, i, first, kind)
		}
		if by := c.blocks[other]; !s.shared && by != 0 && by != t.block.number+1 {
			t.race(s, i, Access{Kind: kindNames[other], Block: max(by-1, severalOf), Thread: severalOf}, kind)
		}
	}
	c.marks[kind].add(t)
	if s.shared {
		t.define(s, c, i, how)
		return
	}
	switch c.blocks[kind] {
	case 0:
		c.blocks[kind] = t.block.number + 1
	case t.block.number + 1:
	default:
		c.blocks[kind] = severalOf
	}
}

// define wants an element of a shared array to be defined, or makes it so.
func (t *thread) define(s *shadow, c *cell, i int64, how access) {
	switch {
	case how == storing || how == exchanging:
		c.defined = t.block.started
	case c.defined != t.block.started:
		t.block.fault = &UndefinedError{t.block.k.name, s.name, i, t.block.number, int(t.number)}
		panic(misused)
	}
}

func (t *thread) race(s *shadow, i int64, first Access, kind int) {
	second := Access{Kind: kindNames[kind], Block: t.block.number, Thread: int(t.number)}
	t.block.fault = &RaceError{t.block.k.name, s.name, i, first, second}
	panic(misused)
}
