package lang

// File is a parsed program: the syntax tree with positions, before names are
// resolved. String prints it so that it parses back to the same tree.
type File struct {
	Source string
	Stmts  []*Assign
}

// Assign is one statement.
type Assign struct {
	Pos Pos
	LHS *Ref
	Op  AssignOp
	RHS Node
	// Schedule says how the statement runs.
	Schedule []*Command
}

// Node is a parsed expression.
type Node interface {
	// Place is the position of the node's operator or first token.
	Place() Pos
	node()
}

// Number is a literal as written: "2", "1.5e3", "2i".
type Number struct {
	Pos  Pos
	Text string
}

// Const is one of the words true, false, inf and nan.
type Const struct {
	Pos  Pos
	Name string
}

// Ref names a tensor element, A(i,j), or, without parentheses, a rank-0 tensor or
// an index variable.
type Ref struct {
	Pos     Pos
	Name    string
	Parens  bool // written with parentheses
	Indices []*RefIndex
}

// RefIndex is the index of one dimension: a sum of terms or a slice. Exactly one
// of Terms and Slice is set.
type RefIndex struct {
	Pos   Pos
	Terms []*IndexTerm
	Slice *Slice
}

// IndexTerm is Coef*Name, or the integer Coef when Name is "" and Gather is nil.
// A gather stands alone: it is the only term and Coef is 1.
type IndexTerm struct {
	Pos    Pos
	Coef   int64
	Name   string
	Gather *Ref
}

// Slice is Lo:Hi:Step. An omitted Lo is 0, an omitted Step 1; with Open, Hi was
// omitted and the slice runs to the end of the dimension.
type Slice struct {
	Lo, Hi, Step int64
	Open         bool
}

// Unary is "-" or "not" applied to X.
type Unary struct {
	Pos Pos
	Op  string
	X   Node
}

// Binary is X Op Y; Op is one of or and == != < <= > >= + - * / ^. Pos is the
// operator's.
type Binary struct {
	Pos  Pos
	Op   string
	X, Y Node
}

// Paren is an expression in parentheses. They matter to the Einstein convention,
// so the tree keeps them.
type Paren struct {
	Pos Pos
	X   Node
}

// Apply is a call of a function, of a type as a cast, or of where.
type Apply struct {
	Pos  Pos
	Name string
	Args []Node
}

// Fold is a reduction, a scan or a quantile over Vars.
type Fold struct {
	Pos     Pos
	Name    string // "sum", "cumsum", "quantile", …
	Vars    []*FoldVar
	Options []Option
	Body    Node
	Q       Node // of quantile and nanquantile, else nil
}

// FoldVar is one index of a Fold; In is the tensor of "j in A", or "".
type FoldVar struct {
	Pos   Pos
	Name  string
	In    string
	InPos Pos
}

// Option is one word in the brackets of a Fold, in first=5 with a number.
type Option struct {
	Pos    Pos
	Name   string
	Number int64 // 0 for a word without one
}

// Place returns the position of the literal.
func (n *Number) Place() Pos { return n.Pos }

// Place returns the position of the word.
func (n *Const) Place() Pos { return n.Pos }

// Place returns the position of the name.
func (n *Ref) Place() Pos { return n.Pos }

// Place returns the position of the operator.
func (n *Unary) Place() Pos { return n.Pos }

// Place returns the position of the operator.
func (n *Binary) Place() Pos { return n.Pos }

// Place returns the position of the opening parenthesis.
func (n *Paren) Place() Pos { return n.Pos }

// Place returns the position of the function's name.
func (n *Apply) Place() Pos { return n.Pos }

// Place returns the position of the reduction word.
func (n *Fold) Place() Pos { return n.Pos }

func (*Number) node() {}
func (*Const) node()  {}
func (*Ref) node()    {}
func (*Unary) node()  {}
func (*Binary) node() {}
func (*Paren) node()  {}
func (*Apply) node()  {}
func (*Fold) node()   {}
