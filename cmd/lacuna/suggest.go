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

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (optimal string alignment).
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
