package cli

import (
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/suggest"
)

// DidYouMean returns "; did you mean x?" for the candidate nearest to word, or "" if none is near.
func DidYouMean(word string, candidates []string) string {
	if hint := suggest.DidYouMean(word, candidates); hint != "" {
		return "; " + hint
	}
	return ""
}

// WithPrefix are the words that begin with a prefix.
func WithPrefix(words []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, prefix) })
}

// CompleteList completes the last of words that are separated by commas, with one that is not among them.
func CompleteList(head string, words []string, text string) []string {
	at := strings.LastIndexByte(text, ',') + 1
	taken := strings.Split(text[:max(at-1, 0)], ",")
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(taken, w) })
	return Prefixed(head+text[:at], WithPrefix(words, text[at:]))
}

// Prefixed puts a prefix before all words.
func Prefixed(prefix string, words []string) []string {
	for i, w := range words {
		words[i] = prefix + w
	}
	return words
}
