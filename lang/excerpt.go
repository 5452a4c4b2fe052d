package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt bounds how many characters of a source line an error shows.
const maxExcerpt = 100

// excerpt returns "\n", the source line of pos, "\n" and a caret line, or "" when
// the place is unknown. A long line is cut to a window around the caret.
func excerpt(src string, pos Pos) string {
	if src == "" || !pos.IsKnown() || pos.Offset < 0 || pos.Offset > len(src) {
		return ""
	}
	start := strings.LastIndexByte(src[:pos.Offset], '\n') + 1
	end := len(src)
	if i := strings.IndexByte(src[pos.Offset:], '\n'); i >= 0 {
		end = pos.Offset + i
	}
	before := []rune(src[start:pos.Offset])
	after := []rune(strings.TrimRight(src[pos.Offset:end], "\r"))
	width := wordLength(after)
	if cut := len(before) - maxExcerpt/2; cut > 0 {
		before = append([]rune("…"), before[cut:]...)
	}
	if len(after) > maxExcerpt/2 {
		after = append(after[:maxExcerpt/2:maxExcerpt/2], '…')
		width = min(width, maxExcerpt/2)
	}
	var b strings.Builder
	b.WriteString("\n    ")
	writePrintable(&b, before)
	writePrintable(&b, after)
	b.WriteString("\n    ")
	for _, r := range before {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteByte('^')
	b.WriteString(strings.Repeat("~", max(0, width-1)))
	return b.String()
}

// writePrintable writes text with control characters replaced, so that a hostile
// program cannot drive the terminal that shows its error.
func writePrintable(b *strings.Builder, text []rune) {
	for _, r := range text {
		if r != '\t' && !unicode.IsPrint(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
}

// wordLength is the length of the name or number that text starts with.
func wordLength(text []rune) int {
	n := 0
	for n < len(text) && isNameRune(text[n]) {
		n++
	}
	return n
}
