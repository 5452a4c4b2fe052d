package loop

// VarID names a scalar variable: an index into Func.Vars.
type VarID int

// Var is a scalar variable of a function. Names are for readers; identity is
// the VarID, and two variables may share a name (the printer disambiguates).
type Var struct {
	Name string
	Type Type
}

// BufID names a buffer parameter: an index into Func.Bufs.
type BufID int

// Buf is a buffer parameter: a typed array in memory. Buffers never overlap.
type Buf struct {
	Name     string
	Elem     Type
	ReadOnly bool // the function never stores to it
	// Once says of a read-only buffer of a grid function that each element is read
	// about once, so that caches had better keep others.
	Once bool
	// Panel says that the function's text has no use for the buffer: it is memory for Tile.
	Panel bool
}

// Func is one loop function: straight structured code over scalars and typed
// buffers. A stage of a Program calls it once, or once for each chunk of its
// partition.
//
// Calling convention: the function gets its buffers, its scalar parameters
// (all I64) and the chunk triple (chunk, lo, hi), and returns a status: 0 for
// success, 1+k when Fail{k} was reached, StatusStopped when its caller asked it
// to stop before the end. A grid function has no chunk triple: see Grid.
type Func struct {
	Name  string
	Bufs  []Buf
	Vars  []Var   // every scalar variable; ids are indices
	Args  []VarID // scalar parameters in call order, all I64
	Chunk VarID   // number of this chunk, I64
	Lo    VarID   // first element of this chunk's part of the domain, I64
	Hi    VarID   // one past its last element, I64
	Body  []Stmt
	Fails []string // messages of the Fail statements, by number
	Grid  *Grid    // nil: an ordinary function
	// Quick, unless nil, stands in for a grid function as long as that is not compiled: it has
	// the same parameters and threads and stores the same bits, but is much smaller
	// and may be slower. It fails where the function does, and has no stand-in itself. It is
	// no part of the text: that of the function says what is stored.
	Quick *Func
}

// StatusStopped is the status of a function that gave up because its caller
// asked it to: engines look for that in loops that may be long.
const StatusStopped = -1

// Scalar is a pure function from scalars to one scalar, callable by Call. The
// mathematical functions (exp, log, pow, …) are written as such functions so
// that every engine computes the same bits.
type Scalar struct {
	Name   string
	Vars   []Var
	Args   []VarID
	Result Type
	Body   []Stmt // may use Return; no Load, Store or Fail
}

// Stmt is a statement.
type Stmt interface{ stmt() }

// Let introduces a variable and gives it its first value. Only variables with
// Mutable set may be assigned again. A variable is visible in the statements
// that follow it in the same block and in blocks nested in those.
type Let struct {
	Var     VarID
	Mutable bool
	Value   Expr
	Origin  Origin
}

// Assign gives a mutable variable a new value.
type Assign struct {
	Var    VarID
	Value  Expr
	Origin Origin
}

// Store writes Value at element Index of a buffer (Index is I64).
type Store struct {
	Buf    BufID
	Index  Expr
	Value  Expr
	Origin Origin
}

// For runs Body with Var = Lo, Lo+1, …, Hi-1 (I64). Lo and Hi are evaluated
// once. Var is not assignable.
type For struct {
	Var    VarID
	Lo, Hi Expr
	Body   []Stmt
	// Independent says that iterations touch different elements, or only
	// read: an engine may vectorise or reorder them.
	Independent bool
	// Unroll is how many iterations a compiler writes out at a time, where somebody has asked for that; else it chooses.
	Unroll int64
	// Lanes is how many iterations of an independent loop a vector has, where somebody has asked for that; else a compiler chooses.
	Lanes  int64
	Origin Origin
}

// While runs Body as long as Cond holds.
type While struct {
	Cond   Expr
	Body   []Stmt
	Origin Origin
}

// If runs Then when Cond holds, Else otherwise.
type If struct {
	Cond       Expr
	Then, Else []Stmt
	// Seldom says that Cond is expected to hold in few cases, so that what follows Then had better be near.
	Seldom bool
	Origin Origin
}

// Fail stops the function: it returns status 1+Code. Fails[Code] is the message.
type Fail struct{ Code int }

// Return ends a Scalar function with its value.
type Return struct{ Value Expr }

// Comment is a line for the reader of printed code.
type Comment struct{ Text string }

func (*Let) stmt()     {}
func (*Assign) stmt()  {}
func (*Store) stmt()   {}
func (*For) stmt()     {}
func (*While) stmt()   {}
func (*If) stmt()      {}
func (*Fail) stmt()    {}
func (*Return) stmt()  {}
func (*Comment) stmt() {}

// Expr is a typed expression without side effects.
type Expr interface{ Type() Type }

// Const is a literal. Bool: Bits 0 or 1. Integers: two's complement,
// sign- or zero-extended to 64 bits. F32, F64: IEEE bits of the type (F32 in
// the low 32). Complex: Bits is the real part, Imag the imaginary part.
type Const struct {
	Typ  Type
	Bits uint64
	Imag uint64
}

// Ref reads a variable.
type Ref struct {
	Var VarID
	Typ Type
}

// Load reads element Index (I64) of a buffer. Its type is Elem.Compute().
type Load struct {
	Buf   BufID
	Elem  Type
	Index Expr
}

// Unary applies Op to X.
type Unary struct {
	Op  UnaryOp
	Typ Type
	X   Expr
}

// Binary applies Op to X and Y, which have the same type.
type Binary struct {
	Op   BinaryOp
	Typ  Type
	X, Y Expr
}

// Select is X if Cond holds and Y otherwise; both are evaluated.
type Select struct {
	Cond, X, Y Expr
}

// FMA is X*Y + Z, rounded once. All are of one type, F32 or F64.
type FMA struct {
	X, Y, Z Expr
}

// Cast converts X to Typ. Integer to integer wraps; integer to float rounds to
// nearest even; float to integer truncates toward zero, saturates, and makes
// NaN 0; anything to Bool is x != 0 (NaN is true); Bool to a number is 0 or 1;
// real to complex has imaginary part 0; complex to real drops it. Casting to
// F16 or BF16 is not a Cast: see RoundF16 and RoundBF16.
type Cast struct {
	Typ Type
	X   Expr
}

// Call applies the scalar function Fn to Args.
type Call struct {
	Fn   string
	Typ  Type
	Args []Expr
}

func (e *Const) Type() Type  { return e.Typ }
func (e *Ref) Type() Type    { return e.Typ }
func (e *Load) Type() Type   { return e.Elem.Compute() }
func (e *Unary) Type() Type  { return e.Typ }
func (e *Binary) Type() Type { return e.Typ }
func (e *Select) Type() Type { return e.X.Type() }
func (e *FMA) Type() Type    { return e.X.Type() }
func (e *Cast) Type() Type   { return e.Typ }
func (e *Call) Type() Type   { return e.Typ }
