// Package suggest finds what someone who misspelt a name may have meant.
package suggest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxName bounds the names that are compared, in bytes: longer ones are not typed by hand.
const maxName = 64

// DidYouMean returns "did you mean x?" for the candidate that is Nearest, or "".
func DidYouMean(name string, candidates []string) string {
	if best := Nearest(name, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// Nearest returns the candidate with the least edit distance to name, the first in the alphabet
// among equals, or "" where none is near: at most a third of the letters of name, and one, may differ.
func Nearest(name string, candidates []string) string {
	if len(name) > maxName {
		return ""
	}
	best, least := "", max(1, utf8.RuneCountInString(name)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if c == "" || c == name || len(c) > maxName {
			continue
		}
		d := distance([]rune(name), []rune(c))
		if strings.EqualFold(name, c) {
			d = min(d, 1)
		} else if utf8.RuneCountInString(c) <= d {
			continue // a name of one letter is near every other one
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours that turn a
// into b (optimal string alignment).
func distance(a, b []rune) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			d := prev[j]
			if a[i] != b[j] {
				d = 1 + min(prev[j], prev[j+1], row[j])
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					d = min(d, before[j-1]+1)
				}
			}
			row[j+1] = d
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
