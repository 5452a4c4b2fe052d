package ir

import "slices"

// Broadcast is what makes a sparse result store whole lines: where Of stores an entry, the
// result stores every element with its coordinates, so as many for each entry as Over run
// through together. A nil Of is for a result that stores all its elements.
type Broadcast struct {
	Of   *Tensor
	Over []*Index
	// Single lists axes of Of of which one coordinate is read: nothing follows if they have more.
	Single []int
}

// Broadcasts lists the broadcasts of a step with a sparse result. They tell how many entries it has at
// least before any loop runs: patterns follow from patterns, and a set expression of iteration
// sets that one operand alone fulfils is fulfilled wherever that stores something.
func (c *Compute) Broadcasts(alg Algebra) []Broadcast {
	if c.Result.Format.IsDense() || !c.Covers || c.Scatter || len(c.Axes) > 0 || c.Shape != nil || c.Base != nil {
		return nil
	}
	var free []*Index
	for _, x := range c.LHS.Indices {
		v := x.Plain()
		if v == nil {
			return nil
		}
		free = append(free, v)
	}
	leaves := &singleLeaves{alg: alg, atoms: map[*Access]Atom{}}
	set := alg.Stored(c.Value, leaves).Set
	if leaves.unsure {
		return nil
	}
	if set.Holds(func(Atom) bool { return false }) {
		return []Broadcast{{Over: free}}
	}
	var list []Broadcast
	for _, a := range leaves.accesses {
		over, single, ok := missing(a, free)
		if atom := leaves.atoms[a]; ok && len(over) > 0 && set.Holds(func(x Atom) bool { return x == atom }) {
			list = append(list, Broadcast{a.Tensor, over, single})
		}
	}
	return list
}

// missing lists the variables that an access does not have, and the axes for which it has a number. It is not ok if
// something else than these and variables of their own stands for its axes, or its entries may repeat.
func missing(a *Access, free []*Index) (over []*Index, single []int, ok bool) {
	var has []*Index
	for axis, x := range a.Indices {
		if len(x.Terms) == 0 && x.Gather == nil {
			single = append(single, axis)
			continue
		}
		v := x.Plain()
		if v == nil || slices.Contains(has, v) || !slices.Contains(free, v) {
			return nil, nil, false
		}
		has = append(has, v)
	}
	for _, v := range free {
		if !slices.Contains(has, v) {
			over = append(over, v)
		}
	}
	return over, single, !a.Tensor.Format.Relaxed() && a.Tensor.Work == nil
}

// singleLeaves describes leaves by an atom for each access outside reductions, all
// operands absent.
type singleLeaves struct {
	alg      Algebra
	accesses []*Access
	atoms    map[*Access]Atom
	inside   int // reductions around
	// unsure: the pattern depends on something else too, the values of indices or what
	// is stored at one place.
	unsure bool
}

func (l *singleLeaves) Access(a *Access) Support {
	s := GlobalLeaves(l.alg).Access(a)
	if _, single := s.Set.IsAtom(); !single {
		l.unsure = l.unsure || !a.Tensor.Format.IsDense()
		return s
	}
	if _, seen := l.atoms[a]; !seen {
		l.atoms[a] = Atom(len(l.atoms))
		if l.inside == 0 {
			l.accesses = append(l.accesses, a)
		}
	}
	s.Set = AtomOf(l.atoms[a])
	return s
}

func (l *singleLeaves) Index(*Index) Support {
	l.unsure = true
	return Everywhere()
}

func (l *singleLeaves) Temp(t *Temp) Behaviour {
	l.inside++
	defer func() { l.inside-- }()
	return l.alg.TempBehaviour(t, l)
}
