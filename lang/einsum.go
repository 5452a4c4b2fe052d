package lang

import (
	"fmt"
	"slices"
)

// The Einstein convention. An index on the right that no reduction binds and that is
// not on the left is summed over the smallest term that holds all its uses. A term
// is the whole right side, an operand of + and -, of a comparison or of and, or,
// not, an expression in parentheses, an argument, or the body of a reduction. So
// the sum goes around whole products, never around a factor.
//
// When the smallest term is a sum of which only some operands use the index, each
// of those is summed on its own: y(i) = A(i,j) + w(i) + B(i,j) does not count w(i) more
// than once, whatever the order of the summands.

// einsum finds the implicit sums of one statement.
type einsum struct {
	isTensor  func(string) bool // names that stand bare for a rank-0 tensor
	free      map[string]bool   // indices on the left
	bound     map[string]Pos    // indices that some reduction binds, with its place
	total     map[string]int    // uses of each index that nothing binds
	first     map[string]Pos    // the first such use
	shown     map[string]bool   // whether it is used in an access or scan
	implicit  map[Node][]string // result: the indices to sum around a node
	scattered map[string]bool   // those that are summed in several places
}

// slicePrefix starts the names of the hidden indices of slices: no name in the
// source has it.
const slicePrefix = ":"

func sliceName(n int) string { return fmt.Sprintf("%s%d", slicePrefix, n) }

// analyse fills in e.implicit. It returns the indices that are used outside their
// reductions, with the places, which is an error.
func (e *einsum) analyse(rhs Node) map[string]Pos {
	e.bound, e.first = make(map[string]Pos), make(map[string]Pos)
	e.total = make(map[string]int)
	e.shown, e.scattered = make(map[string]bool), make(map[string]bool)
	e.implicit = make(map[Node][]string)
	e.count(rhs, make(map[string]int))
	outside := make(map[string]Pos)
	for name := range e.total {
		switch {
		case e.isBound(name):
			outside[name] = e.first[name]
		case !e.shown[name]:
			delete(e.total, name) // not an index: the checker reports it
		}
	}
	if len(outside) > 0 {
		return outside
	}
	e.place(rhs, asTerm)
	for _, names := range e.implicit {
		slices.SortFunc(names, func(a, b string) int { return e.first[a].Offset - e.first[b].Offset })
	}
	return nil
}

func (e *einsum) isBound(name string) bool {
	_, ok := e.bound[name]
	return ok
}

// count counts the uses that nothing binds; within counts the reductions around.
func (e *einsum) count(n Node, within map[string]int) {
	switch n := n.(type) {
	case *Ref:
		if !n.Parens && len(n.Indices) == 0 {
			if !e.isTensor(n.Name) && !e.free[n.Name] && within[n.Name] == 0 {
				e.note(n.Name, n.Pos)
			}
			return
		}
		eachIndexUse(n, func(name string, pos Pos) {
			if !e.free[name] && within[name] == 0 {
				e.note(name, pos)
				e.shown[name] = true
			}
		})
	case *Unary:
		e.count(n.X, within)
	case *Binary:
		e.count(n.X, within)
		e.count(n.Y, within)
	case *Paren:
		e.count(n.X, within)
	case *Apply:
		for _, a := range n.Args {
			e.count(a, within)
		}
	case *Fold:
		e.countFold(n, within)
	}
}

func (e *einsum) countFold(n *Fold, within map[string]int) {
	if n.Q != nil {
		e.count(n.Q, within)
	}
	if foldKindOf(n.Name) == scanFold {
		for _, v := range n.Vars {
			if !e.free[v.Name] && within[v.Name] == 0 {
				e.note(v.Name, v.Pos)
				e.shown[v.Name] = true
			}
		}
		e.count(n.Body, within)
		return
	}
	for _, v := range n.Vars {
		within[v.Name]++
		if _, seen := e.bound[v.Name]; !seen {
			e.bound[v.Name] = n.Pos
		}
	}
	e.count(n.Body, within)
	for _, v := range n.Vars {
		within[v.Name]--
	}
}

func (e *einsum) note(name string, pos Pos) {
	e.total[name]++
	if old, seen := e.first[name]; !seen || pos.before(old) {
		e.first[name] = pos
	}
}

// role says whether a node is a term by its place in the tree.
type role bool

const (
	asTerm   role = true
	asFactor role = false
)

// place decides where the sums of n go. It returns how often n uses each index
// whose sum lies further out.
func (e *einsum) place(n Node, as role) map[string]int {
	var uses map[string]int
	switch n := n.(type) {
	case *Ref:
		uses = e.refUses(n)
	case *Paren:
		return e.place(n.X, asTerm)
	case *Unary:
		uses = e.place(n.X, role(n.Op == "not"))
	case *Binary:
		switch binaryLevels[n.Op] {
		case levelSum:
			return e.placeSum(n)
		case levelTerm, levelPower:
			uses = merge(e.place(n.X, asFactor), e.place(n.Y, asFactor))
		default: // comparisons and logic are terms, and so are their operands
			uses = merge(e.place(n.X, asTerm), e.place(n.Y, asTerm))
			as = asTerm
		}
	case *Apply:
		for k, a := range n.Args {
			// What stored and like ask about is no value that could be summed.
			uses = merge(uses, e.place(a, role(n.Name != "stored" && (n.Name != "like" || k == 0))))
		}
	case *Fold:
		uses = e.place(n.Body, asTerm)
		if n.Q != nil {
			uses = merge(uses, e.place(n.Q, asTerm))
		}
		if foldKindOf(n.Name) == scanFold {
			uses = merge(uses, e.scanUses(n))
		}
	}
	if as == asTerm {
		e.settle(n, uses)
	}
	return uses
}

// settle puts the sums of the indices whose uses n holds all around n.
func (e *einsum) settle(n Node, uses map[string]int) {
	for name, k := range uses {
		if k == e.total[name] {
			e.implicit[n] = append(e.implicit[n], name)
			delete(uses, name)
		}
	}
}

// placeSum places the sums of a chain of + and -.
func (e *einsum) placeSum(n *Binary) map[string]int {
	operands := sumOperands(n)
	var uses map[string]int
	users := make(map[string][]Node)
	for _, x := range operands {
		here := e.place(x, asTerm)
		for name := range here {
			users[name] = append(users[name], x)
		}
		uses = merge(uses, here)
	}
	for name, k := range uses {
		if k != e.total[name] || len(users[name]) == len(operands) {
			continue
		}
		e.scattered[name] = true
		for _, x := range users[name] {
			e.implicit[x] = append(e.implicit[x], name)
		}
		delete(uses, name)
	}
	e.settle(n, uses)
	return uses
}

// sumOperands lists the operands of a chain of + and -.
func sumOperands(n *Binary) []Node {
	var list []Node
	var pending []Node
	pending = append(pending, n)
	for len(pending) > 0 {
		top := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if b, ok := top.(*Binary); ok && binaryLevels[b.Op] == levelSum {
			pending = append(pending, b.Y, b.X)
			continue
		}
		list = append(list, top)
	}
	return list
}

func (e *einsum) refUses(n *Ref) map[string]int {
	uses := make(map[string]int)
	if !n.Parens && len(n.Indices) == 0 {
		if e.total[n.Name] > 0 && !e.isTensor(n.Name) {
			uses[n.Name]++
		}
		return uses
	}
	eachIndexUse(n, func(name string, _ Pos) {
		if e.total[name] > 0 {
			uses[name]++
		}
	})
	return uses
}

func (e *einsum) scanUses(n *Fold) map[string]int {
	uses := make(map[string]int)
	for _, v := range n.Vars {
		if e.total[v.Name] > 0 {
			uses[v.Name]++
		}
	}
	return uses
}

// merge adds the smaller map to the larger one, which it may change.
func merge(a, b map[string]int) map[string]int {
	if len(a) < len(b) {
		a, b = b, a
	}
	for name, k := range b {
		a[name] += k
	}
	return a
}

// eachIndexUse calls f for every index that the access uses, those of its gathers
// and the hidden ones of its slices included.
func eachIndexUse(r *Ref, f func(name string, pos Pos)) {
	sliced := 0
	for _, x := range r.Indices {
		if x.Slice != nil {
			f(sliceName(sliced), x.Pos)
			sliced++
		}
		for _, t := range x.Terms {
			switch {
			case t.Gather != nil:
				eachIndexUse(t.Gather, f)
			case t.Name != "":
				f(t.Name, t.Pos)
			}
		}
	}
}
