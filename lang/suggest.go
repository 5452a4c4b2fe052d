package lang

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSuggestName bounds the names that are compared: longer ones are not typed by hand.
const maxSuggestName = 64

// didYouMean returns "did you mean x?" for the candidate nearest to name, or "" when
// none is near: at most a third of its letters may differ.
func didYouMean(name string, candidates []string) string {
	if best := nearest(name, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// nearest returns the candidate with the least edit distance to name, the first in
// the alphabet among equals, or "".
func nearest(name string, candidates []string) string {
	if len(name) > maxSuggestName {
		return ""
	}
	best, bestDistance := "", max(1, utf8.RuneCountInString(name)/3)+1
	sorted := slices.Clone(candidates)
	slices.Sort(sorted)
	for _, c := range sorted {
		if c == "" || c == name || len(c) > maxSuggestName {
			continue
		}
		d := editDistance([]rune(name), []rune(c))
		if strings.EqualFold(name, c) {
			d = min(d, 1)
		}
		// A name of one letter is near every other one: only case counts there.
		if utf8.RuneCountInString(c) <= d && !strings.EqualFold(name, c) {
			continue
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (optimal string alignment).
func editDistance(a, b []rune) int {
	before := make([]int, len(b)+1) // row i-2
	prev := make([]int, len(b)+1)   // row i-1
	row := make([]int, len(b)+1)    // row i
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
