package spyplot

import (
	"image/color"
	"math"
	"slices"
)

// scale takes positive values to [0,1]: in proportion, or by their logarithms where a few are far larger than most.
type scale struct {
	least, middle, most float64 // middle is the median
	log                 bool
}

// skew is how many times the median the largest value must be for a scale of logarithms.
const skew = 20

// newScale is the scale of the values that are not 0.
func newScale(values []float64) scale {
	var some []float64
	for _, v := range values {
		if v > 0 {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return scale{most: 1}
	}
	slices.Sort(some)
	s := scale{least: some[0], middle: some[len(some)/2], most: some[len(some)-1]}
	s.log = s.most >= skew*s.middle
	return s
}

// at is where a value stands.
func (s scale) at(v float64) float64 {
	if !s.log {
		return v / s.most
	}
	return min(1, max(0, math.Log(v/s.least)/math.Log(s.most/s.least)))
}

// value is the inverse of at.
func (s scale) value(at float64) float64 {
	if !s.log {
		return at * s.most
	}
	return s.least * math.Pow(s.most/s.least, at)
}

// ramp are the darker colours of YlGnBu (Cynthia Brewer, colorbrewer2.org): the darker, the more. Lightness alone tells them
// apart, so the colour-blind and a printer without colours do too.
var ramp = []color.RGBA{
	{0x7f, 0xcd, 0xbb, 255}, {0x41, 0xb6, 0xc4, 255}, {0x1d, 0x91, 0xc0, 255},
	{0x22, 0x5e, 0xa8, 255}, {0x25, 0x34, 0x94, 255}, {0x08, 0x1d, 0x58, 255},
}

// The colours of empty cells and of the histograms' bars.
var (
	emptyCell = color.RGBA{255, 255, 255, 255}
	barColor  = color.RGBA{0x22, 0x5e, 0xa8, 255}
)

// shade is the colour of a place on the scale.
func shade(at float64) color.RGBA {
	x := at * float64(len(ramp)-1)
	k := min(max(int(x), 0), len(ramp)-2)
	f := x - float64(k)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	a, b := ramp[k], ramp[k+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
