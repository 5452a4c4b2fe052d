package main

import "github.com/lacuna-sparse/lacuna/internal/suggest"

// didYouMean returns "; did you mean x?" for the candidate nearest to word, or "" if none is near.
func didYouMean(word string, candidates []string) string {
	if hint := suggest.DidYouMean(word, candidates); hint != "" {
		return "; " + hint
	}
	return ""
}
