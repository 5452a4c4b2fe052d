package spyplot

import (
	"image"
	"math"
	"math/bits"
	"strings"
)

// View is what a plot shows of a tensor: two of its axes, seen along the others.
type View struct {
	row, column []int64 // of the entries
	m, n        int64   // the extents
	depth       float64 // how many elements stand behind each of m by n
}

// Of is the view of the first two axes of a tensor, or of a vector as one row.
func Of(shape []int64, coords [][]int64) View {
	if len(shape) == 1 {
		return View{make([]int64, len(coords[0])), coords[0], 1, shape[0], 1}
	}
	depth := 1.0
	for _, n := range shape[2:] {
		depth *= float64(n)
	}
	return View{coords[0], coords[1], shape[0], shape[1], depth}
}

// Empty reports whether there is no element to see.
func (v View) Empty() bool { return v.m == 0 || v.n == 0 }

// Text draws a view for a terminal, with at most limit dots along its longest side, two to a character and four to a line.
func Text(v View, limit int) string { return newRaster(v, limit).text() }

// raster counts the entries of a view that fall into each cell of a grid.
type raster struct {
	rows, columns int
	count         []int64   // row-major
	height, width []float64 // how many rows and columns there are in those of the grid
	depth         float64
}

// newRaster lays a grid over an m by n matrix, of one cell for each element if
// that makes at most limit rows and columns and of cells as square as can be
// otherwise, and counts the entries.
func newRaster(v View, limit int) *raster {
	longest := max(v.m, v.n)
	r := &raster{rows: gridSize(v.m, longest, limit), columns: gridSize(v.n, longest, limit), depth: v.depth}
	r.count = make([]int64, r.rows*r.columns)
	r.height, r.width = cellSizes(v.m, r.rows), cellSizes(v.n, r.columns)
	for e := range v.row {
		r.count[cell(v.row[e], v.m, r.rows)*r.columns+cell(v.column[e], v.n, r.columns)]++
	}
	return r
}

// gridSize is the number of cells along a side of n of a matrix whose longest
// side gets limit.
func gridSize(n, longest int64, limit int) int {
	if longest <= int64(limit) {
		return int(n)
	}
	return max(min(1, int(min(n, 1))), cell(n, longest+1, limit+1))
}

// cell is floor(c*cells/n) for 0 <= c < n, in 128 bits.
func cell(c, n int64, cells int) int {
	hi, lo := bits.Mul64(uint64(c), uint64(cells))
	q, _ := bits.Div64(hi, lo, uint64(n))
	return int(q)
}

// cellSizes is how many of n coordinates each cell has: cell k begins at ceil(k*n/cells).
func cellSizes(n int64, cells int) []float64 {
	list := make([]float64, cells)
	last := uint64(0)
	for k := range cells {
		hi, lo := bits.Mul64(uint64(k+1), uint64(n))
		lo, carry := bits.Add64(lo, uint64(cells)-1, 0)
		next, _ := bits.Div64(hi+carry, lo, uint64(cells))
		list[k], last = float64(next-last), next
	}
	return list
}

// at is the count of a cell; 0 outside the grid.
func (r *raster) at(row, column int) int64 {
	if row >= r.rows || column >= r.columns {
		return 0
	}
	return r.count[row*r.columns+column]
}

// empty reports whether the grid has no cell.
func (r *raster) empty() bool { return len(r.count) == 0 }

// density is how much of a cell is stored.
func (r *raster) density(row, column int) float64 {
	return min(1, float64(r.at(row, column))/(r.height[row]*r.width[column]*r.depth))
}

// densities are those of all cells.
func (r *raster) densities() []float64 {
	list := make([]float64, 0, len(r.count))
	for row := range r.rows {
		for column := range r.columns {
			list = append(list, r.density(row, column))
		}
	}
	return list
}

// scale is that of the densities. Where all are much the same they stand in its middle: 5 % everywhere is not black.
func (r *raster) scale() scale {
	s := newScale(r.densities())
	if !s.log {
		s.most = min(1, max(s.most, 2*s.middle))
	}
	return s
}

// graded reports whether cells differ in more than whether they are stored.
func (r *raster) graded() bool {
	for _, v := range r.densities() {
		if v > 0 && v < 1 {
			return true
		}
	}
	return false
}

// byRow is the mean number of entries of the rows of each row of the grid.
func (r *raster) byRow() []float64 {
	list := make([]float64, r.rows)
	for i := range r.rows {
		for j := range r.columns {
			list[i] += float64(r.at(i, j)) / r.height[i]
		}
	}
	return list
}

// byColumn is byRow for columns.
func (r *raster) byColumn() []float64 {
	list := make([]float64, r.columns)
	for i := range r.rows {
		for j := range r.columns {
			list[j] += float64(r.at(i, j)) / r.width[j]
		}
	}
	return list
}

// picture is the raster as an image of one pixel for each cell, or of blocks
// where cells are few: pictures are scaled smoothly and would blur.
func (r *raster) picture() image.Image {
	s := r.scale()
	zoom := max(1, plotCells/max(r.rows, r.columns))
	img := image.NewRGBA(image.Rect(0, 0, r.columns*zoom, r.rows*zoom))
	for y := range r.rows * zoom {
		for x := range r.columns * zoom {
			color := emptyCell
			if v := r.density(y/zoom, x/zoom); v > 0 {
				color = shade(s.at(v))
			}
			img.SetRGBA(x, y, color)
		}
	}
	return img
}

// text draws the raster on a terminal, in a frame: as dots, which show the most; or where most dots would be regions that hold
// something, and a picture of them nearly black, as shades by density, with what they mean under it.
func (r *raster) text() string {
	if !r.graded() || !r.crowded() {
		return framed(r.braille())
	}
	coarse := r.characters()
	s := coarse.scale()
	legend := " "
	for k, c := range shades {
		legend += " " + string(c) + " to " + formatDensity(s.value(float64(k+1)/float64(len(shades))))
	}
	return framed(coarse.shades(s)) + legend + "\n"
}

// Each character shows four rows of two cells.
const charRows, charColumns = 4, 2

// brailleBits are the dots of a braille character, as bits of its code point above U+2800 (The Unicode Standard, 21.1).
var brailleBits = [charRows][charColumns]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// shades are the characters for densities, least first.
var shades = []rune("░▒▓█")

// braille draws the cells that hold entries as dots.
func (r *raster) braille() []string {
	var lines []string
	for top := 0; top < r.rows; top += charRows {
		var b strings.Builder
		for left := 0; left < r.columns; left += charColumns {
			b.WriteRune(0x2800 + r.dots(top, left))
		}
		lines = append(lines, b.String())
	}
	return lines
}

// dots are the dots of the character whose first cell is given.
func (r *raster) dots(top, left int) rune {
	var dots rune
	for i, line := range brailleBits {
		for j, bit := range line {
			if r.at(top+i, left+j) > 0 {
				dots |= bit
			}
		}
	}
	return dots
}

// crowded reports whether most dots are set in the characters that have any.
func (r *raster) crowded() bool {
	set, all := 0, 0
	for top := 0; top < r.rows; top += charRows {
		for left := 0; left < r.columns; left += charColumns {
			if dots := r.dots(top, left); dots != 0 {
				set += bits.OnesCount32(uint32(dots))
				all += min(charRows, r.rows-top) * min(charColumns, r.columns-left)
			}
		}
	}
	return 2*set > all
}

// characters is the raster with one cell for each character.
func (r *raster) characters() *raster {
	c := &raster{rows: (r.rows + charRows - 1) / charRows, columns: (r.columns + charColumns - 1) / charColumns, depth: r.depth}
	c.count, c.height, c.width = make([]int64, c.rows*c.columns), make([]float64, c.rows), make([]float64, c.columns)
	for i, h := range r.height {
		c.height[i/charRows] += h
	}
	for j, w := range r.width {
		c.width[j/charColumns] += w
	}
	for i := range r.rows {
		for j := range r.columns {
			c.count[i/charRows*c.columns+j/charColumns] += r.at(i, j)
		}
	}
	return c
}

// shades draws each cell as a shade.
func (r *raster) shades(s scale) []string {
	var lines []string
	for i := range r.rows {
		var b strings.Builder
		for j := range r.columns {
			c := ' '
			if v := r.density(i, j); v > 0 {
				c = shades[min(len(shades)-1, max(0, int(math.Ceil(s.at(v)*float64(len(shades))))-1))]
			}
			b.WriteRune(c)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// framed puts a frame around lines of one width.
func framed(lines []string) string {
	width := 0
	if len(lines) > 0 {
		width = len([]rune(lines[0]))
	}
	edge := strings.Repeat("─", width)
	var b strings.Builder
	b.WriteString("┌" + edge + "┐\n")
	for _, line := range lines {
		b.WriteString("│" + line + "│\n")
	}
	b.WriteString("└" + edge + "┘\n")
	return b.String()
}
