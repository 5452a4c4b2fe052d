package loop

// Origin is where in the text of a user's program a statement comes from: where the index variable, the access or the reduction
// begins that it was made for. The zero value says that nothing is known. It is no part of a function's text or meaning. Passes
// keep it, as compilers keep what debuggers need: what stands in for a statement has its origin.
type Origin int32

// OriginAt is the origin of what begins at a byte of the text.
func OriginAt(offset int) Origin { return Origin(offset + 1) }

// Offset is the byte of the text, if it is known.
func (o Origin) Offset() (offset int, known bool) { return int(o) - 1, o > 0 }

// OriginOf is where a statement comes from.
func OriginOf(s Stmt) Origin {
	if o := originIn(s); o != nil {
		return *o
	}
	return 0
}

// stamp gives a statement an origin, unless it has one.
func stamp(s Stmt, o Origin) {
	if at := originIn(s); at != nil && *at == 0 {
		*at = o
	}
}

// originIn is the field of a statement, nil if it has none.
func originIn(s Stmt) *Origin {
	switch s := s.(type) {
	case *Let:
		return &s.Origin
	case *Assign:
		return &s.Origin
	case *Store:
		return &s.Origin
	case *For:
		return &s.Origin
	case *While:
		return &s.Origin
	case *If:
		return &s.Origin
	case *Atomic:
		return &s.Origin
	}
	return nil
}

// At has the statements that are added from here on come from a place, unless that is not known, until end is called.
func (b *Builder) At(o Origin) (end func()) {
	before := b.origin
	if o != 0 {
		b.origin = o
	}
	return func() { b.origin = before }
}
