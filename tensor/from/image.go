package from

import (
	"image"
	"image/color"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Image makes a dense tensor of an image, rows first: of u8 or u16, as many bits as the image has; of shape height × width if
// it is gray, else height × width × 4 for red, green, blue and alpha, not premultiplied. The pixels of an *image.Gray and an
// *image.NRGBA whose rows are adjacent are shared.
func Image(img image.Image) (*tensor.Tensor, error) {
	r := img.Bounds()
	h, w := r.Dy(), r.Dx()
	switch img := img.(type) {
	case *image.Gray:
		if img.Stride == w && h > 0 {
			return tensor.NewDense(img.Pix[:h*w], int64(h), int64(w))
		}
	case *image.NRGBA:
		if img.Stride == 4*w && h > 0 {
			return tensor.NewDense(img.Pix[:4*h*w], int64(h), int64(w), 4)
		}
	}
	switch img.ColorModel() {
	case color.GrayModel:
		return pixels(img, func(c color.Color) []uint8 { return []uint8{color.GrayModel.Convert(c).(color.Gray).Y} }, int64(h), int64(w))
	case color.Gray16Model:
		return pixels(img, func(c color.Color) []uint16 { return []uint16{color.Gray16Model.Convert(c).(color.Gray16).Y} }, int64(h), int64(w))
	case color.RGBA64Model, color.NRGBA64Model:
		return pixels(img, func(c color.Color) []uint16 {
			p := color.NRGBA64Model.Convert(c).(color.NRGBA64)
			return []uint16{p.R, p.G, p.B, p.A}
		}, int64(h), int64(w), 4)
	}
	return pixels(img, func(c color.Color) []uint8 {
		p := color.NRGBAModel.Convert(c).(color.NRGBA)
		return []uint8{p.R, p.G, p.B, p.A}
	}, int64(h), int64(w), 4)
}

func pixels[T uint8 | uint16](img image.Image, channels func(color.Color) []T, shape ...int64) (*tensor.Tensor, error) {
	var out []T
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			out = append(out, channels(img.At(x, y))...)
		}
	}
	return tensor.NewDense(out, shape...)
}
