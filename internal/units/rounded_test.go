package units

import "testing"

func TestRounded(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 8: "8", 8.26: "8.3", 12: "12", 123: "120", 995: "1 thousand", 999_900: "1 million", 1000: "1 thousand", 289_500: "290 thousand",
		18_240_000: "18 million", 2.56e9: "2.6 billion", 3e21: "3e+21",
	} {
		if got := Rounded(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}
