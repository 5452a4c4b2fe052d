package cost

// Of operands without statistics these are guessed.
const (
	GuessedExtent = 1000
	GuessedLength = 8 // entries of each coordinate of a sparse axis
)

// Weights of the planner (package ir), which chooses loops, in iterations: extents are not known when a program is compiled without data. What counts is which
// loops are cut short by sparse operands, and which operands have to be stored again.
const (
	Conversion      = 300_000 // storing an operand again
	ConversionDoubt = 1.15    // by how much a plan that does so has to be better than those that do not
	StrideFactor    = 1.3     // innermost loop strides through a dense operand
	ScatterFactor   = 1.2     // an accumulator in a register beats one in memory
	CountFactor     = 1.5     // a count beside the accumulator, and another pass over the result
	WorkspaceFactor = 2       // an entry goes into a workspace, is found again in order, and is written: for each dimension
	MaskedFactor    = 1.2     // most of what is computed is not kept
	SerialFactor    = 1e4     // one thread of a grid does it all
	RowThreadFactor = 4       // one thread of a grid does a row, however long it is, where a team would share a row that is gathered in a workspace
	Jammed          = 4       // iterations of a loop that are made one (ir/loop.Jam)
	// Blocks of a dense product, and the columns of a tile (ir/loop.Tile).
	TiledRows, TiledSteps, TiledColumns = 128, 256, 8
	TiledLeast                          = 4   // rows
	TiledNarrow                         = 4   // columns of the narrowest tile, whether they are there or not
	TiledFactor                         = 0.2 // a step of a tile beside one of another loop
)

// Limits of the planner's search.
const (
	MostOrders  = 400 // loop orders tried
	LeastTrials = 24  // candidates that are compared at least, of one kind
	// Looking at a candidate costs about its size for each of its loops. This many elements of expressions are looked at for each kind of candidate, of which
	// there may be as many as reductions: more than what people write needs, and what keeps derived programs from taking minutes.
	Effort = 400_000
)

// Weights of the optimiser (package ir/logic), which chooses intermediates, in built-in nanoseconds.
const (
	Cell  = 0.6 // an element of a dense intermediate: cleared, written, read
	Entry = 4.0 // an entry of a sparse intermediate: sorted, written, read
	// Scatter is how much more a step takes that adds to an element in memory, of those that lie here and there, in steps.
	Scatter = 0.5
	// Remembered is an entry of an operand that is stored in another order first: it takes a Move, in the first run only.
	Remembered = 0.5
	Statement  = 4000 // a statement by itself
	// Looking for an entry of a sparse vector, where no loop goes through the vector, and where it has so few (Guessable) that processors guess right.
	Probe, GuessedProbe = 1.5, 0.5
	GridProbe           = 10 // on a grid, where loops that find their way are for threads apart: an H200 takes ten times as long as for a dense vector

	// A call of a function such as sigmoid, for one element and among four.
	Call, VectorCall = 35.0, 10.0

	Lookup = 0.5 // one more element that an iteration looks up by the same coordinate, in steps

	// Worthwhile is which part of the cost as written another order may take at most.
	Worthwhile = 0.8
	// Fullness is from which share of its elements on an intermediate is dense.
	Fullness = 1.0 / 16
	// MostCells bounds dense intermediates.
	MostCells = 1 << 28
	// Repeats is from how many evaluations of each element on what loops do not change is made before them.
	Repeats = 8
)

// Limits of the optimiser's search; what is beyond them runs as written.
const (
	MostFactors = 64
	MostVars    = 128
	MostTerms   = 16
	Exhaustive  = 10 // factors that are searched exhaustively
)
