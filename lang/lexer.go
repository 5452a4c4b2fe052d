package lang

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// The kinds of token. Words are told apart by the lexer, which makes the grammar
// LL(1): a function is a name from the table followed by "(", and sum_j is one word.
const (
	tokName         lexer.TokenType = iota + 1 // A, x, Größe_2
	tokInt                                     // 12
	tokFloat                                   // 1.5, 1e-3
	tokImag                                    // 2i, 1.5i
	tokFunc                                    // exp, where, f64 before "("
	tokFold                                    // sum_j, cumsum_j
	tokFoldOpen                                // sum_{, cumsum_{
	tokQuantile                                // quantile_j
	tokQuantileOpen                            // quantile_{
	tokWord                                    // true, false, inf, nan
	tokOp                                      // operators, brackets, and or not in
	tokAssign                                  // = += *= min= max= |= &=
	tokSep                                     // ";" or a line end
)

// tokenNames are the names by which the grammar refers to kinds of token.
var tokenNames = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Name": tokName, "Int": tokInt, "Float": tokFloat, "Imag": tokImag,
	"Func": tokFunc, "Fold": tokFold, "FoldOpen": tokFoldOpen,
	"Quantile": tokQuantile, "QuantileOpen": tokQuantileOpen,
	"Word": tokWord, "Op": tokOp, "Assign": tokAssign, "Sep": tokSep,
}

// definition is the lexer as participle wants it.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return tokenNames }

func (d definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSource+1))
	if err != nil {
		return nil, err
	}
	return d.LexString(name, string(text))
}

func (definition) LexString(_ string, src string) (lexer.Lexer, error) {
	tokens, err := scan(src)
	if err != nil {
		return nil, err
	}
	return &tokenList{tokens: tokens}, nil
}

// tokenList hands out the tokens of a source that was scanned whole.
type tokenList struct {
	tokens []lexer.Token
	next   int
}

func (l *tokenList) Next() (lexer.Token, error) {
	t := l.tokens[l.next]
	if !t.EOF() {
		l.next++
	}
	return t, nil
}

// bracket is one open bracket with the prefix operators pending inside it.
type bracket struct {
	token lexer.Token
	folds int // reductions whose bodies may still nest
	tight int // signs, not and ^ that may still nest
}

// scanner turns source text into tokens, checking brackets and nesting on the way.
type scanner struct {
	src    string
	at     lexer.Position
	tokens []lexer.Token
	open   []bracket // open[0] stands for the whole statement
	depth  int       // brackets and prefix operators pending in all of open
}

// scan splits src into tokens that end with EOF. Line ends inside brackets, after an
// operator and around other separators are dropped.
func scan(src string) ([]lexer.Token, *Error) {
	if len(src) > MaxSource {
		return nil, &Error{Code: ErrTooLarge, Msg: fmt.Sprintf("the program has %d bytes; at most %d are allowed", len(src), MaxSource)}
	}
	if i := invalidUTF8(src); i >= 0 {
		at := lexer.Position{Line: 1, Column: 1}
		at.Advance(src[:i])
		return nil, &Error{Code: ErrCharacter, Pos: posOf(at), Msg: "the program is not valid UTF-8"}
	}
	s := &scanner{src: src, at: lexer.Position{Line: 1, Column: 1}, open: []bracket{{}}}
	for s.at.Offset < len(s.src) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	if len(s.open) > 1 {
		t := s.open[len(s.open)-1].token
		return nil, &Error{Code: ErrBrackets, Pos: posOf(t.Pos),
			Msg:  fmt.Sprintf("%q is never closed", opening(t.Value)),
			Hint: fmt.Sprintf("add %q", closingOf(t.Value))}
	}
	s.dropSeparator()
	s.tokens = append(s.tokens, lexer.EOFToken(s.at))
	return s.tokens, nil
}

// step reads one token, blank or comment.
func (s *scanner) step() *Error {
	rest := s.src[s.at.Offset:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\n' || r == ';':
		return s.separator(rest[:1])
	case r == ' ' || r == '\t' || r == '\r' || r == '\uFEFF' && s.at.Offset == 0:
		s.at.Advance(rest[:size])
		return nil
	case r == '#':
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		s.at.Advance(rest[:end])
		return nil
	case isDigit(r) || r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
		return s.number(rest)
	case isNameStart(r):
		return s.word(rest)
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op.text) {
			return s.operator(op)
		}
	}
	return s.badCharacter(r, rest[:size])
}

// operators lists the fixed tokens, longer ones before their prefixes.
var operators = []struct {
	text string
	kind lexer.TokenType
}{
	{"==", tokOp}, {"!=", tokOp}, {"<=", tokOp}, {">=", tokOp},
	{"+=", tokAssign}, {"*=", tokAssign}, {"|=", tokAssign}, {"&=", tokAssign},
	{"=", tokAssign}, {"<", tokOp}, {">", tokOp},
	{"+", tokOp}, {"-", tokOp}, {"*", tokOp}, {"/", tokOp}, {"^", tokOp},
	{"(", tokOp}, {")", tokOp}, {"[", tokOp}, {"]", tokOp}, {"{", tokOp}, {"}", tokOp},
	{",", tokOp}, {":", tokOp},
}

// foreign maps what other languages write to what this one does.
var foreign = map[rune]string{
	'!': "write not for negation and != for inequality",
	'&': "write and for logic, bitand(a, b) for bits and &= to update",
	'|': "write or for logic, bitor(a, b) for bits and |= to update",
	'%': "write mod(a, b)",
	'@': matrixProduct, '?': "write where(condition, a, b)",
	'·': "write *", '×': "write *", '÷': "write /", '−': "write -",
	'≤': "write <=", '≥': "write >=", '≠': "write !=", '∑': "write sum_j", 'Σ': "write sum_j",
	'"': "there are no strings", '\'': "there are no strings; write a new name",
	'~': "write not for logic and bitnot(a) for bits",
}

func (s *scanner) badCharacter(r rune, text string) *Error {
	return &Error{Code: ErrCharacter, Pos: posOf(s.at), Msg: fmt.Sprintf("unexpected character %q", text), Hint: foreign[r]}
}

// number reads an integer, a float or an imaginary number.
func (s *scanner) number(rest string) *Error {
	n := digits(rest)
	kind := tokInt
	if n < len(rest) && rest[n] == '.' {
		kind = tokFloat
		n++
		n += digits(rest[n:])
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		exp := n + 1
		if exp < len(rest) && (rest[exp] == '+' || rest[exp] == '-') {
			exp++
		}
		if d := digits(rest[exp:]); d > 0 {
			kind = tokFloat
			n = exp + d
		}
	}
	if strings.HasPrefix(rest[n:], "i") && !isNameRune(firstRune(rest[n+1:])) {
		kind = tokImag
		n++
	}
	if tail := wordLength([]rune(head(rest[n:], 64))); tail > 0 || strings.HasPrefix(rest[n:], ".") {
		text := head(rest[n:], 16)
		return &Error{Code: ErrNumber, Pos: posOf(s.at),
			Msg:  fmt.Sprintf("malformed number: %s is followed by %q", rest[:n], firstRune(text)),
			Hint: fmt.Sprintf("write a product with *: %s*…; numbers look like 12, 1.5, 1e-3, 2i", rest[:n])}
	}
	s.emit(kind, rest[:n])
	return nil
}

// word reads a name, a reserved word, a reduction word, or min= and max=.
func (s *scanner) word(rest string) *Error {
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !isNameRune(r) {
			break
		}
		n += size
	}
	word, after := rest[:n], rest[n:]
	switch {
	case (word == "min" || word == "max") && strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "=="):
		s.emit(tokAssign, rest[:n+1])
		return nil
	case word == "and" || word == "or" || word == "not" || word == "in":
		return s.nestAndEmit(tokOp, word)
	case word == "with" && len(s.open) == 1 && s.afterOperand(): // elsewhere it is a name
		return s.nestAndEmit(tokOp, word)
	case slices.Contains(keywords, word):
		s.emit(tokWord, word)
		return nil
	case strings.HasPrefix(strings.TrimLeft(after, " \t"), "(") && isCallable(word):
		s.emit(tokFunc, word)
		return nil
	}
	op, index, kind := splitFold(word)
	switch {
	case kind == notFold, s.inOptions() && slices.Contains(quantileMethods, word):
		s.emit(tokName, word)
		return nil
	case index == "" && !strings.HasPrefix(after, "{"):
		return &Error{Code: ErrSyntax, Pos: posOf(s.at),
			Msg:  fmt.Sprintf("%s names no index; expected an index or {…} right after the underscore", word),
			Hint: fmt.Sprintf("write %s_j or %s_{j,k}", op, op)}
	case index != "" && !isNameStart(firstRune(index)):
		return &Error{Code: ErrSyntax, Pos: posOf(s.at),
			Msg:  fmt.Sprintf("%s: %q is not the name of an index", word, index),
			Hint: fmt.Sprintf("words that start with %s_ are reductions; an index starts with a letter", op)}
	}
	t := tokFold
	if kind == quantileFold {
		t = tokQuantile
	}
	if index == "" {
		return s.openFold(t+1, rest[:n+1]) // tokFoldOpen, tokQuantileOpen
	}
	return s.nestAndEmit(t, word)
}

// inOptions reports whether the innermost open bracket holds options: there
// median_unbiased is a method.
func (s *scanner) inOptions() bool { return s.open[len(s.open)-1].token.Value == "[" }

// openFold emits a word like "sum_{", which is a reduction and opens a bracket.
func (s *scanner) openFold(kind lexer.TokenType, text string) *Error {
	if kind == tokFoldOpen {
		s.nestFold()
	}
	s.push(lexer.Token{Type: kind, Value: text, Pos: s.at})
	err := s.checkDepth()
	s.emit(kind, text)
	return err
}

func (s *scanner) push(t lexer.Token) {
	s.open = append(s.open, bracket{token: t})
	s.depth++
}

func (s *scanner) pop() {
	s.endOperand()
	s.open = s.open[:len(s.open)-1]
	s.depth--
}

func (s *scanner) nestFold() {
	s.open[len(s.open)-1].folds++
	s.depth++
}

func (s *scanner) nestTight() {
	s.open[len(s.open)-1].tight++
	s.depth++
}

// endFactor forgets the signs, nots and powers that the last factor ended.
func (s *scanner) endFactor() {
	top := &s.open[len(s.open)-1]
	s.depth -= top.tight
	top.tight = 0
}

// endOperand forgets everything that the last operand of a sum ended.
func (s *scanner) endOperand() {
	s.endFactor()
	top := &s.open[len(s.open)-1]
	s.depth -= top.folds
	top.folds = 0
}

// operator emits a fixed token, keeping track of brackets.
func (s *scanner) operator(op struct {
	text string
	kind lexer.TokenType
}) *Error {
	switch op.text {
	case "(", "[", "{":
		s.push(lexer.Token{Type: tokOp, Value: op.text, Pos: s.at})
	case ")", "]", "}":
		if err := s.close(op.text); err != nil {
			return err
		}
	}
	return s.nestAndEmit(op.kind, op.text)
}

// close takes the bracket off the stack that text closes.
func (s *scanner) close(text string) *Error {
	if len(s.open) == 1 {
		return &Error{Code: ErrBrackets, Pos: posOf(s.at), Msg: fmt.Sprintf("%q closes nothing", text),
			Hint: "remove it or open it before"}
	}
	t := s.open[len(s.open)-1].token
	if want := closingOf(t.Value); want != text {
		return &Error{Code: ErrBrackets, Pos: posOf(s.at),
			Msg:     fmt.Sprintf("%q closes %q; expected %q", text, opening(t.Value), want),
			Related: []Note{{Pos: posOf(t.Pos), Msg: "opened here"}}}
	}
	s.pop()
	return nil
}

// nestAndEmit emits a token and counts what makes the recursive parser nest:
// reduction words, signs, not and ^, until an operator that ends their operand.
func (s *scanner) nestAndEmit(kind lexer.TokenType, text string) *Error {
	switch {
	case kind == tokFold:
		s.nestFold()
	case text == "not", text == "^":
		s.nestTight()
	case text == "+" || text == "-":
		if s.afterOperand() {
			s.endOperand()
		} else {
			s.nestTight()
		}
	case text == "*" || text == "/":
		s.endFactor()
	case text == "," || text == "and" || text == "or" || strings.ContainsAny(text, "=<>"):
		s.endOperand()
	}
	err := s.checkDepth()
	s.emit(kind, text)
	return err
}

func (s *scanner) checkDepth() *Error {
	if s.depth <= MaxNesting {
		return nil
	}
	return &Error{Code: ErrTooDeep, Pos: posOf(s.at),
		Msg:  fmt.Sprintf("the expression nests more than %d deep", MaxNesting),
		Hint: "split it into several statements"}
}

// separator emits ";" or a line end, unless it separates nothing.
func (s *scanner) separator(text string) *Error {
	if text == ";" && len(s.open) > 1 {
		t := s.open[len(s.open)-1].token
		return &Error{Code: ErrBrackets, Pos: posOf(s.at),
			Msg:     fmt.Sprintf("the statement ends inside %q", opening(t.Value)),
			Related: []Note{{Pos: posOf(t.Pos), Msg: "opened here"}},
			Hint:    fmt.Sprintf("add %q before the semicolon", closingOf(t.Value))}
	}
	continues := len(s.open) > 1 || len(s.tokens) == 0 || s.tokens[len(s.tokens)-1].Type == tokSep || text == "\n" && !s.afterOperand()
	if continues {
		s.at.Advance(text)
		return nil
	}
	s.endOperand()
	s.emit(tokSep, text)
	return nil
}

// dropSeparator removes a separator that nothing follows.
func (s *scanner) dropSeparator() {
	if n := len(s.tokens); n > 0 && s.tokens[n-1].Type == tokSep {
		s.tokens = s.tokens[:n-1]
	}
}

// afterOperand says whether the last token can end an expression.
func (s *scanner) afterOperand() bool {
	if len(s.tokens) == 0 {
		return false
	}
	t := s.tokens[len(s.tokens)-1]
	return endsOperand(t)
}

// endsOperand says whether an expression can end with t.
func endsOperand(t lexer.Token) bool {
	switch t.Type {
	case tokName, tokInt, tokFloat, tokImag, tokWord:
		return true
	case tokOp:
		return t.Value == ")"
	}
	return false
}

func (s *scanner) emit(kind lexer.TokenType, text string) {
	s.tokens = append(s.tokens, lexer.Token{Type: kind, Value: text, Pos: s.at})
	s.at.Advance(text)
}

// opening returns the bracket in an opening token: "{" for "sum_{".
func opening(token string) string { return token[len(token)-1:] }

func closingOf(token string) string {
	switch opening(token) {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

func posOf(p lexer.Position) Pos { return Pos{Offset: p.Offset, Line: p.Line, Column: p.Column} }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNameRune(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// digits counts the ASCII digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(rune(s[n])) {
		n++
	}
	return n
}

// head returns at most n bytes from the start of s.
func head(s string, n int) string { return s[:min(n, len(s))] }

// invalidUTF8 returns the offset of the first byte that is not valid UTF-8, or -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}
