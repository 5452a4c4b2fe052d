package ir

import (
	"fmt"
	"slices"
	"strings"
)

// Atom names a set of coordinates of one loop: those that an operand stores
// (an iterator), or all or none of them, decided at run time before the loop
// (a flag). What an atom stands for is the lowerer's business.
type Atom int

// SetExpr is an expression of sets: a set of coordinates, built from atoms by union and intersection.
// The zero value is the empty set. Set expressions are values: operations make new ones.
//
// From operand fills and operators the algebra in support.go derives, for
// each loop, the set of coordinates that must be visited; outside it the body
// has one known value.
type SetExpr struct {
	kind setKind
	atom Atom
	args []SetExpr
}

type setKind uint8

const (
	none setKind = iota
	all
	atomic
	union
	intersection
)

// None is the empty set.
func None() SetExpr { return SetExpr{} }

// All is the whole domain.
func All() SetExpr { return SetExpr{kind: all} }

// AtomOf is the set a stands for.
func AtomOf(a Atom) SetExpr { return SetExpr{kind: atomic, atom: a} }

// IsNone reports whether f is the empty set.
func (f SetExpr) IsNone() bool { return f.kind == none }

// IsAll reports whether f is the whole domain.
func (f SetExpr) IsAll() bool { return f.kind == all }

// IsAtom reports whether f is one atom, and which.
func (f SetExpr) IsAtom() (Atom, bool) { return f.atom, f.kind == atomic }

// IsOnly reports whether f is one atom, and a.
func (f SetExpr) IsOnly(a Atom) bool { return f.kind == atomic && f.atom == a }

// IsUnionOfAtoms reports whether f is a union of single operands.
func (f SetExpr) IsUnionOfAtoms() bool {
	return f.kind == union && !slices.ContainsFunc(f.args, func(g SetExpr) bool { return g.kind != atomic })
}

// IsUnion and IsIntersection report the outermost operation.
func (f SetExpr) IsUnion() bool { return f.kind == union }

// IsIntersection reports whether f is an intersection of several sets.
func (f SetExpr) IsIntersection() bool { return f.kind == intersection }

// Args are the parts of a union or intersection.
func (f SetExpr) Args() []SetExpr { return f.args }

// Union is the union of fs, simplified: neutral and repeated parts go, and
// x ∪ (x ∩ y) is x.
func Union(fs ...SetExpr) SetExpr { return combine(union, fs) }

// Intersect is the intersection of fs, simplified the same way.
func Intersect(fs ...SetExpr) SetExpr { return combine(intersection, fs) }

func combine(kind setKind, fs []SetExpr) SetExpr {
	neutral, absorbing := none, all
	if kind == intersection {
		neutral, absorbing = all, none
	}
	// Parts of one operand are free of superfluous ones already: from holds the
	// operand that each comes from.
	var args []SetExpr
	var from []int
	for k, f := range fs {
		switch f.kind {
		case absorbing:
			return f
		case neutral:
		case kind:
			for _, x := range f.args {
				args, from = append(args, x), append(from, k)
			}
		default:
			args, from = append(args, f), append(from, k)
		}
	}
	// Drop what another part makes superfluous (for a union: a part that lies
	// inside another one).
	var kept []SetExpr
	for i, f := range args {
		drop := false
		for j, g := range args {
			if from[i] == from[j] {
				continue
			}
			small, big := f, g
			if kind == intersection {
				small, big = g, f
			}
			if small.Inside(big) && (!big.Inside(small) || j < i) {
				drop = true
				break
			}
		}
		if !drop {
			kept = append(kept, f)
		}
	}
	switch len(kept) {
	case 0:
		return SetExpr{kind: neutral}
	case 1:
		return kept[0]
	}
	return SetExpr{kind: kind, args: kept}
}

// Inside reports whether f is evidently a subset of g. False may also mean
// that the simple rules here do not see it.
func (f SetExpr) Inside(g SetExpr) bool {
	budget := insideBudget
	return f.inside(g, &budget)
}

// insideBudget bounds the comparisons of one Inside: without a bound they grow
// exponentially with the nesting of unions and intersections.
const insideBudget = 2000

func (f SetExpr) inside(g SetExpr, budget *int) bool {
	if *budget--; *budget < 0 {
		return false
	}
	switch {
	case f.kind == none, g.kind == all:
		return true
	case f.kind == union:
		for _, x := range f.args {
			if !x.inside(g, budget) {
				return false
			}
		}
		return true
	case g.kind == intersection:
		for _, x := range g.args {
			if !f.inside(x, budget) {
				return false
			}
		}
		return true
	case f.kind == intersection:
		for _, x := range f.args {
			if x.inside(g, budget) {
				return true
			}
		}
	}
	if g.kind == union {
		for _, x := range g.args {
			if f.inside(x, budget) {
				return true
			}
		}
	}
	return f.kind == atomic && g.kind == atomic && f.atom == g.atom
}

// Substitute replaces each atom by what set returns for it.
func (f SetExpr) Substitute(set func(Atom) SetExpr) SetExpr {
	switch f.kind {
	case atomic:
		return set(f.atom)
	case union, intersection:
		args := make([]SetExpr, len(f.args))
		for i, x := range f.args {
			args[i] = x.Substitute(set)
		}
		return combine(f.kind, args)
	}
	return f
}

// Atoms appends the atoms of f, each once, in order of appearance.
func (f SetExpr) Atoms(atoms []Atom) []Atom {
	if f.kind == atomic {
		for _, a := range atoms {
			if a == f.atom {
				return atoms
			}
		}
		return append(atoms, f.atom)
	}
	for _, x := range f.args {
		atoms = x.Atoms(atoms)
	}
	return atoms
}

// Holds evaluates f at a coordinate where in says which atoms contain it.
func (f SetExpr) Holds(in func(Atom) bool) bool {
	switch f.kind {
	case all:
		return true
	case atomic:
		return in(f.atom)
	case union:
		for _, x := range f.args {
			if x.Holds(in) {
				return true
			}
		}
	case intersection:
		for _, x := range f.args {
			if !x.Holds(in) {
				return false
			}
		}
		return true
	}
	return false
}

// Format writes f with ∪, ∩, ∅ and ⊤, naming atoms by name.
func (f SetExpr) Format(name func(Atom) string) string {
	switch f.kind {
	case none:
		return "∅"
	case all:
		return "⊤"
	case atomic:
		return name(f.atom)
	}
	sep := " ∪ "
	if f.kind == intersection {
		sep = " ∩ "
	}
	var parts []string
	for _, x := range f.args {
		s := x.Format(name)
		if x.kind == union || x.kind == intersection {
			s = "(" + s + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, sep)
}

// String writes f with atoms as numbers.
func (f SetExpr) String() string {
	return f.Format(func(a Atom) string { return fmt.Sprintf("#%d", a) })
}
