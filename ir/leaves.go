package ir

// GlobalLeaves describes leaves where every operand is absent: the background
// of the whole result.
func GlobalLeaves(alg Algebra) Leaves { return globalLeaves{alg} }

type globalLeaves struct{ alg Algebra }

func (g globalLeaves) Access(a *Access) Support {
	if len(a.Vars(nil)) == 0 {
		return Constant(a)
	}
	if a.Tensor.Format.IsDense() || !a.Tensor.FillKnown {
		return Everywhere()
	}
	return Support{Set: AtomOf(0), Background: GapOf(a.Tensor)}
}

func (g globalLeaves) Index(*Index) Support { return Everywhere() }

func (g globalLeaves) Temp(t *Temp) Behaviour { return g.alg.TempBehaviour(t, g) }
