package ir

import (
	"testing"

	"pgregory.net/rapid"
)

// drawSet makes a random set expression over atoms 0 to 3, built by the same
// operations as the compiler uses.
func drawSet(t *rapid.T, depth int) SetExpr {
	switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case depth == 0 || kind < 3:
		return AtomOf(Atom(rapid.IntRange(0, 3).Draw(t, "atom")))
	case kind == 3:
		return None()
	case kind == 4:
		return All()
	case kind == 5:
		return Union(drawSet(t, depth-1), drawSet(t, depth-1), drawSet(t, depth-1))
	}
	return Intersect(drawSet(t, depth-1), drawSet(t, depth-1))
}

// elements is the set of truth assignments for which f holds, as a bit set:
// bit b stands for the assignment in which atom k is present when bit k of b is.
func elements(f SetExpr) uint16 {
	var set uint16
	for b := 0; b < 16; b++ {
		if f.Holds(func(a Atom) bool { return b>>a&1 == 1 }) {
			set |= 1 << b
		}
	}
	return set
}

// TestSetExprIsSetAlgebra compares simplified expressions with sets: union is or,
// intersection is and, and Inside never claims what is not so.
func TestSetExprIsSetAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g := drawSet(t, 3), drawSet(t, 3)
		if got, want := elements(Union(f, g)), elements(f)|elements(g); got != want {
			t.Fatalf("%v ∪ %v = %v: elements %016b, want %016b", f, g, Union(f, g), got, want)
		}
		if got, want := elements(Intersect(f, g)), elements(f)&elements(g); got != want {
			t.Fatalf("%v ∩ %v = %v: elements %016b, want %016b", f, g, Intersect(f, g), got, want)
		}
		if f.Inside(g) && elements(f)&^elements(g) != 0 {
			t.Fatalf("%v is not inside %v", f, g)
		}
		if f.IsAll() != (elements(f) == 0xffff) || f.IsNone() != (elements(f) == 0) {
			t.Fatalf("%v is not in simplest form", f)
		}
	})
}

// TestSetExprSubstitute replaces atoms by sets.
func TestSetExprSubstitute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawSet(t, 3)
		with := []SetExpr{drawSet(t, 1), drawSet(t, 1), None(), All()}
		got := f.Substitute(func(a Atom) SetExpr { return with[a] })
		for b := 0; b < 16; b++ {
			in := func(a Atom) bool { return b>>a&1 == 1 }
			want := f.Holds(func(a Atom) bool { return with[a].Holds(in) })
			if got.Holds(in) != want {
				t.Fatalf("%v with %v = %v differs at %04b", f, with, got, b)
			}
		}
	})
}

func TestSetExprString(t *testing.T) {
	a, b, c := AtomOf(0), AtomOf(1), AtomOf(2)
	for _, test := range []struct {
		f    SetExpr
		want string
	}{
		{None(), "∅"},
		{All(), "⊤"},
		{Union(a, b, a), "#0 ∪ #1"},
		{Union(a, Intersect(a, b)), "#0"},
		{Intersect(a, Union(a, b)), "#0"},
		{Union(Intersect(a, b), c), "(#0 ∩ #1) ∪ #2"},
		{Intersect(All(), c), "#2"},
		{Union(All(), c), "⊤"},
	} {
		if got := test.f.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
