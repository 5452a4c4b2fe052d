package loop

// Divisible reports whether a call of f for lo to hi does what calls for the parts of lo to hi do one after the other: f is one
// loop over lo to hi, before which nothing is computed but constants. So an engine may hand out as many chunks at once as it
// likes. A function that fails tells in which chunk, and is none.
func Divisible(f *Func) bool {
	triple := map[VarID]bool{f.Chunk: true, f.Lo: true, f.Hi: true}
	written := map[BufID]bool{}
	for id := range f.Bufs {
		written[BufID(id)] = !f.Bufs[id].ReadOnly
	}
	if len(f.Fails) > 0 || f.Grid != nil {
		return false
	}
	for at, s := range f.Body {
		switch s := s.(type) {
		case *Let:
			if s.Mutable || Reads(s.Value, triple) || loadsFrom(s.Value, written) {
				return false
			}
		case *For:
			return at == len(f.Body)-1 && isRef(s.Lo, f.Lo) && isRef(s.Hi, f.Hi) && !mentions(s.Body, triple)
		case *Comment:
		default:
			return false
		}
	}
	return false
}

func isRef(e Expr, v VarID) bool {
	r, ok := e.(*Ref)
	return ok && r.Var == v
}

// mentions reports whether statements read one of the variables.
func mentions(body []Stmt, vars map[VarID]bool) bool {
	for e := range AllExprs(body) {
		if r, ok := e.(*Ref); ok && vars[r.Var] {
			return true
		}
	}
	return false
}

// loadsFrom reports whether e loads from one of the buffers.
func loadsFrom(e Expr, bufs map[BufID]bool) bool {
	return HasExpr(e, func(e Expr) bool {
		l, ok := e.(*Load)
		return ok && bufs[l.Buf]
	})
}
