package loop

import "fmt"

type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokName              // p, A1_crd, s.2
	tokNumber            // 12, 0xff, 1.5, 1e-3, 0x1p-3
	tokBits              // f64#7ff8000000000001
	tokString            // "text", with Go's escapes; the text keeps its quotes
	tokComment           // text after // and one space
	tokPunct             // everything else
)

// A token is one word of the text. An offset is resolved to line and column
// only when an error needs it.
type token struct {
	kind   tokenKind
	text   string
	offset int
}

// describe names the token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end of the text"
	case tokComment:
		return "a comment (comments stand between statements only)"
	case tokString:
		return "the string " + t.text
	}
	return fmt.Sprintf("%q", t.text)
}

// A lexer cuts text into tokens, one call at a time.
type lexer struct {
	src string
	pos int
}

// next returns the next token, or a message about the text at its offset.
func (l *lexer) next() (token, string) {
	for l.pos < len(l.src) && isSpace(l.src[l.pos]) {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{kind: tokEOF, offset: start}, ""
	}
	c := l.src[start]
	switch {
	case isNameByte(c, 0):
		return l.name()
	case isDigit(c):
		return l.number()
	case c == '"':
		return l.quoted()
	case l.lookingAt("//"):
		return l.comment()
	}
	for _, two := range [...]string{"==", "!=", "<=", ">="} {
		if l.lookingAt(two) {
			return l.take(tokPunct, 2)
		}
	}
	if c < 0x20 || c > 0x7e {
		return token{offset: start}, fmt.Sprintf("the byte %#02x has no meaning here; names are ASCII", c)
	}
	return l.take(tokPunct, 1)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (l *lexer) lookingAt(s string) bool {
	return len(l.src)-l.pos >= len(s) && l.src[l.pos:l.pos+len(s)] == s
}

func (l *lexer) take(kind tokenKind, n int) (token, string) {
	t := token{kind: kind, text: l.src[l.pos : l.pos+n], offset: l.pos}
	l.pos += n
	return t, ""
}

// span returns how many bytes from offset i on satisfy ok.
func (l *lexer) span(i int, ok func(byte) bool) int {
	n := 0
	for i+n < len(l.src) && ok(l.src[i+n]) {
		n++
	}
	return n
}

func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// name reads a name, its suffix .1 if it has one, or a literal f64#….
func (l *lexer) name() (token, string) {
	n := l.span(l.pos, func(c byte) bool { return isNameByte(c, 1) })
	end := l.pos + n
	if end < len(l.src) && l.src[end] == '#' {
		return l.take(tokBits, n+1+l.span(end+1, isHexDigit))
	}
	if end < len(l.src) && l.src[end] == '.' {
		if digits := l.span(end+1, isDigit); digits > 0 {
			n += 1 + digits
		}
	}
	return l.take(tokName, n)
}

// number reads digits, a fraction and an exponent; 0x starts hexadecimal ones,
// where the exponent is a power of two after p.
func (l *lexer) number() (token, string) {
	n, digit, exponent := 0, isDigit, byte('e')
	if l.lookingAt("0x") {
		n, digit, exponent = 2, isHexDigit, 'p'
	}
	whole := l.span(l.pos+n, digit)
	n += whole
	if end := l.pos + n; end < len(l.src) && l.src[end] == '.' {
		n++
		n += l.span(l.pos+n, digit)
	}
	if end := l.pos + n; end < len(l.src) && l.src[end] == exponent {
		n++
		if end++; end < len(l.src) && (l.src[end] == '+' || l.src[end] == '-') {
			n++
		}
		n += l.span(l.pos+n, isDigit)
	}
	if whole == 0 || n < len(l.src)-l.pos && isNameByte(l.src[l.pos+n], 1) {
		return token{offset: l.pos}, "this is not a number"
	}
	return l.take(tokNumber, n)
}

// quoted reads a string up to its closing quote; unquoting it is the parser's
// work.
func (l *lexer) quoted() (token, string) {
	for i := l.pos + 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '\n':
			return token{offset: l.pos}, "the string does not end on its line"
		case '"':
			return l.take(tokString, i+1-l.pos)
		}
	}
	return token{offset: l.pos}, "the string does not end"
}

// comment reads to the end of the line. The text of the token is what follows
// the slashes and one space.
func (l *lexer) comment() (token, string) {
	n := l.span(l.pos, func(c byte) bool { return c != '\n' })
	t, _ := l.take(tokComment, n)
	text := t.text[2:]
	if k := len(text); k > 0 && text[k-1] == '\r' {
		text = text[:k-1]
	}
	if text != "" && text[0] == ' ' {
		text = text[1:]
	}
	t.text = text
	return t, ""
}
