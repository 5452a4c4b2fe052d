package file

import (
	"encoding/json"
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// binsparseExtensions are those of the containers.
var binsparseExtensions = []string{".bsp.npz", ".bsp.h5", ".bspnpy"}

// bspCase is a tensor as the public test suite of binsparse describes one: every element,
// which of them are stored, the fill, and a descriptor that says how.
type bspCase struct {
	shape   []int64
	values  tensor.Array
	pattern tensor.Array
	fill    tensor.Scalar
	header  string
}

// intn is a random source of both rapid and math/rand.
type intn func(n int) int

// bspTypes are the element types of binsparse and their names.
var bspTypes = []struct {
	dtype tensor.DType
	name  string
}{
	{tensor.Bool, "bint8"}, {tensor.Int8, "int8"}, {tensor.Int16, "int16"}, {tensor.Int32, "int32"}, {tensor.Int64, "int64"},
	{tensor.Uint8, "uint8"}, {tensor.Uint16, "uint16"}, {tensor.Uint32, "uint32"}, {tensor.Uint64, "uint64"},
	{tensor.Float32, "float32"}, {tensor.Float64, "float64"}, {tensor.Complex64, "complex[float32]"}, {tensor.Complex128, "complex[float64]"},
}

// randomBinsparse makes a case of rank 0 to 6 with sizes 0 to 4.
func randomBinsparse(pick intn) *bspCase {
	rank := pick(7)
	c := &bspCase{shape: make([]int64, rank)}
	n := 1
	for axis := range c.shape {
		c.shape[axis] = int64(pick(5))
		n *= int(c.shape[axis])
	}
	levels, order := randomLevels(pick, rank)
	element := bspTypes[pick(len(bspTypes))]
	c.fill = randomScalar(pick, element.dtype)
	c.pattern = randomPattern(pick, c.shape, levels, order)
	iso := pick(4) == 0
	var err error
	if c.values, err = tensor.MakeArray(element.dtype, n); err != nil {
		panic(err)
	}
	one, stored := randomScalar(pick, element.dtype), 0
	for i, on := range tensor.View[bool](c.pattern) {
		v := c.fill
		if on {
			stored++
			if v = one; !iso {
				v = randomScalar(pick, element.dtype)
			}
		}
		c.values.SetScalar(i, v)
	}
	types := map[string]string{"values": element.name, "fill_value": element.name}
	if iso {
		types["values"] = "iso[" + element.name + "]"
	}
	indexTypes := []string{"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
	dim := 0
	for _, l := range levels {
		for k := dim; k < dim+l.Rank && l.Kind == binsparse.SparseLevel; k++ {
			types[fmt.Sprintf("indices_%d", k)] = indexTypes[pick(len(indexTypes))]
			if k == dim && k > 0 {
				types[fmt.Sprintf("pointers_to_%d", k)] = []string{"uint16", "int32", "int64"}[pick(3)]
			}
		}
		dim += l.Rank
	}
	c.header = mustJSON(map[string]any{
		"version": "0.1", "format": "custom", "custom": map[string]any{"transpose": order, "level": levelObject(levels)},
		"shape": c.shape, "number_of_stored_values": stored, "data_types": types,
	})
	return c
}

// randomLevels cuts the dimensions into dense and sparse levels.
func randomLevels(pick intn, rank int) (levels []binsparse.Level, order []int) {
	for left := rank; left > 0; {
		l := binsparse.Level{Kind: binsparse.DenseLevel, Rank: 1 + pick(left)}
		if pick(2) == 0 {
			l.Kind = binsparse.SparseLevel
		}
		levels = append(levels, l)
		left -= l.Rank
	}
	order = make([]int, rank)
	for k := range order {
		order[k] = k
	}
	for k := range order {
		j := k + pick(rank-k)
		order[k], order[j] = order[j], order[k]
	}
	return levels, order
}

// levelObject nests levels as a descriptor does.
func levelObject(levels []binsparse.Level) any {
	if len(levels) == 0 {
		return map[string]any{"level_desc": "element"}
	}
	kind := "dense"
	if levels[0].Kind == binsparse.SparseLevel {
		kind = "sparse"
	}
	return map[string]any{"level_desc": kind, "rank": levels[0].Rank, "level": levelObject(levels[1:])}
}

// randomPattern says which elements are stored: in trailing dense dimensions all or none.
func randomPattern(pick intn, shape []int64, levels []binsparse.Level, order []int) tensor.Array {
	blocks := len(shape)
	for i := len(levels) - 1; i >= 0 && levels[i].Kind == binsparse.DenseLevel; i-- {
		blocks -= levels[i].Rank
	}
	chosen := map[string]bool{}
	pattern := []bool{}
	at := make([]int64, len(shape))
	n := 1
	for _, size := range shape {
		n *= int(size)
	}
	for range n {
		key := ""
		for _, axis := range order[:blocks] {
			key += fmt.Sprint(at[axis], ",")
		}
		on, ok := chosen[key]
		if !ok {
			on = blocks == 0 || pick(3) == 0
			chosen[key] = on
		}
		pattern = append(pattern, on)
		for axis := len(at) - 1; axis >= 0; axis-- {
			if at[axis]++; at[axis] < shape[axis] {
				break
			}
			at[axis] = 0
		}
	}
	return tensor.ArrayOf(pattern)
}

// randomScalar is a small number, now and then with a sign, an infinity or both parts.
func randomScalar(pick intn, dt tensor.DType) tensor.Scalar {
	v := float64(pick(9)-3) / 2
	if !dt.IsFloat() && !dt.IsComplex() {
		return tensor.Int(dt, int64(pick(9)-3))
	}
	return tensor.Complex(dt, complex(v, float64(pick(3)-1)))
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// tensor makes the tensor of a case, and the header that it is written with.
func (c *bspCase) tensor(t fataler) (*tensor.Tensor, *binsparse.Descriptor) {
	h, err := binsparse.ParseHeader([]byte(c.header))
	if err != nil {
		t.Fatalf("%v: %s", err, c.header)
	}
	h.Fill = true
	format, err := h.Format.Tensor()
	if err != nil {
		t.Fatalf("%v: %s", err, c.header)
	}
	m, err := binsparse.FromPattern(c.shape, format, c.values, c.pattern, c.fill)
	if err != nil {
		t.Fatalf("%v: %s", err, c.header)
	}
	return m, h
}

// fataler is a test of package testing or rapid.
type fataler interface {
	Fatalf(format string, args ...any)
}
