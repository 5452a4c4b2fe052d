package binsparse

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// hostile is a container whose arrays are cut from given bytes: each begins with its
// length, and has the type that the descriptor declares.
type hostile struct {
	d    *Descriptor
	data []byte
}

// Dataset implements Container.
func (h *hostile) Dataset(name string) (Dataset, bool, error) {
	if len(h.data) == 0 {
		return Dataset{}, false, nil
	}
	n := int(h.data[0])
	h.data = h.data[1:]
	dt := tensor.Uint8
	if declared, ok := h.d.DataTypes[name]; ok {
		dt = declared.Elem
	}
	if dt.IsComplex() && n%2 == 0 {
		dt = dt.Real()
	}
	a, err := tensor.MakeArray(dt, n%32)
	if err != nil {
		return Dataset{}, false, err
	}
	h.data = h.data[copy(a.Raw(), h.data):]
	return Dataset{dt, []int64{int64(a.Len())}, func() (tensor.Array, error) { return a, nil }}, true, nil
}

// FuzzRead reads any descriptor with any arrays: it never panics, and what it reads is
// encoded and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(csr("", "float64")), []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte(`{"format": "CVEC", `+one+`}`), []byte{2, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f})
	f.Add([]byte(`{"version": "0.1", "shape": [2, 2], "number_of_stored_values": 2, "structure": "symmetric_lower", "fill": true,
		"data_types": {"values": "iso[bint8]", "fill_value": "bint8"}, "index_base": 1,
		"custom": {"transpose": [1, 0], "level": {"level_desc": "sparse", "rank": 2, "sorted": false, "contiguous": true, "level": {"level_desc": "element"}}}}`),
		[]byte{4, 1, 2, 1, 2, 4, 1, 2, 1, 2, 1, 1, 1, 0})
	f.Add([]byte(`{"version": "0.1", "shape": [0, 3], "number_of_stored_values": 0, "data_types": {"values": "complex[float32]"},
		"custom": {"level": {"level_desc": "sparse", "level": {"level_desc": "dense", "level": {"level_desc": "element"}}}}}`), []byte{})
	f.Fuzz(func(t *testing.T, text, data []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		got, err := Read(d, &hostile{d, data}, nil)
		if err != nil {
			return
		}
		again, arrays, err := Encode(got, Options{Header: d.Writable()})
		if err != nil {
			// A fill of another type may have widened the values.
			if again, arrays, err = Encode(got, Options{}); err != nil {
				t.Fatalf("cannot encode what was read: %v", err)
			}
		}
		d, err = Parse(again)
		if err != nil {
			t.Fatalf("cannot parse %s: %v", again, err)
		}
		back, err := Read(d, memoryOf(arrays), nil)
		if err != nil {
			t.Fatalf("cannot read %s: %v", again, err)
		}
		if got.Structure() != back.Structure() || !tensor.Equal(got, back) {
			t.Fatalf("read %v, then %v", got, back)
		}
	})
}
