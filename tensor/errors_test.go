package tensor

import "testing"

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
