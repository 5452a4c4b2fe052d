package lang

// Limits of the source text.
const (
	// MaxSource is the largest program in bytes: some ten thousand statements, which
	// the reflective parser still reads in about a second.
	MaxSource = 1 << 18
	// MaxNesting bounds nested brackets, reductions and prefix operators. It keeps the
	// stack of the recursive parser, and of every later stage, small.
	MaxNesting = 200
	// MaxHeight bounds the height of an expression tree. A sum of n operands written
	// without parentheses has height n.
	MaxHeight = 1000
	// MaxIndices bounds the index variables of one statement.
	MaxIndices = 4096
)
