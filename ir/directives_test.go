package ir

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

func TestFormatWays(t *testing.T) {
	work, convert := WayCost{Way{Workspaces: true}, 290e3}, WayCost{Way{Conversions: true}, 18e6}
	for _, c := range []struct {
		list []WayCost
		want string
	}{
		{[]WayCost{work, convert, {Way{}, 2e9}}, "# estimated iterations: 290 thousand with a workspace (chosen), 18 million with a conversion, 2 billion with neither"},
		{[]WayCost{convert}, "# estimated iterations: 18 million with a conversion (chosen), nothing else does"},
		{[]WayCost{{Way{true, true}, 5}}, "# estimated iterations: 5 with a workspace and a conversion (chosen), nothing else does"},
	} {
		if got := FormatWays(c.list); got != c.want {
			t.Errorf("%v: %s, want %s", c.list, got, c.want)
		}
	}
}
