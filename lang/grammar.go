package lang

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The concrete grammar, as participle reads it from the struct tags: one type per
// production of grammar.ebnf, one precedence level per type. The next token alone
// decides every choice, so a branch that took one token is never left again. tree.go makes the syntax tree from it.
type (
	program struct {
		Stmts []*statement `parser:"@@ ( Sep @@ )*"`
	}

	statement struct {
		Pos lexer.Position
		LHS *access      `parser:"@@"`
		Op  string       `parser:"@Assign"`
		RHS *disjunction `parser:"@@"`
		How []*command   `parser:"( 'with' @@ ( ',' @@ )* )?"`
	}

	access struct {
		Pos     lexer.Position
		Name    string   `parser:"@Name"`
		Parens  bool     `parser:"( @'('"`
		Indices []*index `parser:"( @@ ( ',' @@ )* )? ')' )?"`
	}

	index struct {
		Pos   lexer.Position
		Sum   *sum       `parser:"( @@"`
		Tail  *sliceTail `parser:"@@?"`
		Slice *sliceTail `parser:"| @@ )"`
	}

	sliceTail struct {
		Pos  lexer.Position
		Hi   *sum       `parser:"':' @@?"`
		Step *sliceStep `parser:"@@?"`
	}

	sliceStep struct {
		Pos lexer.Position
		Sum *sum `parser:"':' @@?"`
	}

	disjunction struct {
		X    *conjunction `parser:"@@"`
		Rest []*orOperand `parser:"@@*"`
	}

	orOperand struct {
		Pos lexer.Position
		X   *conjunction `parser:"'or' @@"`
	}

	conjunction struct {
		X    *negation     `parser:"@@"`
		Rest []*andOperand `parser:"@@*"`
	}

	andOperand struct {
		Pos lexer.Position
		X   *negation `parser:"'and' @@"`
	}

	negation struct {
		Pos lexer.Position
		Not *negation   `parser:"( 'not' @@"`
		X   *comparison `parser:"| @@ )"`
	}

	comparison struct {
		X    *sum              `parser:"@@"`
		Rest []*compareOperand `parser:"@@*"`
	}

	compareOperand struct {
		Pos lexer.Position
		Op  string `parser:"@( '==' | '!=' | '<=' | '>=' | '<' | '>' )"`
		X   *sum   `parser:"@@"`
	}

	sum struct {
		X    *term         `parser:"@@"`
		Rest []*sumOperand `parser:"@@*"`
	}

	sumOperand struct {
		Pos lexer.Position
		Op  string `parser:"@( '+' | '-' )"`
		X   *term  `parser:"@@"`
	}

	term struct {
		X    *factor        `parser:"@@"`
		Rest []*termOperand `parser:"@@*"`
	}

	termOperand struct {
		Pos lexer.Position
		Op  string  `parser:"@( '*' | '/' )"`
		X   *factor `parser:"@@"`
	}

	factor struct {
		Pos  lexer.Position
		Sign string  `parser:"( @( '+' | '-' )"`
		X    *factor `parser:"@@"`
		Fold *fold   `parser:"| @@"`
		Pow  *power  `parser:"| @@ )"`
	}

	fold struct {
		Pos     lexer.Position
		Word    string      `parser:"( @Fold"`
		Open    string      `parser:"| @FoldOpen"`
		Vars    []*boundVar `parser:"@@ ( ',' @@ )* '}' )"`
		Options []*option   `parser:"( '[' @@ ( ',' @@ )* ']' )?"`
		Body    *term       `parser:"@@"`
	}

	boundVar struct {
		Pos  lexer.Position
		Name string  `parser:"@Name"`
		In   *stored `parser:"@@?"`
	}

	stored struct {
		Tensor *word `parser:"'in' @@"`
	}

	word struct {
		Pos  lexer.Position
		Name string `parser:"@Name"`
	}

	option struct {
		Pos    lexer.Position
		Name   string `parser:"@Name"`
		Number string `parser:"( '=' @Int )?"`
	}

	power struct {
		X   *primary       `parser:"@@"`
		Exp *powerExponent `parser:"@@?"`
	}

	powerExponent struct {
		Pos lexer.Position
		X   *exponent `parser:"'^' @@"`
	}

	exponent struct {
		Pos  lexer.Position
		Sign string    `parser:"( @( '+' | '-' )"`
		X    *exponent `parser:"@@"`
		Pow  *power    `parser:"| @@ )"`
	}

	primary struct {
		Pos      lexer.Position
		Number   string       `parser:"( @( Int | Float | Imag )"`
		Word     string       `parser:"| @Word"`
		Call     *call        `parser:"| @@"`
		Quantile *quantile    `parser:"| @@"`
		Access   *access      `parser:"| @@"`
		Paren    *disjunction `parser:"| '(' @@ ')' )"`
	}

	call struct {
		Pos  lexer.Position
		Name string         `parser:"@Func '('"`
		Args []*disjunction `parser:"( @@ ( ',' @@ )* )? ')'"`
	}

	quantile struct {
		Pos     lexer.Position
		Word    string       `parser:"( @Quantile"`
		Open    string       `parser:"| @QuantileOpen"`
		Vars    []*boundVar  `parser:"@@ ( ',' @@ )* '}' )"`
		Options []*option    `parser:"( '[' @@ ( ',' @@ )* ']' )?"`
		Body    *disjunction `parser:"'(' @@ ','"`
		Q       *disjunction `parser:"@@ ')'"`
	}
)

// newParser builds the parser from the grammar. Building costs about a millisecond
// of reflection, so parser keeps one.
func newParser() *participle.Parser[program] {
	return participle.MustBuild[program](participle.Lexer(definition{}), participle.UseLookahead(0))
}
