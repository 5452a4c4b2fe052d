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
		for i, p := range positions {
			coords[i] = p % l.Size
			positions[i] = p / l.Size
		}
	},
	Check: func(t *Tensor, k int, parents int64) (int64, error) {
		positions, ok := mulSizes(parents, t.levels[k].Size)
		if !ok {
			return 0, levelError(k, "%d parent positions of %d coordinates each are more than 2^63-1 positions", parents, t.levels[k].Size)
		}
		return positions, nil
	},
}
