package spyplot

import (
	"fmt"
	"image"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// Kinds are the kinds of picture that can be written.
var Kinds = []string{"png", "svg", "pdf", "jpg", "tiff"}

// Sizes of the picture.
const (
	plotCells = 288            // along the longest side: two pixels each, so that single ones show
	plotSide  = 6 * vg.Inch    // of the longest side of the matrix
	plotLeast = 1.5 * vg.Inch  // of the shortest
	plotBars  = 0.9 * vg.Inch  // of the histograms, away from the matrix
	plotFrame = 0.9 * vg.Inch  // for axes and labels, left of the matrix
	plotTitle = 0.75 * vg.Inch // for the title
	plotScale = vg.Length(11)  // of the colour bar
	plotBelow = 0.65 * vg.Inch // for the axes under the matrix, and under the colour bar
	plotGap   = 0.1 * vg.Inch
)

// Kind is the kind of picture that a path asks for by its extension: false for none of [Kinds].
func Kind(path string) (kind string, ok bool) {
	kind = strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	return kind, slices.Contains(Kinds, kind)
}

// Write writes a picture of a view: the density of each region in colour, with the scale under it, and how many
// entries rows and columns have beside it.
func Write(to io.Writer, kind, title string, v View) error {
	longest := float64(max(v.m, v.n, 1))
	side := func(n int64) vg.Length { return max(plotLeast, plotSide*vg.Length(float64(n)/longest)) }
	r := newRaster(v, plotCells)
	top, right := histogram(r.byColumn()), histogram(r.byRow())
	matrix := vg.Rectangle{Min: vg.Point{X: plotFrame, Y: plotBelow}}
	if r.graded() {
		matrix.Min.Y += plotScale + plotBelow
	}
	matrix.Max = vg.Point{X: matrix.Min.X + side(v.n), Y: matrix.Min.Y + side(v.m)}
	width, height := matrix.Max.X+3*plotGap, matrix.Max.Y+plotTitle
	if top != nil {
		height += plotBars + plotGap
	}
	if right != nil {
		width += plotBars + plotGap
	}
	canvas, err := draw.NewFormattedCanvas(width, height, kind)
	if err != nil {
		return fmt.Errorf("drawing: %w", err)
	}
	c := draw.New(canvas)
	c.Push()
	c.SetColor(emptyCell)
	c.Fill(c.Rectangle.Path())
	c.Pop()
	p := newPlot()
	p.X.Label.Text, p.Y.Label.Text = "column", "row"
	p.X.Tick.Marker, p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	p.X.Max, p.Y.Max = float64(max(v.n, 1)), float64(max(v.m, 1))
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}} // row 0 on top
	if !r.empty() {
		p.Add(&imagePlot{r.picture(), float64(v.n), float64(v.m)})
	}
	drawAt(c, p, matrix)
	head := matrix.Max.Y
	if top != nil {
		head += plotGap
		drawAt(c, barPlot(top, false), vg.Rectangle{Min: vg.Point{X: matrix.Min.X, Y: head}, Max: vg.Point{X: matrix.Max.X, Y: head + plotBars}})
		head += plotBars
	}
	if right != nil {
		x := matrix.Max.X + plotGap
		drawAt(c, barPlot(right, true), vg.Rectangle{Min: vg.Point{X: x, Y: matrix.Min.Y}, Max: vg.Point{X: x + plotBars, Y: matrix.Max.Y}})
	}
	if r.graded() {
		drawAt(c, scalePlot(r.scale()), vg.Rectangle{Min: vg.Point{X: matrix.Min.X, Y: plotBelow}, Max: vg.Point{X: matrix.Max.X, Y: plotBelow + plotScale}})
	}
	style := p.Title.TextStyle
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	c.FillText(style, vg.Point{X: plotGap, Y: head + 2*plotGap}, title)
	_, err = canvas.WriteTo(to)
	return err
}

// newPlot is a plot without padding, from 0.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Min, p.Y.Min, p.X.Padding, p.Y.Padding = 0, 0, 0, 0
	return p
}

// drawAt draws a plot such that its data fill a rectangle: what stands around them is outside.
func drawAt(c draw.Canvas, p *plot.Plot, data vg.Rectangle) {
	at := draw.Canvas{Canvas: c.Canvas, Rectangle: data}
	inner := p.DataCanvas(at) // what the data would get if axes and labels were in data too
	at.Min, at.Max = at.Min.Sub(inner.Min.Sub(data.Min)), at.Max.Add(data.Max.Sub(inner.Max))
	p.Draw(at)
}

// imagePlot draws a picture over the axes. (plotter.Image does not know that the
// vertical one may point down.)
type imagePlot struct {
	picture       image.Image
	width, height float64
}

// Plot implements plot.Plotter.
func (s *imagePlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	y0, y1 := y(0), y(s.height)
	to := vg.Rectangle{Min: vg.Point{X: x(0), Y: min(y0, y1)}, Max: vg.Point{X: x(s.width), Y: max(y0, y1)}}
	c.DrawImage(to, stretched(s.picture, to.Size()))
}

// stretched is a picture with the proportions of what it is to fill: who draws an SVG keeps those that it has, and smooths between few points.
func stretched(picture image.Image, size vg.Point) image.Image {
	const perPoint = 2 // pixels
	from := picture.Bounds()
	to := image.NewRGBA(image.Rect(0, 0, max(1, int(math.Round(perPoint*size.X.Points()))), max(1, int(math.Round(perPoint*size.Y.Points())))))
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			to.Set(x, y, picture.At(from.Min.X+x*from.Dx()/to.Rect.Dx(), from.Min.Y+y*from.Dy()/to.Rect.Dy()))
		}
	}
	return to
}

// wholeTicks are the usual ticks but those between whole numbers.
type wholeTicks struct{}

// Ticks implements plot.Ticker.
func (wholeTicks) Ticks(least, most float64) []plot.Tick {
	var list []plot.Tick
	for _, t := range (plot.DefaultTicks{}).Ticks(least, most) {
		if t.Value != math.Trunc(t.Value) {
			continue
		}
		if t.Label != "" {
			t.Label = units.FormatCount(int64(t.Value))
		}
		list = append(list, t)
	}
	return list
}

// bars is a histogram: how many entries the rows of each band have on average.
type bars struct {
	height []float64
	most   float64
	scale  scale
}

// histogram is nil where one bar would say nothing.
func histogram(height []float64) *bars {
	if len(height) < 2 {
		return nil
	}
	b := &bars{height: height, most: slices.Max(height)}
	if b.most == 0 {
		return nil
	}
	b.scale = newScale(height)
	return b
}

// share is how long a bar is, of the longest: on a scale of logarithms the shortest has a tenth.
func (b *bars) share(v float64) float64 {
	switch {
	case v == 0:
		return 0
	case b.scale.log:
		return 0.1 + 0.9*b.scale.at(v)
	}
	return v / b.most
}

// barPlot draws a histogram above the columns of the matrix, or at the side of its rows.
func barPlot(b *bars, side bool) *plot.Plot {
	p := newPlot()
	along, across, what := &p.X, &p.Y, "column"
	if side {
		along, across, what = &p.Y, &p.X, "row"
		p.HideY()
		p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	} else {
		p.HideX()
	}
	along.Max, across.Max = float64(len(b.height)), 1
	across.Tick.Marker = plot.ConstantTicks{{Value: 0}, {Value: 1, Label: formatMean(b.most)}}
	across.Label.Text = "entries a\n" + what
	if b.scale.log {
		across.Label.Text += ", log"
	}
	p.Add(barPlotter{b, side})
	return p
}

// barPlotter draws the bars.
type barPlotter struct {
	*bars
	side bool
}

// Plot implements plot.Plotter.
func (b barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(along, across float64) vg.Point {
		if b.side {
			return vg.Point{X: x(across), Y: y(along)}
		}
		return vg.Point{X: x(along), Y: y(across)}
	}
	var outline vg.Path // one for all: between bars there would be pale lines
	outline.Move(at(0, 0))
	for i, v := range b.height {
		outline.Line(at(float64(i), b.share(v)))
		outline.Line(at(float64(i+1), b.share(v)))
	}
	outline.Line(at(float64(len(b.height)), 0))
	outline.Close()
	c.SetColor(barColor)
	c.Fill(outline)
}

// scalePlot draws the colours of densities.
func scalePlot(s scale) *plot.Plot {
	p := newPlot()
	p.HideY()
	p.X.Max, p.Y.Max = 1, 1
	p.X.Tick.Marker = s.ticks()
	p.X.Label.Text = "density: how much of a region is stored"
	if s.log {
		p.X.Label.Text += " (logarithmic)"
	}
	const steps = 256
	img := image.NewRGBA(image.Rect(0, 0, steps, 1))
	for i := range steps {
		img.SetRGBA(i, 0, shade((float64(i)+0.5)/steps))
	}
	p.Add(&imagePlot{img, 1, 1})
	return p
}

// ticks are five densities along the scale, or the powers of ten between its ends.
func (s scale) ticks() plot.ConstantTicks {
	list := plot.ConstantTicks{{Value: 0, Label: formatDensity(s.value(0))}, {Value: 1, Label: formatDensity(s.most)}}
	if !s.log {
		for _, f := range []float64{0.25, 0.5, 0.75} {
			list = append(list, plot.Tick{Value: f, Label: formatDensity(s.value(f))})
		}
		return list
	}
	for e := math.Ceil(math.Log10(s.least)); e < math.Log10(s.most); e++ {
		v := math.Pow(10, e)
		t := plot.Tick{Value: s.at(v)}
		if t.Value > 0.08 && t.Value < 0.92 { // labels of the ends stand there
			t.Label = formatDensity(v)
		}
		list = append(list, t)
	}
	return list
}

// formatDensity writes a share of 1.
func formatDensity(v float64) string { return fmt.Sprintf("%.3g%%", 100*v) }

// formatMean writes a mean number of entries.
func formatMean(v float64) string {
	if v >= 100 && v < 1e15 {
		return units.FormatCount(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.3g", v)
}
