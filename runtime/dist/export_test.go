package dist

import "time"

// PiecesCost sets what computing in pieces is thought to cost, and returns what it was.
func PiecesCost(d time.Duration) (was time.Duration) {
	was, startup = startup, d
	return was
}

// InPieces reports whether the rank computes the first statement in pieces.
func InPieces(p *Program) bool { return p.steps[0].pieces != nil }
