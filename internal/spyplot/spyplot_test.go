package spyplot

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// dots is how many a terminal shows along the longest side.
const dots = 96

// pictured draws a view and reads the picture back.
func pictured(t *testing.T, v View) image.Image {
	t.Helper()
	var data bytes.Buffer
	if err := Write(&data, "png", "title\nsecond line", v); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&data)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// grays are the darkest and the lightest gray of a part of a picture, in parts of its width and height.
func grays(img image.Image, x0, x1, y0, y1 float64) (least, most uint8) {
	b := img.Bounds()
	least = 255
	for y := int(y0 * float64(b.Dy())); y < int(y1*float64(b.Dy())); y++ {
		for x := int(x0 * float64(b.Dx())); x < int(x1*float64(b.Dx())); x++ {
			g := color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y
			least, most = min(least, g), max(most, g)
		}
	}
	return least, most
}

// uniform is a view of a random matrix.
func uniform(m, n int64, density float64) View {
	v := View{m: m, n: n, depth: 1}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m {
		for j := range n {
			if r.Float64() < density {
				v.row, v.column = append(v.row, i), append(v.column, j)
			}
		}
	}
	return v
}

// TestPlotIsTheRightWayUp: row 0 is on top, and what is stored is dark.
func TestPlotIsTheRightWayUp(t *testing.T) {
	v := View{m: 20, n: 20, depth: 1}
	for i := range int64(20) { // the upper right half
		for j := i; j < 20; j++ {
			v.row, v.column = append(v.row, i), append(v.column, j)
		}
	}
	img := pictured(t, v)
	if _, most := grays(img, 0.6, 0.75, 0.33, 0.4); most > 100 {
		t.Errorf("the upper right is not dark: %d", most)
	}
	if least, _ := grays(img, 0.15, 0.3, 0.7, 0.8); least < 250 {
		t.Errorf("the lower left is not empty: %d", least)
	}
}

// TestPlotOfFivePercentIsNoBlock: where every region of the picture holds something, its shades tell how much.
func TestPlotOfFivePercentIsNoBlock(t *testing.T) {
	v := uniform(1000, 1000, 0.02)
	for i := range v.row { // the lower half gets more
		if v.row[i] >= 500 {
			v.row, v.column = append(v.row, v.row[i]), append(v.column, (v.column[i]+1)%1000)
		}
	}
	r := newRaster(v, plotCells)
	img := r.picture()
	mean := func(y0, y1 int) (sum float64) {
		b := img.Bounds()
		for y := y0; y < y1; y++ {
			for x := range b.Dx() {
				sum += float64(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y)
			}
		}
		return sum / float64(b.Dx()*(y1-y0))
	}
	top, bottom := mean(0, 140), mean(148, 288)
	if 255-bottom < 1.3*(255-top) || bottom > 245 || bottom < 50 {
		t.Errorf("luminance %.0f on top and %.0f below, where twice as much is stored", top, bottom)
	}
}

// TestPlotsOfOddShapes draws what has no picture, or hardly one.
func TestPlotsOfOddShapes(t *testing.T) {
	line := func(m, n int64) View {
		v := View{m: m, n: n, depth: 1}
		for i := range max(m, n) {
			v.row, v.column = append(v.row, i%m), append(v.column, i%n)
		}
		return v
	}
	for name, v := range map[string]View{
		"nothing":          {depth: 1},
		"no rows":          {m: 0, n: 5, depth: 1},
		"no columns":       {m: 1 << 40, n: 0, depth: 1},
		"no entries":       {m: 1000, n: 1000, depth: 1},
		"one element":      line(1, 1),
		"one row":          line(1, 5000),
		"one column":       line(5000, 1),
		"a tall matrix":    line(4000, 3),
		"no depth":         {m: 3, n: 4, depth: 0},
		"rank 3":           {[]int64{0, 0, 1}, []int64{1, 1, 2}, 3, 4, 10},
		"the largest":      {[]int64{0, math.MaxInt64 - 2}, []int64{0, math.MaxInt64 - 2}, math.MaxInt64 - 1, math.MaxInt64 - 1, 1},
		"larger than that": {[]int64{0, 5}, []int64{0, 5}, math.MaxInt64 - 1, 6, 1e300},
	} {
		t.Run(name, func(t *testing.T) {
			b := pictured(t, v).Bounds()
			if b.Dx() < 150 || b.Dy() < 150 || b.Dx() > 1500 || b.Dy() > 1500 {
				t.Errorf("the picture is %v", b)
			}
			newRaster(v, dots).text()
		})
	}
}

// TestVectorPictures: what shows an SVG keeps the proportions of a picture in it, which so must be those of its place: of a matrix that is drawn
// higher than it is, and of the colours' scale.
func TestVectorPictures(t *testing.T) {
	v := uniform(10, 2000, 0.1)
	var data bytes.Buffer
	if err := Write(&data, "svg", "title", v); err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, tag := range strings.Split(data.String(), "<image ")[1:] {
		var x, y, width, height float64
		if _, err := fmt.Sscanf(tag, `x="%g" y="%g" width="%g" height="%g"`, &x, &y, &width, &height); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(tag, "base64,")
		text, _, _ = strings.Cut(text, `"`)
		c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := float64(c.Width)/float64(c.Height), width/height; math.Abs(got/want-1) > 0.01 {
			t.Errorf("a picture of %dx%d in a place of %gx%g", c.Width, c.Height, width, height)
		}
		pictures++
	}
	if pictures != 2 {
		t.Errorf("%d pictures", pictures)
	}
}

// TestDensities of regions that are not all of one size.
func TestDensities(t *testing.T) {
	v := uniform(10, 7, 1)
	r := newRaster(v, 4) // rows of 3, 2, 3, 2; columns of 3, 2, 2
	if r.rows != 4 || r.columns != 3 {
		t.Fatalf("%d by %d cells", r.rows, r.columns)
	}
	for i := range r.rows {
		for j := range r.columns {
			if d := r.density(i, j); d != 1 {
				t.Errorf("cell %d,%d of a full matrix has density %g", i, j, d)
			}
		}
	}
	for _, n := range r.byRow() {
		if n != 7 {
			t.Errorf("rows of a full matrix have %g entries", n)
		}
	}
	for _, n := range r.byColumn() {
		if n != 10 {
			t.Errorf("columns of a full matrix have %g entries", n)
		}
	}
	if r.graded() {
		t.Error("a full matrix has shades")
	}
}

func TestScale(t *testing.T) {
	s := newScale([]float64{0, 0.1, 0.2, 0.4})
	if s.log || s.at(0.2) != 0.5 || s.value(0.5) != 0.2 {
		t.Errorf("%+v", s)
	}
	s = newScale([]float64{0.001, 0.001, 0.001, 0.1})
	if !s.log || math.Abs(s.at(0.01)-0.5) > 1e-12 || math.Abs(s.value(0.5)-0.01) > 1e-12 || s.at(0.001) != 0 || s.at(0.1) != 1 {
		t.Errorf("%+v", s)
	}
	if s = newScale([]float64{0, 0}); s.at(1) != 1 || s.log {
		t.Errorf("of nothing: %+v", s)
	}
	if s = newScale([]float64{0.3}); s.at(0.3) != 1 {
		t.Errorf("of one value: %+v", s)
	}
	// The darker, the more: also for who sees no colours.
	last := 255.0
	for k := range 101 {
		c := shade(float64(k) / 100)
		y := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if y >= last {
			t.Errorf("at %d %% the scale is not darker than before", k)
		}
		last = y
	}
}

// TestShadesOnTheTerminal: dots for patterns, shades for what would be a block of dots.
func TestShadesOnTheTerminal(t *testing.T) {
	text := newRaster(uniform(960, 960, 0.05), dots).text()
	if !strings.ContainsAny(text, "▒▓") || strings.Count(text, "█") > 100 || !strings.Contains(text, "█ to 10") || strings.Count(text, "\n") != 27 {
		t.Errorf("5 %% are drawn as\n%s", text)
	}
	diagonal := View{m: 960, n: 960, depth: 1}
	for i := range int64(960) {
		diagonal.row, diagonal.column = append(diagonal.row, i), append(diagonal.column, i)
	}
	if text := newRaster(diagonal, dots).text(); strings.Count(text, "⠑⢄")+strings.Count(text, "⢄") == 0 || strings.Contains(text, "░") {
		t.Errorf("a diagonal is drawn as\n%s", text)
	}
}

func TestBraille(t *testing.T) {
	// A diagonal with a full last column: every dot of the two characters is
	// told apart.
	var row, column []int64
	for i := range int64(4) {
		row, column = append(row, i, i), append(column, i, 3)
	}
	want := "┌──┐\n│⠑⢼│\n└──┘\n"
	if got := newRaster(View{row, column, 4, 4, 1}, dots).text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := newRaster(View{depth: 1}, dots).text(); got != "┌┐\n└┘\n" {
		t.Errorf("an empty matrix is drawn as\n%s", got)
	}
}

func TestRasterScales(t *testing.T) {
	tests := []struct {
		m, n          int64
		rows, columns int
	}{
		{3, 5, 3, 5},
		{96, 96, 96, 96},
		{97, 97, 96, 96},
		{1000, 500, 96, 48},
		{1 << 40, 1, 96, 1},
		{1, math.MaxInt64 - 1, 1, 96},
		{math.MaxInt64 - 1, math.MaxInt64 - 1, 96, 96},
		{0, 1000, 0, 96},
	}
	for _, test := range tests {
		var row, column []int64
		if test.m > 0 && test.n > 0 { // both corners must be inside
			row, column = []int64{0, test.m - 1}, []int64{0, test.n - 1}
		}
		r := newRaster(View{row, column, test.m, test.n, 1}, 96)
		if r.rows != test.rows || r.columns != test.columns {
			t.Errorf("%d by %d becomes %d by %d, want %d by %d", test.m, test.n, r.rows, r.columns, test.rows, test.columns)
		}
		if len(row) > 0 && (r.at(0, 0) == 0 || r.at(r.rows-1, r.columns-1) == 0) {
			t.Errorf("%d by %d: a corner is not marked", test.m, test.n)
		}
	}
}
