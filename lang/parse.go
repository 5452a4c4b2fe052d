package lang

import (
	"errors"
	"fmt"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// parser builds the parser on first use: reflection over the grammar costs about a
// millisecond, which programs that never parse should not pay. It is safe for
// concurrent use.
var parser = sync.OnceValue(newParser)

// Parse reads a program: statements separated by semicolons or line ends. It checks
// syntax only; names and types are Check's. The error is an *Error with one of the
// codes E101 to E113.
func Parse(src string) (*File, error) {
	file, err := parse(src)
	if err != nil {
		return nil, err.WithSource(src)
	}
	return file, nil
}

func parse(src string) (*File, *Error) {
	tokens, lexErr := scan(src)
	if lexErr != nil {
		return nil, lexErr
	}
	if len(tokens) == 1 {
		return nil, &Error{Code: ErrEmpty, Pos: Pos{Line: 1, Column: 1}, Msg: "the program has no statement",
			Hint: "write one, for example y(i) = A(i,j)*x(j)"}
	}
	peeking, err := lexer.Upgrade(&tokenList{tokens: tokens})
	if err != nil {
		panic(fmt.Sprintf("BUG: the token list failed: %v", err))
	}
	prog, err := parser().ParseFromLexer(peeking)
	if err != nil {
		return nil, syntaxError(tokens, err)
	}
	c := &converter{}
	file := &File{Source: src}
	for _, s := range prog.Stmts {
		file.Stmts = append(file.Stmts, c.statement(s))
		if c.err != nil {
			return nil, c.err
		}
	}
	return file, nil
}

// syntaxError turns participle's error into one that says what was expected. The
// grammar needs one token of lookahead, so the token before the unexpected one
// decides what could have followed.
func syntaxError(tokens []lexer.Token, err error) *Error {
	at := unexpectedToken(tokens, err)
	t := tokens[at]
	e := &Error{Code: ErrSyntax, Pos: posOf(t.Pos)}
	ctx := contextAt(tokens[:at])
	if ctx.start {
		return statementError(e, t)
	}
	e.Msg = fmt.Sprintf("unexpected %s; expected %s", describe(t), ctx.expected())
	e.Hint = ctx.hint(t)
	return e
}

// unexpectedToken is the number of the token at which participle's error is.
func unexpectedToken(tokens []lexer.Token, err error) int {
	var perr participle.Error
	if !errors.As(err, &perr) {
		panic(fmt.Sprintf("BUG: parser error without a position: %v", err))
	}
	at, _ := slices.BinarySearchFunc(tokens, perr.Position().Offset, func(t lexer.Token, off int) int { return t.Pos.Offset - off })
	return min(at, len(tokens)-1)
}

// context is what is known of the place of a syntax error.
type context struct {
	start    bool // nothing of the statement was read
	assigned bool // the assignment operator was read
	open     string
	prev     lexer.Token
}

func contextAt(before []lexer.Token) context {
	c := context{start: true}
	var open []string
	for _, t := range before {
		c.start = t.Type == tokSep
		c.assigned = (c.assigned || t.Type == tokAssign) && t.Type != tokSep
		switch {
		case t.Type == tokSep:
			open = nil
		case t.Type == tokFoldOpen || t.Type == tokQuantileOpen || t.Type == tokOp && strings.Contains("([{", t.Value):
			open = append(open, t.Value)
		case t.Type == tokOp && strings.Contains(")]}", t.Value) && len(open) > 0:
			open = open[:len(open)-1]
		}
		c.prev = t
	}
	if len(open) > 0 {
		c.open = opening(open[len(open)-1])
	}
	return c
}

// expected says in words what may follow.
func (c context) expected() string {
	done := endsOperand(c.prev)
	switch {
	case c.open == "{" && c.prev.Type == tokName:
		return `"," or "}" or the word in`
	case c.open == "{" && c.prev.Value == "in":
		return "the name of a tensor"
	case c.open == "{":
		return "the name of an index"
	case c.open == "[" && c.prev.Value == "=":
		return "a number of elements, from 1 to 2147483647"
	case c.open == "[" && done:
		return `"," or "]"`
	case c.open == "[":
		return "an option, a word such as reverse or linear"
	case c.prev.Type == tokQuantile || c.prev.Type == tokFoldOpen || c.prev.Type == tokQuantileOpen:
		return `arguments: quantile_j(A(i,j), 0.5)`
	case !c.assigned && c.open == "" && done:
		return "an assignment operator: =, +=, *=, min=, max=, |= or &="
	case done && c.open == "(":
		return `an operator, "," or ")"`
	case done:
		return "an operator or the end of the statement"
	case c.prev.Type == tokFold || c.prev.Value == "}" || c.prev.Value == "]":
		return "the expression to reduce"
	}
	return "an operand: a number, a tensor such as A(i,j), a call or a parenthesis"
}

// hint returns advice for frequent slips, or "".
func (c context) hint(t lexer.Token) string {
	fold := t.Type == tokFold || t.Type == tokFoldOpen
	switch {
	case !c.assigned && c.open == "" && operatorHint(t.Value) != "":
		return operatorHint(t.Value)
	case c.prev.Type == tokName && foldKindOf(c.prev.Value) != notFold && (t.Type == tokName || t.Type == tokFunc):
		return fmt.Sprintf("a reduction names its index behind an underscore: %s_i %s(i)", c.prev.Value, t.Value)
	case c.prev.Type == tokFold && t.Value == "in":
		return fmt.Sprintf("put the index and the tensor in braces: %s", strings.Replace(c.prev.Value, "_", "_{", 1)+" in A}")
	case c.prev.Type == tokName && strings.HasSuffix(c.prev.Value, "_") && t.Value == "{":
		return foldSlip(c.prev.Value + "{i,j}")
	case endsOperand(c.prev) && foldSlip(c.prev.Value) != "":
		return foldSlip(c.prev.Value)
	case c.prev.Type == tokName && t.Value == "[":
		return fmt.Sprintf("indices stand in parentheses: %s(i)", c.prev.Value)
	case endsOperand(c.prev) && t.Value == "if":
		return "write where(condition, a, b)"
	case c.prev.Value == "^" && fold:
		return "put the reduction in parentheses"
	case t.Value == "=" && c.assigned:
		return "write == to compare"
	case t.Value == "*" && c.prev.Value == "*":
		return "write ^ for powers"
	case t.Value == "/" && c.prev.Value == "/":
		return "write floordiv(a, b)"
	case endsOperand(c.prev) && (t.Type == tokName || t.Type == tokFunc || fold || t.Type == tokInt || t.Type == tokFloat || t.Value == "("):
		return "write * for a product"
	case t.Type == tokFunc || fold:
		if reserved := reservedAs(t.Value); reserved != "" {
			return fmt.Sprintf("%s is %s", t.Value, reserved)
		}
	}
	return ""
}

// foldSlip explains a word that reads like a reduction that is not there, such as topk_j, or returns "".
func foldSlip(word string) string {
	op, index, found := strings.Cut(word, "_")
	if !found || index == "" {
		return ""
	}
	switch op {
	case "topk":
		return fmt.Sprintf("the five largest elements are sort_%[1]s[descending, first=5], their places argsort_%[1]s[descending, first=5]", index)
	case "softmax":
		return fmt.Sprintf("write exp(A(i,j) - logsumexp_%s A(i,j)), or call ops.Softmax", index)
	case "avg", "average":
		return "did you mean mean_" + index + "?"
	case "std", "stddev", "stdev":
		return fmt.Sprintf("a standard deviation is the root of the variance: sqrt(var_%s …)", index)
	}
	names := slices.Concat(reductionNames[:], scanNames[:])
	if best := suggest.Nearest(op, names); best != "" {
		return fmt.Sprintf("did you mean %s_%s?", best, index)
	}
	return ""
}

// statementError explains a statement that starts with something else than the
// name of a tensor.
func statementError(e *Error, t lexer.Token) *Error {
	if reserved := reservedAs(t.Value); reserved != "" {
		e.Code = ErrReservedName
		e.Msg = fmt.Sprintf("%s is %s; a statement starts with the tensor that it assigns", t.Value, reserved)
		e.Hint = "choose another name, as in y(i) = A(i,j)*x(j)"
		return e
	}
	e.Msg = fmt.Sprintf("unexpected %s; expected a statement", describe(t))
	e.Hint = "a statement starts with the tensor that it assigns: y(i) = A(i,j)*x(j)"
	return e
}

// describe names a token for a message.
func describe(t lexer.Token) string {
	switch t.Type {
	case lexer.EOF:
		return "end of the program"
	case tokSep:
		return "end of the statement"
	}
	return fmt.Sprintf("%q", t.Value)
}
