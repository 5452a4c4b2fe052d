package main

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean returns "; did you mean x?" for the candidate nearest to word, or
// "" if none is near: at most a third of the letters may differ.
func didYouMean(word string, candidates []string) string {
	if len(word) > 64 { // nobody types that by hand
		return ""
	}
	best, least := "", max(1, len([]rune(word))/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		d := distance([]rune(word), []rune(c))
		if strings.EqualFold(word, c) {
			d = min(d, 1)
		} else if d >= len([]rune(c)) {
			continue // nothing in common
		}
		if d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance counts the insertions, deletions and substitutions that turn a into
// b (Levenshtein).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
