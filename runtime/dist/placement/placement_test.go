package placement

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"over (r)":                      "over (r)",
		" over( r by block ,* ) ":       "over (r)",
		"over (*, r by cyclic)":         "over (*, r by cyclic)",
		"over (r by cyclic(64), c)":     "over (r by cyclic(64), c)",
		"over (r by entries)":           "over (r by entries)",
		"over (r by p)":                 "over (r by p)",
		"over ()":                       "replicated",
		"over (*,*)":                    "replicated",
		"replicated":                    "replicated",
		"over (Zeile by parts_2, *, c)": "over (Zeile by parts_2, *, c)",
	} {
		l, err := Parse(text, -1)
		if err != nil || l.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, l, err, want)
		}
		if again, err := Parse(l.String(), -1); err != nil || again.String() != want {
			t.Errorf("%q does not parse back: %q, %v", l, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "expected over, replicated or auto, found the end\n  \n  ^\n"},
		{"over r", "expected (, found \"r\"\n  over r\n       ^\n"},
		{"over (r by)", "expected block, cyclic, entries or the name of a vector, found \")\"\n  over (r by)\n            ^\n"},
		{"over (7)", "expected an axis of the grid, such as r, or *, found \"7\"\n  over (7)\n        ^\n"},
		{"over (r by cyclic(0))", "expected how many coordinates are dealt out at a time, such as 64, found \"0\""},
		{"over (r, r)", "two axes are cut over r"},
		{"over (r, c, s)", "the tensor has 2 axes"},
		{"over (r", "expected , or ), found the end"},
		{"over (r) x", "expected the end, found \"x\"\n  over (r) x\n           ^\n"},
		{"replicated here", "expected the end"},
	} {
		_, err := Parse(c.text, 2)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q gives\n%v\nwant\n%s", c.text, err, c.want)
		}
	}
}

func TestGrids(t *testing.T) {
	g, err := ParseGrid("r=2, c=3")
	if err != nil || g.String() != "r=2,c=3" || g.Ranks() != 6 {
		t.Fatalf("got %v, %v", g, err)
	}
	for r := range 6 {
		if got := g.Rank(g.At(r)); got != r {
			t.Errorf("rank %d is at %v, where rank %d is", r, g.At(r), got)
		}
	}
	for _, text := range []string{"", "r", "r=0", "r=2,r=2", "r=2 c=2", "r=99999999999", "r=1000,c=1000000"} {
		if g, err := ParseGrid(text); err == nil {
			t.Errorf("%q is %v", text, g)
		}
	}
	two, _ := Parse("over (r, c)", -1)
	if g, err := GridFor([]Layout{two}, 12); err != nil || g.String() != "r=4,c=3" {
		t.Errorf("12 ranks are %v, %v", g, err)
	}
}

// cuts are some of each kind.
func cuts(t *testing.T, r *rand.Rand, extent int64, parts int) []*Cut {
	weights, owner := make([]int64, extent), make([]int64, extent)
	for i := range weights {
		weights[i], owner[i] = r.Int64N(9)*r.Int64N(2), r.Int64N(int64(parts))
	}
	given, err := Given(owner, parts)
	if err != nil {
		t.Fatal(err)
	}
	return []*Cut{Blocks(extent, parts), Single(extent, parts, parts-1), Cyclic(extent, parts, 1), Cyclic(extent, parts, 3), Weighted(weights, parts), given}
}

// Every coordinate belongs to one part, the one that Owner says.
func TestCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		extent, parts := r.Int64N(20), 1+r.IntN(6)
		for k, c := range cuts(t, r, extent, parts) {
			seen := make([]int, extent)
			for p := range parts {
				s := c.Coords(p)
				for i := range s.Len() {
					x := s.At(i)
					seen[x]++
					if c.Owner(x) != p || s.Find(x) != i {
						t.Fatalf("cut %d: coordinate %d is of part %d at %d, but Owner says %d and Find %d", k, x, p, i, c.Owner(x), s.Find(x))
					}
				}
			}
			if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
				t.Fatalf("cut %d of %d into %d: coordinates are of %v parts", k, extent, parts, seen)
			}
			if !c.Equal(c) {
				t.Fatal("a cut does not equal itself")
			}
		}
	}
	if _, err := Given([]int64{0, 2}, 2); err == nil {
		t.Error("a part that there is not")
	}
}

// Parts of equal weight are as even as blocks can be.
func TestWeighted(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		parts   int
		want    []int64
	}{
		{[]int64{1, 1, 1, 1}, 2, []int64{0, 2, 4}},
		{[]int64{100, 1, 1, 1}, 2, []int64{0, 1, 4}},
		{[]int64{0, 0, 0}, 3, []int64{0, 1, 2, 3}},
		{[]int64{5}, 3, []int64{0, 0, 1, 1}},
		{[]int64{1, 1, 1, 100}, 2, []int64{0, 3, 4}},
	} {
		if got := Weighted(c.weights, c.parts).bounds; !slices.Equal(got, c.want) {
			t.Errorf("weights %v in %d parts: %v, want %v", c.weights, c.parts, got, c.want)
		}
	}
}

func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func() (Set, map[int64]bool) {
		m := map[int64]bool{}
		if r.IntN(2) == 0 {
			lo := r.Int64N(12)
			s := Range(lo, lo+r.Int64N(6))
			for i := range s.Len() {
				m[s.At(i)] = true
			}
			return s, m
		}
		var list []int64
		for range r.IntN(12) {
			x := r.Int64N(16)
			list, m[x] = append(list, x), true
		}
		return Unsorted(list), m
	}
	for range 2000 {
		s, m := draw()
		u, n := draw()
		both, table := s.And(u), NewTable(s, 20)
		lo := r.Int64N(16)
		hi := lo + r.Int64N(4)
		more := s.With(lo, hi)
		for x := range int64(20) {
			if (s.Find(x) >= 0) != m[x] || table.Find(x) != s.Find(x) || (both.Find(x) >= 0) != (m[x] && n[x]) ||
				(more.Find(x) >= 0) != (m[x] || lo <= x && x < hi) {
				t.Fatalf("%v and %v are %v at %d; with %d to %d, %v", s, u, both, x, lo, hi, more)
			}
		}
		if !both.Equal(u.And(s)) || s.Equal(u) != reflect.DeepEqual(m, n) {
			t.Fatalf("%v and %v", s, u)
		}
	}
}

func TestPlacement(t *testing.T) {
	g := &Grid{[]string{"r", "c"}, []int{2, 3}}
	l, err := Parse("over (*, c by cyclic)", 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.On(g, Tensor{Shape: []int64{4, 7}})
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != "over (*, c by cyclic)" || p.IsReplicated() || !p.Equal(p) || p.Equal(Replicated(g, 2)) {
		t.Errorf("got %v", p)
	}
	// Rank 4 is in row 1, column 1 of the grid; what it needs it gets of its own row.
	if part := p.Part(4, []int64{4, 7}); !part[0].IsRange(0, 4) || !part[1].Equal(List([]int64{1, 4})) {
		t.Errorf("rank 4 has %v", part)
	}
	if got := p.Providers(4); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("rank 4 gets it of %v", got)
	}
	if got := Replicated(g, 2).Providers(4); !slices.Equal(got, []int{4}) {
		t.Errorf("rank 4 gets what is replicated of %v", got)
	}
	for text, want := range map[string]string{"over (z)": "the grid r=2,c=3 has no axis z", "over (r, c, *, z)": "is for 4 axes", "over (r by p)": "p has 3 elements, but the axis 4 coordinates"} {
		l, err := Parse(text, -1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.On(g, Tensor{Shape: []int64{4, 7}, List: func(string) ([]int64, error) { return []int64{0, 1, 0}, nil }})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
