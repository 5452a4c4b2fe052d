package interp

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Memory is the memory of one buffer parameter.
type Memory struct {
	Ptr unsafe.Pointer // first element; may be nil when Len is 0
	Len int64          // number of elements
}

// Statuses that Call adds to those of loop.Func, where 0 is success, 1+k means
// that Fail{k} was reached and loop.StatusStopped that the stop word was set.
const (
	// StatusOutOfBounds means that a load or store missed its buffer.
	StatusOutOfBounds = -2
	// StatusBadCall means that the arguments did not fit the function; it
	// did not run.
	StatusBadCall = -3
)

// Kernel is a loop function made ready to run. It is immutable: any number of
// goroutines may call it at once.
type Kernel struct {
	name      string
	bufs      []loop.Buf
	args      []slot
	chunk     slot
	lo, hi    slot
	registers []uint64 // the file at the start: constants set, the rest zero
	body      exec
	frames    sync.Pool
}

// Compile turns f into a Kernel. The scalar functions that f calls, and those
// that they call, are found by lookup; nil stands for a lookup that finds none.
// The error says which rule of the loop language f breaks.
func Compile(f *loop.Func, lookup func(string) (*loop.Scalar, bool)) (*Kernel, error) {
	return compile(f, &compiler{lookup: lookup})
}

func compile(f *loop.Func, c *compiler) (*Kernel, error) {
	if f.Grid != nil {
		return nil, fmt.Errorf("interp: func %s is a grid function and does not run on chunks; CompileGrid takes it", f.Name)
	}
	k := &Kernel{name: f.Name, bufs: f.Bufs}
	c.enter(function{where: "func " + f.Name, bufs: f.Bufs, fails: len(f.Fails)}, f.Vars)
	for _, v := range f.Args {
		k.args = append(k.args, c.parameter(v, loop.I64))
	}
	k.chunk = c.parameter(f.Chunk, loop.I64)
	k.lo = c.parameter(f.Lo, loop.I64)
	k.hi = c.parameter(f.Hi, loop.I64)
	k.body = c.block(f.Body)
	if c.err != nil {
		return nil, c.err
	}
	k.registers = c.registers()
	return k, nil
}

// Call runs the function on one chunk and returns its status. args are the
// scalar parameters in order. Run tells more about a negative status.
func (k *Kernel) Call(bufs []Memory, args []int64, chunk, lo, hi int64) int64 {
	status, _ := k.Run(bufs, args, chunk, lo, hi)
	return status
}

// Run is Call with the reason for a negative status: a *BoundsError or a
// *CallError. A status above zero (a Fail of the function) is no error here.
func (k *Kernel) Run(bufs []Memory, args []int64, chunk, lo, hi int64) (status int64, err error) {
	return k.RunUntil(&never, bufs, args, chunk, lo, hi)
}

// never is a stop word that nobody sets.
var never atomic.Uint32

// RunUntil is Run that soon ends with loop.StatusStopped when another goroutine
// sets the stop word to other than 0. What the function has stored is then of no
// use.
func (k *Kernel) RunUntil(stop *atomic.Uint32, bufs []Memory, args []int64, chunk, lo, hi int64) (status int64, err error) {
	return k.runUntil(nil, nil, stop, bufs, args, chunk, lo, hi)
}

// runUntil is RunUntil of a function that may tell of its loops.
func (k *Kernel) runUntil(tell loop.Instruments, leave func(int64), stop *atomic.Uint32, bufs []Memory, args []int64, chunk, lo, hi int64) (status int64, err error) {
	if err := checkCall(k.name, k.bufs, bufs, len(k.args), args); err != nil {
		return StatusBadCall, err
	}
	fr := k.frame()
	copy(fr.mem, bufs)
	fr.stop, fr.fuel, fr.tell, fr.leave = stop, pollInterval, tell, leave
	for i, s := range k.args {
		*reg[int64](fr, s) = args[i]
	}
	*reg[int64](fr, k.chunk) = chunk
	*reg[int64](fr, k.lo) = lo
	*reg[int64](fr, k.hi) = hi
	defer func() {
		if p := recover(); p != nil {
			if p != any(outOfBounds) {
				panic(p)
			}
			status, err = StatusOutOfBounds, boundsError(k.name, k.bufs, fr)
		}
		fr.stop, fr.tell, fr.leave = nil, nil, nil
		clear(fr.mem) // the pool must not keep the caller's memory alive
		k.frames.Put(fr)
	}()
	return k.body(fr), nil
}

// checkCall makes sure that the body of a function, which takes certain buffers and
// some scalars, cannot go astray on what the caller handed in.
func checkCall(name string, takes []loop.Buf, bufs []Memory, scalars int, args []int64) error {
	if len(bufs) != len(takes) {
		return &CallError{name, fmt.Sprintf("takes %d buffers, got %d", len(takes), len(bufs))}
	}
	if len(args) != scalars {
		return &CallError{name, fmt.Sprintf("takes %d scalar arguments, got %d", scalars, len(args))}
	}
	for i, m := range bufs {
		if m.Len < 0 || m.Len > 0 && m.Ptr == nil {
			return &CallError{name, fmt.Sprintf("buffer %s has %d elements at address %p", takes[i].Name, m.Len, m.Ptr)}
		}
	}
	return nil
}

// A frame is the state of one running call.
type frame struct {
	regs unsafe.Pointer // first of file
	bufs unsafe.Pointer // first of mem
	file []uint64
	mem  []Memory

	stop *atomic.Uint32
	fuel int64 // iterations until the next look at stop; above 0

	// Which access was out of bounds, when one was.
	badBuf   bufRef
	badIndex int64

	thread *thread          // of a grid; nil on chunks
	tell   loop.Instruments // nil of most
	leave  func(in int64)   // nil, or told where a call was
}

// pollInterval is how many iterations of loops, however nested, pass between two
// looks at the stop word: some milliseconds.
const pollInterval = 1 << 12

// poll looks at the stop word.
func (fr *frame) poll() bool {
	fr.fuel = pollInterval
	return fr.stop.Load() != 0
}

func (k *Kernel) frame() *frame {
	if fr, ok := k.frames.Get().(*frame); ok {
		return fr
	}
	return newFrame(k.registers, make([]Memory, len(k.bufs)))
}

// newFrame is a frame with registers as at the start of a call.
func newFrame(registers []uint64, mem []Memory) *frame {
	fr := &frame{file: slices.Clone(registers), mem: mem}
	fr.regs = unsafe.Pointer(unsafe.SliceData(fr.file))
	fr.bufs = unsafe.Pointer(unsafe.SliceData(fr.mem))
	return fr
}

// A slot is the byte offset of a register in the file.
type slot uintptr

// reg is the register at s, seen as a T. The compiler gave out s for a T of
// the file that fr holds.
func reg[T any](fr *frame, s slot) *T {
	return (*T)(unsafe.Add(fr.regs, s))
}

// A bufRef is the byte offset of a buffer's Memory in frame.mem.
type bufRef uintptr

// elem is the address of element i of a buffer of Es. It does not return when
// there is no such element.
func elem[E any](fr *frame, b bufRef, i int64) *E {
	m := (*Memory)(unsafe.Add(fr.bufs, b))
	if uint64(i) >= uint64(m.Len) {
		fr.badBuf, fr.badIndex = b, i
		panic(outOfBounds)
	}
	var e E
	return (*E)(unsafe.Add(m.Ptr, uintptr(i)*unsafe.Sizeof(e)))
}
