package lang

// Inspect calls f for n and for every expression in it, in the order of the text: what indices gather, and the order of a
// quantile, are among them.
func Inspect(n Node, f func(Node)) {
	f(n)
	switch n := n.(type) {
	case *Ref:
		for _, x := range n.Indices {
			for _, t := range x.Terms {
				if t.Gather != nil {
					Inspect(t.Gather, f)
				}
			}
		}
	case *Unary:
		Inspect(n.X, f)
	case *Binary:
		Inspect(n.X, f)
		Inspect(n.Y, f)
	case *Paren:
		Inspect(n.X, f)
	case *Apply:
		for _, a := range n.Args {
			Inspect(a, f)
		}
	case *Fold:
		Inspect(n.Body, f)
		if n.Q != nil {
			Inspect(n.Q, f)
		}
	}
}

// EachRef calls f for every reference in n, those included that indices gather.
func EachRef(n Node, f func(*Ref)) {
	Inspect(n, func(n Node) {
		if r, ok := n.(*Ref); ok {
			f(r)
		}
	})
}

// EachGather calls f for every reference in the indices of r.
func (r *Ref) EachGather(f func(*Ref)) {
	EachRef(r, func(x *Ref) {
		if x != r {
			f(x)
		}
	})
}
