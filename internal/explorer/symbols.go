package explorer

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Span says that a part of a text is about a symbol of the program.
type Span struct {
	From   int `json:"from"`
	To     int `json:"to"`
	Symbol int `json:"symbol"` // in Names.Symbols
}

// spansOf finds what the words of a text, of any stage, are about. The compiler carries the names of tensors and index variables
// through all its stages: a loop's variable has its index's name, a buffer its tensor's, with what it is (lower/emit), and LLVM's
// values and blocks have those names; printers put a dot and a number behind one that occurs again. A name that might
// be two things is taken for the longer tensor's.
func spansOf(text string, names Names) []Span {
	indices, tensors := map[string]int{}, map[string]int{}
	for i, s := range names.Symbols {
		if s.Kind == "index" {
			indices[s.Name] = i
		} else {
			tensors[s.Name] = i
		}
	}
	list := []Span{}
	at := 0 // in code units
	for len(text) > 0 {
		word := text[:nameLength(text)]
		if word == "" {
			r, size := utf8.DecodeRuneInString(text)
			text, at = text[size:], at+units(string(r), size)
			continue
		}
		rest := text[len(word):]
		n := units(word, len(word))
		if symbol, ok := about(word, strings.HasPrefix(rest, "("), indices, tensors); ok {
			list = append(list, Span{at, at + n, symbol})
		}
		text, at = rest, at+n
	}
	return list
}

// nameLength is the length of the name that a text starts with.
func nameLength(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return i
		}
	}
	return len(text)
}

// about is the symbol that a word is about.
func about(word string, called bool, indices, tensors map[string]int) (symbol int, ok bool) {
	if symbol, ok = tensors[word]; ok && called {
		return symbol, true
	}
	if symbol, ok := indices[word]; ok {
		return symbol, true
	}
	if ok {
		return symbol, true
	}
	if symbol, ok = indices[strings.TrimPrefix(word, "n_")]; ok { // its extent
		return symbol, true
	}
	word = strings.TrimPrefix(word, "p_") // a position in a tensor
	for end := len(word); end > 0; end-- {
		if symbol, found := tensors[word[:end]]; found && part().MatchString(word[end:]) {
			return symbol, true
		}
	}
	// A reduction has its index behind it: sum_j.
	if i := strings.LastIndexByte(word, '_'); i > 0 {
		symbol, ok = indices[word[i+1:]]
	}
	return symbol, ok
}

// part matches what stands behind a tensor's name where a word is about a part of it, "1_pos", "_vals", "_dim0", or about what it was
// converted to, "_1".
var part = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(_\d+)?(\d*_(pos|crd|vals|dim|fill|end|group)\d*)?$`)
})
