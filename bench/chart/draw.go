package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// looks are how the sides are drawn: colours that the colour-blind tell apart (Okabe and Ito, Color Universal Design, 2008), and
// shapes for those who see none.
var looks = []struct {
	colour color.RGBA
	shape  draw.GlyphDrawer
}{
	{color.RGBA{0x00, 0x72, 0xb2, 255}, draw.CircleGlyph{}},
	{color.RGBA{0xe6, 0x9f, 0x00, 255}, draw.PyramidGlyph{}},
	{color.RGBA{0x00, 0x9e, 0x73, 255}, draw.BoxGlyph{}},
	{color.RGBA{0xcc, 0x79, 0xa7, 255}, draw.CrossGlyph{}},
	{color.RGBA{0x56, 0xb4, 0xe9, 255}, draw.PlusGlyph{}},
	{color.RGBA{0xd5, 0x5e, 0x00, 255}, draw.RingGlyph{}},
	{color.RGBA{0x33, 0x33, 0x33, 255}, draw.TriangleGlyph{}},
	{color.RGBA{0x99, 0x99, 0x99, 255}, draw.SquareGlyph{}},
}

// Sizes.
const (
	width     = 10.5 * vg.Inch
	rowHeight = 0.3 * vg.Inch
	around    = 1.1 * vg.Inch // for title and axis
	aside     = 2.4 * vg.Inch // for the legend
	margin    = 6
)

// write draws the chart.
func (c *chart) write(path string) error {
	if len(c.sides) > len(looks) {
		return fmt.Errorf("there are %d sides, and only %d shapes", len(c.sides), len(looks))
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s: times, where that of %s is 1", c.title, c.unit)
	p.X.Label.Text = fmt.Sprintf("← faster than %s        slower →", c.unit)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ratioTicks{}
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}} // the first on top
	p.Y.Min, p.Y.Max = -0.6, float64(len(c.rows))-0.4
	var names plot.ConstantTicks
	for i, name := range c.rows {
		names = append(names, plot.Tick{Value: float64(i), Label: name})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width = names, 0, 0
	least, most := 1.0, 1.0
	for _, d := range c.dots {
		least, most = min(least, d.ratio), max(most, d.ratio)
	}
	p.X.Min, p.X.Max = least/1.2, most*1.2
	p.Add(rules{len(c.rows)})
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.ThumbnailWidth, legend.Padding = true, true, 14, 4
	for k, side := range c.sides {
		var points plotter.XYs
		for _, d := range c.dots {
			if d.side == k {
				points = append(points, plotter.XY{X: d.ratio, Y: float64(d.row)})
			}
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: looks[k].colour, Shape: looks[k].shape, Radius: 3.5}
		p.Add(s)
		legend.Add(side, s)
	}
	canvas, err := canvasFor(path, width, rowHeight*vg.Length(len(c.rows))+around)
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	p.Draw(draw.Crop(whole, margin, -aside, margin, -margin))
	legend.Draw(draw.Crop(whole, width-aside+2*margin, 0, 0, -4*margin))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(f)
	return errors.Join(err, f.Close())
}

// canvasFor is one for a kind of picture; of pixels there are twice as many as usual.
func canvasFor(path string, w, h vg.Length) (vg.CanvasWriterTo, error) {
	switch filepath.Ext(path) {
	case ".png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(150))}, nil
	case ".svg":
		return vgsvg.New(w, h), nil
	}
	return nil, fmt.Errorf("%s: the extension must say what picture to write: .png or .svg", path)
}

// ratioTicks are 1, 2 and 5 times powers of ten.
type ratioTicks struct{}

// Ticks implements plot.Ticker.
func (ratioTicks) Ticks(least, most float64) []plot.Tick {
	var list []plot.Tick
	for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
		for _, f := range []float64{1, 2, 5} {
			if v := f * math.Pow(10, e); v >= least && v <= most {
				list = append(list, plot.Tick{Value: v, Label: fmt.Sprintf("%.3g", v)})
			}
		}
	}
	return list
}

// rules are the lines that dots stand on, and the line of 1.
type rules struct{ rows int }

// Plot implements plot.Plotter.
func (r rules) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	pale := draw.LineStyle{Color: color.Gray{0xdd}, Width: vg.Points(0.5)}
	for i := range r.rows {
		c.StrokeLine2(pale, c.Min.X, y(float64(i)), c.Max.X, y(float64(i)))
	}
	c.StrokeLine2(draw.LineStyle{Color: color.Gray{0x55}, Width: vg.Points(1)}, x(1), c.Min.Y, x(1), c.Max.Y)
}
