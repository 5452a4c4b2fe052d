package loop

import "testing"

// TestOrigins follows statements through the passes that copy them: each is made for the place that it was built for, and a closer
// place holds until it ends.
func TestOrigins(t *testing.T) {
	b := NewBuilder("f")
	a, y, n := b.Buf("a", F64, ReadOnly), b.Buf("y", F64, ReadWrite), b.Arg("n")
	endAll := b.At(OriginAt(0))
	b.For("p", Int(0), n, func(p Expr) {
		end := b.At(OriginAt(5))
		x := b.Let("x", b.Load(a, p))
		b.At(0)() // nothing is known of what follows but that
		end()
		b.ForIndependent("k", Int(0), n, func(k Expr) { b.Store(y, k, b.Add(b.Load(y, k), b.Mul(x, b.Load(a, k)))) })
		b.If(b.Lt(p, Int(3)), func() { b.Let("unused", b.Load(a, p)) }, nil)
	})
	endAll()
	b.Store(y, Int(0), Float(F64, 1))
	built := b.Func()
	for name, f := range map[string]*Func{"built": built, "without dead code": RemoveDead(built), "jammed": Jam(RemoveDead(built)), "compacted": Compact(built)} {
		found := map[string]int{}
		WalkStmts(f.Body, func(s Stmt) {
			offset, known := OriginOf(s).Offset()
			switch s := s.(type) {
			case *Let:
				if f.Vars[s.Var].Name == "x" {
					if found["x"]++; !known || offset != 5 {
						t.Errorf("%s: x comes from %d, %v", name, offset, known)
					}
				}
			case *For:
				if found["for"]++; !known || offset != 0 {
					t.Errorf("%s: the loop of %s comes from %d, %v", name, f.Vars[s.Var].Name, offset, known)
				}
			case *Store:
				if _, last := s.Index.(*Const); last == known {
					t.Errorf("%s: a store comes from %d, %v", name, offset, known)
				}
				found["store"]++
			}
		})
		if found["x"] == 0 || found["for"] < 2 || found["store"] < 2 {
			t.Errorf("%s: found %v", name, found)
		}
	}
}
