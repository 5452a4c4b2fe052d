package tensor

// DenseLevel has every coordinate; position = parent*size + coordinate.
const DenseLevel PhysicalKind = 1

// denseType is that of all dense levels.
var denseType = LevelType{DenseLevel, true, true}

var dense = LevelProperties{
	Name: "dense", TACO: [2]byte{'d'},
	Full: true,
}

var denseSchema = LevelSchema{
	LevelProperties: dense,
	Locate: func(l *Level, lo, _ int, c int64) (first, end int) {
		p := lo*int(l.Size) + int(c)
		return p, p + 1
	},
	Ascend: func(l *Level, positions, coords []int64) {
		first, parent := int64(0), int64(0) // neighbours mostly have one parent, and the outermost level has one
		for i, p := range positions {
			if p-first >= l.Size {
				parent = p / l.Size
				first = parent * l.Size
			}
			coords[i], positions[i] = p-first, parent
		}
	},
	Positions: func(l *Level, parents int64) (int64, bool) { return mulSizes(parents, l.Size) },
	Check:     func(*Tensor, int, int64) error { return nil },
}
