package from_test

import (
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/from"
)

// Entries that come one by one, in any order.
func ExampleBuilder() {
	b := from.NewBuilder[float64](tensor.CSR, from.Sum)
	b.SpillTo("", 1<<20) // if there are many, a million at a time waits in a file
	for i := range int64(4) {
		b.Add(1, 3-i, i%2)
		b.Add(0.5, 3-i, i%2)
	}
	a, err := b.Build(nil)
	fmt.Println(a, err)
	for at, v := range tensor.Entries[float64](a) {
		fmt.Print(at, " ", v, "  ")
	}
	// Output:
	// 4x2 f64 CSR, 4 stored, fill 0 <nil>
	// [0 1] 1.5  [1 0] 1.5  [2 1] 1.5  [3 0] 1.5
}

// A rating is an entry of a matrix of users and films. The later rating of a film counts.
func ExampleStructs() {
	type rating struct {
		User  int     `tensor:"0"`
		Film  uint32  `tensor:"1"`
		Stars float32 `tensor:"value"`
		Text  string
	}
	list := []rating{{User: 1, Film: 0, Stars: 2, Text: "long"}, {User: 0, Film: 2, Stars: 5}, {User: 1, Film: 0, Stars: 4.5, Text: "seen again"}}
	R, err := from.Structs[float64](list, tensor.CSR, from.KeepLast)
	fmt.Println(R, err)
	for at, stars := range tensor.Entries[float64](R) {
		fmt.Println(at, stars)
	}
	// Output:
	// 2x3 f64 CSR, 2 stored, fill 0 <nil>
	// [0 2] 5
	// [1 0] 4.5
}

// Users and films have names, which are numbered as they come.
func ExampleEdges() {
	text := "ann,Heidi,4\nbob,Alien,5\nann,Alien,3\n"
	R, names, err := from.Edges[float64](strings.NewReader(text), tensor.CSR, from.Refuse)
	if err != nil {
		fmt.Println(err)
		return
	}
	for at, stars := range tensor.Entries[float64](R) {
		fmt.Println(names[0].Name(at[0]), names[1].Name(at[1]), stars)
	}
	// Output:
	// ann Heidi 4
	// ann Alien 3
	// bob Alien 5
}

// Nodes of a graph share a dictionary, and edges without weights count.
func ExampleGraph() {
	G, nodes, err := from.Graph[int](strings.NewReader("# links\na,b\nb,c\na,b\n"), tensor.CSR, from.Sum)
	b, _ := nodes.Number("b")
	fmt.Println(G, err, G.At(0, b), nodes.Len())
	// Output: 3x3 i64 CSR, 2 stored, fill 0 <nil> 2 3
}

// A reader may be set up for other files, and a dictionary may go on.
func ExampleRecords() {
	r := csv.NewReader(strings.NewReader("from\tto\tkm\nx\ty\t7\n"))
	r.Comma = '\t'
	r.Read() // the header
	G, names, err := from.Records[float32](r, tensor.COO, from.Sum, make([]*from.Names, 2))
	fmt.Println(G, err, names[1].Name(0), names[0])
	// Output: 1x1 f32 COO, 1 stored, fill 0 <nil> y [x]
}

func ExampleImage() {
	img := image.NewGray(image.Rect(0, 0, 3, 2))
	img.SetGray(2, 1, color.Gray{Y: 9})
	t, err := from.Image(img)
	fmt.Println(t, err, t.At(1, 2))
	// Output: 2x3 u8 D, 6 stored, fill 0 <nil> 9
}

func TestImages(t *testing.T) {
	in := image.NewNRGBA(image.Rect(-1, -1, 3, 2))
	in.SetNRGBA(2, 1, color.NRGBA{1, 2, 3, 255})
	gray := image.NewGray16(image.Rect(0, 0, 2, 2))
	gray.SetGray16(1, 1, color.Gray16{Y: 999})
	wide := image.NewRGBA64(image.Rect(0, 0, 2, 2))
	wide.SetRGBA64(1, 1, color.RGBA64{R: 999, A: 65535})
	for name, c := range map[string]struct {
		img  image.Image
		at   []int64
		want int64
	}{
		"NRGBA":      {in, []int64{2, 3, 1}, 2},
		"part":       {in.SubImage(image.Rect(1, 1, 3, 2)), []int64{0, 1, 2}, 3},
		"gray16":     {gray, []int64{1, 1}, 999},
		"RGBA64":     {wide, []int64{1, 1, 0}, 999},
		"grey part":  {gray.SubImage(image.Rect(1, 1, 2, 2)), []int64{0, 0}, 999},
		"palette":    {image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.White}), []int64{0, 0, 3}, 255},
		"no pixels":  {image.NewGray(image.Rect(0, 0, 0, 5)), nil, 0},
		"no colours": {image.NewNRGBA(image.Rectangle{}), nil, 0},
		"no Gray16":  {image.NewGray16(image.Rectangle{}), nil, 0},
	} {
		got, err := from.Image(c.img)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if c.at == nil && got.NNZ() != 0 || c.at != nil && got.At(c.at...).Int64() != c.want {
			t.Errorf("%s: %v, not %d", name, got, c.want)
		}
	}
}

func TestStructErrors(t *testing.T) {
	type fine struct {
		I int8    `tensor:"0"`
		V float64 `tensor:"value"`
	}
	type none struct{ I int }
	type text struct {
		I string `tensor:"0"`
	}
	type twice struct {
		I int `tensor:"0"`
		J int `tensor:"0"`
	}
	type far struct {
		I int `tensor:"1"`
	}
	type large struct {
		I uint64 `tensor:"0"`
	}
	v := tensor.CSF(1)
	fail := func(_ *tensor.Tensor, err error) error { return err }
	for want, err := range map[string]error{
		"struct 0, field V: 1.5 does not fit the type i64": fail(from.Structs[int]([]fine{{0, 1.5}}, v, from.Sum)),
		"struct 0, field V: nan does not fit the type u8":  fail(from.Structs[uint8]([]fine{{0, math.NaN()}}, v, from.Sum)),
		"coordinate -1":      fail(from.Structs[float64]([]fine{{-1, 1}}, v, from.Sum)),
		"two entries at [3]": fail(from.Structs[float64]([]fine{{3, 1}, {3, 2}}, v, from.Refuse)),
		"no field of from_test.none is tagged `tensor:\"0\"`":                 fail(from.Structs[int]([]none{}, v, from.Sum)),
		"the field I of from_test.text is a string: coordinates are integers": fail(from.Structs[int]([]text{}, v, from.Sum)),
		"are both tagged \"0\"":                                   fail(from.Structs[int]([]twice{}, v, from.Sum)),
		"is tagged \"1\": a tag is value, or an axis from 0 to 0": fail(from.Structs[int]([]far{}, v, from.Sum)),
		"int is no struct":                                        fail(from.Structs[int]([]int{}, v, from.Sum)),
		"18446744073709551615 is no coordinate":                   fail(from.Structs[int]([]large{{math.MaxUint64}}, v, from.Sum)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if a, err := from.Structs[bool]([]fine{{2, 1}}, v, from.Sum); err != nil || !a.At(2).Bool() {
		t.Error(a, err)
	}
	if a, err := from.Structs[tensor.F16]([]fine{{2, 0.1}}, v, from.Sum); err != nil || a.DType() != tensor.Float16 {
		t.Error(a, err)
	}
	if a, err := from.Structs[complex64]([]fine{}, v, from.Sum); err != nil || a.NNZ() != 0 {
		t.Error(a, err)
	}
}

func TestEdgeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a,b,c,d\n":        "line 1 has 4 fields",
		"a,b,1\nc,d,x\n":   `line 2: not a value of type f64 "x"`,
		"a,b,1\n\"c,d,1\n": "line 2",
		"a,b,1\nc,d\n":     "wrong number of fields",
		"a,b,1\na,b,1\n":   "two entries at [0 0]",
	} {
		if _, _, err := from.Edges[float64](strings.NewReader(text), tensor.CSR, from.Refuse); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if a, _, err := from.Edges[float64](strings.NewReader(""), tensor.CSR, from.Refuse); err != nil || a.NNZ() != 0 {
		t.Error(a, err)
	}
	if _, _, err := from.Records[int](csv.NewReader(strings.NewReader("")), tensor.CSR, from.Sum, nil); err == nil {
		t.Error("a matrix without dictionaries")
	}
}
