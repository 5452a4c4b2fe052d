package loop

// A Grid makes a function a grid function: it is run by every thread of a grid
// of blocks, as a GPU does it, and not once for each chunk. The words are CUDA's:
// the threads of a block share memory and wait for each other at barriers; 32
// threads that follow each other are a warp and exchange values by shuffles;
// blocks know nothing of each other and run in any order.
//
// A grid function has no chunk triple (Chunk, Lo and Hi are NoVar). What it works
// on follows from its scalar parameters and from the special registers: which
// block this is, how many there are, which thread. The number of blocks is given
// with the call.
//
// Its status is the greatest of the statuses of its threads: a thread that fails
// ends, the others go on.
//
// Two accesses of one element by different threads, at least one of them a Store
// and not both atomic, must be ordered: by a barrier that both threads come to
// between them, or by the end of the call. Otherwise it is a race and the result
// is undefined. Shuffles order nothing.
type Grid struct {
	// Threads is how many threads a block has: a multiple of 32, up to 1024.
	Threads int
	// Resident is how many blocks each processor of the device should have room for at
	// once: the more, the fewer registers a thread has. 0 leaves that to compilers.
	Resident int
	// Shared are the arrays that each block has for itself. As buffers they are
	// numbered after Func.Bufs. Their elements are undefined when a block starts.
	Shared []Shared
}

// Shared is an array in the memory of a block.
type Shared struct {
	Name string
	Elem Type
	Len  int64 // number of elements
}

// Limits of grid functions.
const (
	WarpSize   = 32   // threads of a warp
	MaxThreads = 1024 // threads of a block
	// MaxResident bounds Grid.Resident.
	MaxResident = 32
	MaxShared   = 48 << 10 // bytes of all shared arrays, each rounded up to 16: what every GPU has
)

// NoVar is no variable: the chunk triple of a grid function, and the variable of
// an Atomic whose old value nobody wants.
const NoVar VarID = -1

// sharedAlign is what the size of each shared array is rounded up to.
const sharedAlign = 16

// Bytes is the memory that the shared arrays take, each rounded up to 16 bytes. It
// is above MaxShared, and else of no meaning, when a length is out of range.
func (g *Grid) Bytes() int64 {
	total := int64(0)
	for _, s := range g.Shared {
		if s.Len < 0 || s.Len > MaxShared || total > MaxShared {
			return MaxShared + 1
		}
		total += (s.Len*int64(s.Elem.Size()) + sharedAlign - 1) / sharedAlign * sharedAlign
	}
	return total
}

// Buffers lists what a BufID of f names: the buffer parameters, then the shared
// arrays of a grid function.
func (f *Func) Buffers() []Buf {
	if f.Grid == nil {
		return f.Bufs
	}
	all := append([]Buf{}, f.Bufs...)
	for _, s := range f.Grid.Shared {
		all = append(all, Buf{Name: s.Name, Elem: s.Elem})
	}
	return all
}

// HasBarriers reports whether threads wait for each other at barriers of some scope,
// behind which they see what others have stored.
func (f *Func) HasBarriers() bool { return f.Stats().Barriers > 0 }

// entry are the variables that have values when f starts, in the order of the
// text.
func (f *Func) entry() []VarID {
	ids := append([]VarID{}, f.Args...)
	if f.Grid == nil {
		ids = append(ids, f.Chunk, f.Lo, f.Hi)
	}
	return ids
}

// Register names a value that differs between the threads of a grid but that no
// thread can change.
type Register uint8

// The special registers. All are I64.
const (
	InvalidRegister Register = iota
	BlockIndex               // the number of this thread's block
	BlockCount               // the number of blocks
	ThreadIndex              // the number of this thread in its block
	WarpIndex                // ThreadIndex / 32
	LaneIndex                // ThreadIndex % 32
)

var registers = [...]string{
	BlockIndex: "block", BlockCount: "blocks", ThreadIndex: "thread", WarpIndex: "warp", LaneIndex: "lane",
}

// String returns the register's name in the text, which has parentheses behind it.
func (r Register) String() string {
	if r > InvalidRegister && int(r) < len(registers) {
		return registers[r]
	}
	return "invalid"
}

// Special reads a special register.
type Special struct{ Reg Register }

// Type is I64.
func (e *Special) Type() Type { return I64 }

// Scope says which threads take part in something.
type Scope uint8

// The scopes.
const (
	BlockScope Scope = iota // all threads of the block
	WarpScope               // all threads of the warp
)

// Barrier lets a thread wait until all threads of the scope have come to it. What
// they have stored before is then seen by all of them. It stands where control is
// uniform for the scope.
type Barrier struct{ Scope Scope }

// ShuffleKind says from which lane a thread gets the value.
type ShuffleKind uint8

// The kinds of shuffles. A warp is cut into segments of Width lanes; k is the
// second operand.
const (
	ShuffleIndex ShuffleKind = iota // lane k modulo Width of the segment
	ShuffleXor                      // lane xor k modulo Width
	ShuffleUp                       // k modulo 32 lanes down, if that is in the segment, else the thread's own value
	ShuffleDown                     // k modulo 32 lanes up, if that is in the segment, else the thread's own value
)

var shuffles = [...]string{
	ShuffleIndex: "shuffle", ShuffleXor: "shuffle_xor", ShuffleUp: "shuffle_up", ShuffleDown: "shuffle_down",
}

// String returns the kind as the text writes it.
func (k ShuffleKind) String() string {
	if int(k) < len(shuffles) {
		return shuffles[k]
	}
	return "invalid"
}

// Source is the lane that the value of a shuffle comes from, for a thread of the
// given lane.
func (k ShuffleKind) Source(lane, operand int64, width int) int64 {
	w := int64(width)
	first := lane &^ (w - 1)
	switch k {
	case ShuffleIndex:
		return first + operand&(w-1)
	case ShuffleXor:
		return lane ^ operand&(w-1)
	case ShuffleUp:
		if from := lane - operand&(WarpSize-1); from >= first {
			return from
		}
	case ShuffleDown:
		if from := lane + operand&(WarpSize-1); from < first+w {
			return from
		}
	}
	return lane
}

// Shuffle introduces a variable and gives it the Value of another thread of the
// warp. All threads of the warp take part: it stands where control is uniform for
// the warp.
type Shuffle struct {
	Var   VarID // of Value's type
	Kind  ShuffleKind
	Value Expr
	Lane  Expr // I64: the kind's operand
	Width int  // of a segment: 1, 2, 4, 8, 16 or 32
}

// Ballot introduces a variable of type U32 whose bit k tells whether Cond holds
// for lane k of the warp. It stands where control is uniform for the warp.
type Ballot struct {
	Var  VarID
	Cond Expr
}

// AtomicOp is what an Atomic makes of the element and the value.
type AtomicOp uint8

// The atomic operations, on integers of 32 and 64 bits: a sum of floats would depend on the order of the threads.
const (
	AtomicAdd            AtomicOp = iota // wraps
	AtomicMin                            // the lesser
	AtomicMax                            // the greater
	AtomicAnd                            // bitwise
	AtomicOr                             // bitwise
	AtomicExchange                       // the value
	AtomicCompareAndSwap                 // the value if the element equals Expected, else the element
)

var atomics = [...]string{
	AtomicAdd: "atomic_add", AtomicMin: "atomic_min", AtomicMax: "atomic_max",
	AtomicAnd: "atomic_and", AtomicOr: "atomic_or",
	AtomicExchange: "atomic_exchange", AtomicCompareAndSwap: "atomic_cas",
}

// String returns the operation as the text writes it.
func (op AtomicOp) String() string {
	if int(op) < len(atomics) {
		return atomics[op]
	}
	return "invalid"
}

// Takes reports whether op is defined on elements of type t.
func (op AtomicOp) Takes(t Type) bool { return int(op) < len(atomics) && t.IsInt() && t.Size() >= 4 }

// Apply is the new value of an element under op, for operands of a type that op
// takes.
func (op AtomicOp) Apply(old, value, expected Const) Const {
	binary := InvalidBinary
	switch op {
	case AtomicAdd:
		binary = Add
	case AtomicMin:
		binary = Min
	case AtomicMax:
		binary = Max
	case AtomicAnd:
		binary = And
	case AtomicOr:
		binary = Or
	case AtomicExchange:
		return value
	case AtomicCompareAndSwap:
		if old == expected {
			return value
		}
		return old
	}
	result, _ := EvalBinary(binary, old, value)
	return result
}

// Atomic replaces element Index of a buffer or shared array by what Op makes of
// it, in one step that no other thread's Atomic on the element comes between. It
// introduces Var with the old value, unless that is NoVar. It orders nothing else
// (relaxed, in the scope of the device).
type Atomic struct {
	Var      VarID
	Op       AtomicOp
	Buf      BufID
	Index    Expr // I64
	Expected Expr // of the element's type; AtomicCompareAndSwap only, else nil
	Value    Expr // of the element's type
	Origin   Origin
}

func (*Barrier) stmt() {}
func (*Shuffle) stmt() {}
func (*Ballot) stmt()  {}
func (*Atomic) stmt()  {}

// Declared is the variable that s itself introduces, if there is one.
func Declared(s Stmt) (VarID, bool) {
	switch s := s.(type) {
	case *Let:
		return s.Var, true
	case *For:
		return s.Var, true
	case *Shuffle:
		return s.Var, true
	case *Ballot:
		return s.Var, true
	case *Atomic:
		return s.Var, s.Var != NoVar
	}
	return NoVar, false
}
