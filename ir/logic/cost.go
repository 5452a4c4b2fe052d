package logic

// This table holds every constant of the costs. The unit is about a nanosecond: one iteration of a loop over entries that
// multiplies and adds. They are the same on every machine, so that every machine adds in the same order.
const (
	stepCost   = 1.0 // an iteration
	vectorCost = 0.3 // one of an innermost loop over consecutive elements
	mergeCost  = 3.0 // an iteration where the entries of several operands are merged
	hashCost   = 5.0 // an iteration that inserts into a sparse result

	cellCost  = 0.6 // an element of a dense intermediate: cleared, written, read
	entryCost = 4.0 // an entry of a sparse intermediate: sorted, written, read

	operandCost      = 0.5  // an entry of an operand that is stored in another order first, which is remembered
	intermediateCost = 6.0  // the same of an intermediate, which is made anew in each run
	statementCost    = 4000 // a statement by itself

	// worthwhile is which part of the cost as written another order may take at most.
	worthwhile = 0.8
	// fullness is from which share of its elements on an intermediate is dense.
	fullness = 1.0 / 16
	// mostCells bounds dense intermediates.
	mostCells = 1 << 28
)

// Guesses of operands without statistics.
const (
	guessedExtent = 1024
	guessedLength = 8 // entries of each coordinate of a sparse axis
)

// Limits of the search; what is beyond them runs as written.
const (
	mostFactors = 64
	mostVars    = 128
	mostTerms   = 16
	exhaustive  = 10 // factors that are searched exhaustively
)
