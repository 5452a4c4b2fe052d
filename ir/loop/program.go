package loop

// ScalarID names a program scalar: an index into Program.Scalars.
type ScalarID int

// BufferID names a program buffer: an index into Program.Buffers.
type BufferID int

// Role says who provides a program buffer's memory.
type Role uint8

// The roles of program buffers.
const (
	Input  Role = iota // bound by the caller before the run
	Output             // allocated by a stage, handed to the caller after the run
	Temp               // allocated by a stage, freed after the run
	InOut              // bound by the caller, written by the run
	// Scratch is a Temp of which every thread that runs chunks has a copy of
	// its own. A chunk finds in it what an earlier chunk on the same thread
	// left; so a program must not let results depend on more than what every
	// chunk leaves alike, such as zeros in memory allocated as zeros. It is
	// allocated for the chunks of a partition, in PartitionAllocs, or else for
	// one thread.
	Scratch
)

// Buffer is an array of the program.
type Buffer struct {
	Name string
	Elem Type
	Role Role
}

// ProgramScalar is an I64 value of the program: an extent or a count that the
// caller binds (Bound), or one that a stage's Lets or a partition defines.
type ProgramScalar struct {
	Name  string
	Bound bool
}

// Program is a compiled expression: buffers whose sizes are expressions over
// scalars, and a list of stages run in order. All memory is allocated between
// stages by the engine; kernels never allocate.
type Program struct {
	Name       string
	Scalars    []ProgramScalar
	Buffers    []Buffer
	Partitions []Partition
	Stages     []Stage
}

// Partition cuts the domain 0 … N-1 into chunks. The cut depends on the data
// only, never on the number of threads, so that results do not either.
type Partition struct {
	Name string
	N    SizeExpr
	// Weights is a buffer of N+1 monotone integers (a pointers array): chunks
	// get about Grain of weight plus elements each. -1: every element weighs 1.
	Weights BufferID
	Grain   int64
	Chunks  ScalarID // receives the number of chunks (0 when N is 0)
}

// Stage is one step of a program.
type Stage struct {
	Name string
	// Lets are evaluated first, in order, then Trims, Allocs, the partition (if
	// this stage is the first to use it), then AfterPartition lets and allocs.
	Lets            []ScalarLet
	Trims           []Trim
	Allocs          []Alloc
	Partition       int // index into Partitions; -1: one call with chunk 0, lo 0, hi 0
	PartitionLets   []ScalarLet
	PartitionAllocs []Alloc
	// Func is the code; nil for a stage that only computes scalars and allocates.
	Func *Func
	Bufs []BufferID // program buffer of each Func.Bufs
	Args []ScalarID // program scalar of each Func.Args
	// Ordered forbids running chunks of this stage at the same time, but as Join or Copies
	// say, of which one at most is not nil.
	Ordered bool
	Join    *Join
	Copies  *Copies
	// Symbolic says that what the stage computes follows from the bound scalars
	// and the inputs that symbolic stages read, whatever the other inputs hold.
	// An engine may keep it for runs where those are the same; later stages
	// only read the Temps that it allocates.
	Symbolic bool
	// Blocks is how many blocks run a grid function; nil for other functions. A
	// stage with a grid function has no partition. Blocks of 0 and less run nothing.
	Blocks SizeExpr
	// Prefixes, if there are any, say all that Func does, for engines that know a
	// faster way to sum.
	Prefixes []Prefix
}

// Prefix replaces the N elements of an integer buffer that start at First and lie
// Stride apart by running sums, as I64 or, of U64 and U32 elements, modulo 2^64 and 2^32.
type Prefix struct {
	Buffer        BufferID
	First, Stride int64
	N             SizeExpr // at least 0
	// Inclusive sums have the element itself in them, the others end before it.
	Inclusive bool
	// Total receives the sum of all elements in its element At; -1: none.
	Total BufferID
	At    int64
	// Limit, if it is positive, is the greatest sum that is right; a greater one
	// makes the stage fail with Fails[0] of its function.
	Limit int64
}

// Join describes an ordered stage whose chunks append to lists, each after what the
// chunk before it has left. An engine may run them at the same time: a chunk then
// appends to memory of its own, as if nothing were before it, and what came of it is
// moved once it is known how much the chunks before have appended.
type Join struct {
	// Ends is an I64 temporary that the function both reads and writes: element i is how
	// many entries list i has before the chunk, and then after it.
	Ends BufferID
	// Chunk, Lo and Hi are scalars that are those of a chunk where Room is evaluated,
	// and mean nothing elsewhere. Room is how many entries the chunk appends to any of
	// the lists at most.
	Chunk, Lo, Hi ScalarID
	Room          SizeExpr
	// Exact says that the chunk appends as many as Room to each list, no fewer.
	Exact bool
	// Moves are the outputs that hold the entries of lists. The function accesses
	// those that it appends, and no other elements.
	Moves []Move
	// Shift is an output of U64, -1 for none, of which a chunk sets the elements lo+1 to
	// hi to lengths of list 0; those from Rows[lo]+1 to Rows[hi] if Rows, of I64, is not -1.
	Shift BufferID
	Rows  BufferID
}

// Move is a buffer with an element for each entry of a list: First+i for entry i.
type Move struct {
	Buffer BufferID
	List   int64
	First  int64 // 0 or 1
}

// Copies describes an ordered stage whose chunks update elements of buffers by folds that
// have one result in any order, and do not look at them otherwise. An engine may run chunks
// at the same time: a thread then updates the buffers themselves or copies of its own, and a
// later stage folds all copies into the buffers.
type Copies struct {
	// Count receives how many copies there are of each buffer: 0 if chunks ran one after
	// another.
	Count ScalarID
	// Chunks is how many chunks a thread must have for a copy to be worth making and folding.
	Chunks SizeExpr
	List   []Copy
}

// Copy is a buffer with its copies.
type Copy struct {
	Buffer BufferID // an output or temporary that the function updates
	// All is a temporary of the same type, which the stage allocates: Count copies, one
	// behind the other, which begin at multiples of CopyAlign elements.
	All BufferID
	// Start is what the elements of a copy are in the beginning: what the fold makes of no
	// values, of the type of the elements.
	Start *Const
}

// CopyAlign is a number of elements, a power of two, that share no cache line with others
// if they begin at a multiple of it.
const CopyAlign = 128

// ScalarLet defines a program scalar.
type ScalarLet struct {
	Scalar ScalarID
	Value  SizeExpr
}

// Alloc makes a buffer of Len elements. The memory is zeroed when Zero is set.
type Alloc struct {
	Buffer BufferID
	Len    SizeExpr
	Zero   bool
}

// Trim makes an output shorter: the elements from Len on were not needed.
type Trim struct {
	Buffer BufferID
	Len    SizeExpr
}

// SizeExpr is an I64 expression over program scalars and buffer elements,
// evaluated by the engine between stages with overflow checks.
type SizeExpr interface{ size() }

// SizeConst is a literal.
type SizeConst int64

// SizeScalar reads a program scalar.
type SizeScalar ScalarID

// SizeLoad reads element Index of an integer buffer.
type SizeLoad struct {
	Buffer BufferID
	Index  SizeExpr
}

// SizeHint is element Index of an integer buffer, or Else where the buffer has no such element. It decides how something is
// computed, never what: what runs a program without an engine, such as a launcher of its kernels, may take Else.
type SizeHint struct {
	Buffer      BufferID
	Index, Else SizeExpr
}

// SizeLen is the number of elements of a buffer that is there.
type SizeLen struct{ Buffer BufferID }

// SizeOp is + - * min max over two operands, or / (truncating) — one of
// Add, Sub, Mul, Min, Max, Div.
type SizeOp struct {
	Op   BinaryOp
	X, Y SizeExpr
}

func (SizeConst) size()  {}
func (SizeScalar) size() {}
func (*SizeLoad) size()  {}
func (*SizeHint) size()  {}
func (SizeLen) size()    {}
func (*SizeOp) size()    {}
