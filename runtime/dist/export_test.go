package dist

// InPieces reports whether the rank computes the first statement in pieces.
func InPieces(p *Program) bool { return p.steps[0].pieces != nil }
