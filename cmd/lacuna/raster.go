package main

import (
	"math/bits"
	"strings"
)

// raster counts the entries of a matrix that fall into each cell of a grid.
type raster struct {
	rows, columns int
	count         []int64 // row-major
	most          int64
}

// newRaster lays a grid over an m by n matrix, of one cell for each element if
// that makes at most limit rows and columns and of cells as square as can be
// otherwise, and counts the entries at the given coordinates.
func newRaster(row, column []int64, m, n int64, limit int) *raster {
	r := &raster{rows: gridSize(m, max(m, n), limit), columns: gridSize(n, max(m, n), limit)}
	r.count = make([]int64, r.rows*r.columns)
	for e := range row {
		at := cell(row[e], m, r.rows)*r.columns + cell(column[e], n, r.columns)
		r.count[at]++
		r.most = max(r.most, r.count[at])
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

// at is the count of a cell; 0 outside the grid.
func (r *raster) at(row, column int) int64 {
	if row >= r.rows || column >= r.columns {
		return 0
	}
	return r.count[row*r.columns+column]
}

// brailleBits are the dots of a braille character, which has four rows of two,
// as bits of its code point above U+2800 (The Unicode Standard, 21.1).
var brailleBits = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// braille draws the cells that hold entries as dots, in a frame.
func (r *raster) braille() string {
	var b strings.Builder
	width := (r.columns + 1) / 2
	edge := strings.Repeat("─", width)
	b.WriteString("┌" + edge + "┐\n")
	for top := 0; top < r.rows; top += 4 {
		b.WriteString("│")
		for left := 0; left < r.columns; left += 2 {
			dots := rune(0x2800)
			for i, line := range brailleBits {
				for j, bit := range line {
					if r.at(top+i, left+j) > 0 {
						dots |= bit
					}
				}
			}
			b.WriteRune(dots)
		}
		b.WriteString("│\n")
	}
	b.WriteString("└" + edge + "┘\n")
	return b.String()
}
