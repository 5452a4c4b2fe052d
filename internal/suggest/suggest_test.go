package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"weight", "log", "alpha", "A", "q", "", "loops", "plan", "CSR", "DCSR"}
	for name, want := range map[string]string{
		"alhpa": "alpha", "Alpha": "alpha", "lgo": "log", "a": "A", "b": "", "quux": "", "wieght": "weight", "loop": "loops",
		"CRS": "CSR", "DCRS": "DCSR", "log": "", "": "", strings.Repeat("x", 1000): "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := DidYouMean("evla", []string{"eval", "explain"}); got != "did you mean eval?" {
		t.Error(got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "AB", 2}, {"CSR", "CSR", 0}, {"CRS", "CSR", 1}, {"CSX", "CSR", 1}, {"DCRS", "CSR", 2}, {"flaot", "float", 1},
		{"kitten", "sitting", 3}, {"äß", "ä", 1},
	} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
