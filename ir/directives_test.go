package ir

import "testing"

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
