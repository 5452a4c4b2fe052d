package dist

import "github.com/lacuna-sparse/lacuna/runtime/dist/placement"

// InPieces reports whether the rank computes the first statement in pieces.
func InPieces(p *Program) bool { return p.steps[0].pieces != nil }

// Along is an index along which the first statement of a program is cut.
type Along struct {
	Index string
	Over  int
	Cut   *placement.Cut
}

// Cutting tells how the first statement of a program was cut in the latest run.
func Cutting(p *Program) (list []Along) {
	for _, a := range p.steps[0].how.along {
		list = append(list, Along{a.index.Name, a.over, a.cut})
	}
	return list
}
