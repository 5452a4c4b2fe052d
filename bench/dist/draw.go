//go:build linux && (amd64 || arm64)

package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// looks are colours that the colour-blind tell apart (Okabe and Ito, Color Universal Design, 2008), and shapes.
var looks = []vgdraw.GlyphStyle{
	{Color: color.RGBA{0x00, 0x72, 0xb2, 255}, Shape: vgdraw.CircleGlyph{}, Radius: 3},
	{Color: color.RGBA{0xe6, 0x9f, 0x00, 255}, Shape: vgdraw.PyramidGlyph{}, Radius: 3},
	{Color: color.RGBA{0x00, 0x9e, 0x73, 255}, Shape: vgdraw.BoxGlyph{}, Radius: 3},
}

// draw draws a panel for each product: speed-up by ranks, and a line where both are the same.
func draw(path string, panels [][]curve) error {
	plots := make([][]*plot.Plot, 2)
	for k, curves := range panels {
		p := plot.New()
		p.Title.Text, p.X.Label.Text, p.Y.Label.Text = expressions[k].name, "ranks", "speed-up"
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		var ticks plot.ConstantTicks
		for n := 1; n <= 1024; n *= 4 {
			ticks = append(ticks, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
		}
		p.X.Tick.Marker, p.Y.Tick.Marker = ticks, ticks
		ideal, err := plotter.NewLine(plotter.XYs{{X: 1, Y: 1}, {X: 1024, Y: 1024}})
		if err != nil {
			return err
		}
		ideal.Color = color.Gray{0xbb}
		p.Add(ideal)
		for i, c := range curves {
			points := plotter.XYs{}
			for _, x := range c.points {
				if x.best {
					points = append(points, plotter.XY{X: float64(x.ranks), Y: x.speedup})
				}
			}
			line, dots, err := plotter.NewLinePoints(points)
			if err != nil {
				return err
			}
			line.Color, dots.GlyphStyle = looks[i].Color, looks[i]
			p.Add(line, dots)
			p.Legend.Add(c.matrix, line, dots)
		}
		p.Legend.Top, p.Legend.Left = true, true
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, 1100, 1, 1100
		plots[k/2] = append(plots[k/2], p)
	}
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(9*vg.Inch, 8*vg.Inch), vgimg.UseDPI(120))}
	whole := vgdraw.New(canvas)
	tiles := vgdraw.Tiles{Rows: 2, Cols: 2, PadX: 12, PadY: 12, PadTop: 6, PadBottom: 6, PadLeft: 6, PadRight: 6}
	for r, row := range plot.Align(plots, tiles, whole) {
		for c, tile := range row {
			plots[r][c].Draw(tile)
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("the chart: %w", err)
	}
	_, err = canvas.WriteTo(f)
	return errors.Join(err, f.Close())
}
