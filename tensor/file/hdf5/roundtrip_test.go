package hdf5

import (
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// This file writes random files and reads them again.

// TestRoundTrip writes random trees of random datasets and attributes and reads them back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var buf Buffer
		w := Create(&buf)
		want := map[string]description{"/": {Kind: "group", Attrs: map[string]description{}}}
		for i := range rapid.IntRange(0, 6).Draw(rt, "objects") {
			group := ""
			if rapid.Bool().Draw(rt, "in a group") {
				group = "/" + rapid.SampledFrom([]string{"a", "b", "ü c"}).Draw(rt, "group")
				want[group] = description{Kind: "group", Attrs: map[string]description{}}
			}
			path := fmt.Sprintf("%s/%d", group, i)
			d := drawDataset(rt, w, path)
			for j := range rapid.IntRange(0, 3).Draw(rt, "attributes") {
				name := fmt.Sprint("attribute ", j)
				text := rapid.StringOfN(rapid.RuneFrom([]rune("az\"{ü€😀")), 0, 300, -1).Draw(rt, "text")
				must(t, w.Attr(path, name, text))
				d.Attrs[name] = description{Type: "string", Strings: []string{text}}
			}
			want[path] = d
		}
		must(t, w.Close())
		got := describe(t, open(t, buf.Bytes()))
		for path, d := range got {
			d.Names = nil // follow from the paths
			got[path] = d
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("wrote (-), read (+):\n%s", diff)
		}
	})
}

// drawDataset writes a random dataset and describes it.
func drawDataset(rt *rapid.T, w *Writer, path string) description {
	dims := rapid.SliceOfN(rapid.Uint64Range(0, 9), 0, 4).Draw(rt, "dims")
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	d := description{Kind: "dataset", Dims: dims, Attrs: map[string]description{}}
	if rapid.IntRange(0, 5).Draw(rt, "strings") == 0 {
		d.Type = "string"
		d.Strings = rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("azü€"))), n, n).Draw(rt, "values")
		if err := w.Strings(path, dims, d.Strings); err != nil {
			rt.Fatal(err)
		}
		return d
	}
	t := rapid.SampledFrom(writerTypes[:14]).Draw(rt, "type")
	data := rapid.SliceOfN(rapid.Byte(), n*t.Size, n*t.Size).Draw(rt, "data")
	o := Options{
		Deflate:    rapid.IntRange(0, 9).Draw(rt, "deflate"),
		Shuffle:    rapid.Bool().Draw(rt, "shuffle"),
		Fletcher32: rapid.Bool().Draw(rt, "fletcher32"),
	}
	if rapid.Bool().Draw(rt, "chunks") && len(dims) > 0 {
		o.Chunk = rapid.SliceOfN(rapid.Uint64Range(1, 11), len(dims), len(dims)).Draw(rt, "chunk")
	}
	if err := w.Dataset(path, t, dims, data, o); err != nil {
		rt.Fatal(err)
	}
	d.Type, d.CRC, d.Bytes = t.String(), crc32.ChecksumIEEE(data), len(data)
	return d
}
