package main

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spyKinds are the kinds of picture that can be written.
var spyKinds = []string{"png", "svg", "pdf", "jpg", "tiff"}

// Sizes of the picture.
const (
	spyCells = 288           // along the longest side: two pixels each, so that single ones show
	spySide  = 6 * vg.Inch   // of the longest side of the matrix
	spyLeast = 1.5 * vg.Inch // of the shortest
	spyFrame = 1 * vg.Inch   // for title, axes and labels
)

// spyKind is the kind of picture that a path asks for.
func spyKind(path string) (string, error) {
	kind := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if !slices.Contains(spyKinds, kind) {
		return "", usagef("--spy %s: the extension must say what picture to write: .%s", path, strings.Join(spyKinds, ", ."))
	}
	return kind, nil
}

// writeSpy writes a picture of where the entries of an m by n matrix stand:
// the darker a cell, the more of its elements are stored, on a scale of
// logarithms.
func writeSpy(path, title string, row, column []int64, m, n int64) error {
	kind, err := spyKind(path)
	if err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text = title
	p.X.Tick.Marker, p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	p.X.Label.Text, p.Y.Label.Text = "column", "row"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(max(n, 1)), 0, float64(max(m, 1))
	p.X.Padding, p.Y.Padding = 0, 0
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}} // row 0 on top
	if m > 0 && n > 0 {
		p.Add(&spyPlot{newRaster(row, column, m, n, spyCells).picture(), float64(m), float64(n)})
	}
	longest := float64(max(m, n, 1))
	side := func(n int64) vg.Length { return max(spyLeast, spySide*vg.Length(float64(n)/longest)) + spyFrame }
	w, err := p.WriterTo(side(n), side(m), kind)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", path, err)
	}
	return replaceFile(path, 0o644, func(f *os.File) error {
		_, err := w.WriteTo(f)
		return err
	})
}

// spyPlot draws a picture over the axes. (plotter.Image does not know that the
// vertical one points down.)
type spyPlot struct {
	picture       image.Image
	rows, columns float64
}

// Plot implements plot.Plotter.
func (s *spyPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: x(0), Y: y(s.rows)}, Max: vg.Point{X: x(s.columns), Y: y(0)}}, s.picture)
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
			t.Label = formatCount(int64(t.Value))
		}
		list = append(list, t)
	}
	return list
}

// The colours of an empty cell, of one with a single entry, and of the fullest.
var (
	emptyCell = color.RGBA{255, 255, 255, 255}
	paleCell  = color.RGBA{130, 160, 215, 255}
	fullCell  = color.RGBA{8, 24, 88, 255}
)

// picture is the raster as an image of one pixel for each cell, or of blocks
// where cells are few: pictures are scaled smoothly and would blur.
func (r *raster) picture() image.Image {
	zoom := max(1, spyCells/max(r.rows, r.columns))
	img := image.NewRGBA(image.Rect(0, 0, r.columns*zoom, r.rows*zoom))
	for y := range r.rows * zoom {
		for x := range r.columns * zoom {
			img.SetRGBA(x, y, r.shade(r.at(y/zoom, x/zoom)))
		}
	}
	return img
}

// shade is the colour of a cell with so many entries.
func (r *raster) shade(count int64) color.RGBA {
	if count == 0 {
		return emptyCell
	}
	f := 1.0
	if r.most > 1 {
		f = math.Log(float64(count)) / math.Log(float64(r.most))
	}
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	return color.RGBA{mix(paleCell.R, fullCell.R), mix(paleCell.G, fullCell.G), mix(paleCell.B, fullCell.B), 255}
}

// replaceFile writes a file that is complete or untouched: beside it first, then
// renamed over it.
func replaceFile(path string, mode os.FileMode, emit func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // after the first error no other is worth reporting
			os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := emit(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
