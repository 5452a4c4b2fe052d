package tensor

import (
	"strings"
	"testing"
)

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "AB", 2}, {"CSR", "CSR", 0}, {"CRS", "CSR", 1}, {"CSX", "CSR", 1}, {"DCRS", "CSR", 2}, {"flaot", "float", 1},
	} {
		if got := editDistance(c.a, c.b, 9); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := editDistance(strings.Repeat("x", 1000), "y", 3); got != 4 {
		t.Errorf("far beyond the limit: %d, want 4", got)
	}
}

func TestDidYouMean(t *testing.T) {
	for word, want := range map[string]string{
		"CRS":  `did you mean "CSR"? (hint)`,
		"Q":    "hint",
		"":     "hint",
		"long": "hint",
	} {
		if got := didYouMean(word, []string{"S", "CSR", "DCSR"}, "hint"); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
