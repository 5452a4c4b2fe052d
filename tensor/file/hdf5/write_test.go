package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// numbered returns n elements of t whose bytes count up, so that no two places look alike.
func numbered(t Type, n int) []byte {
	b := make([]byte, n*t.Size)
	for i := range b {
		b[i] = byte(i*7 + i/251)
	}
	if t.IsBool() {
		for i := range b {
			b[i] &= 1
		}
	}
	return b
}

var writerTypes = []Type{
	Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float16, Float32, Float64, Complex64, Complex128, Bool,
	{Class: Bitfield, Size: 2}, FixedString(5),
	{Class: Enum, Size: 2, Signed: true, Base: &Int16, Members: []Member{{Name: "LOW", Value: -300}, {Name: "HIGH", Value: 300}}},
	{Class: Compound, Size: 298, Members: []Member{{Name: "a", Type: Int32}, {Name: "s", Offset: 4, Type: FixedString(286)}, {Name: "far", Offset: 290, Type: Complex64}}},
}

// must stops a test at the first error of a writer.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeEverything writes one of each kind of thing.
func writeEverything(t testing.TB, w *Writer) {
	for i, typ := range writerTypes {
		if typ.Class == String {
			must(t, w.Dataset("types/string", typ, []uint64{3}, []byte("abc\x00\x00\xc3\xa9\x00\x00\x00vwxyz"), Options{}))
			continue
		}
		name := fmt.Sprintf("types/%d", i)
		must(t, w.Dataset(name, typ, []uint64{4, 5}, numbered(typ, 20), Options{}))
		must(t, w.Dataset(name+"chunked", typ, []uint64{4, 5}, numbered(typ, 20), Options{Chunk: []uint64{3, 2}, Shuffle: true, Deflate: 5}))
	}
	must(t, w.Dataset("scalar", Float64, nil, numbered(Float64, 1), Options{Deflate: 3}))
	must(t, w.Dataset("empty", Int32, []uint64{0}, nil, Options{Deflate: 3}))
	must(t, w.Dataset("empty3", Int32, []uint64{3, 0, 1 << 40}, nil, Options{Chunk: []uint64{1, 1, 1}}))
	for i, o := range []Options{{Chunk: []uint64{7}}, {Deflate: 1}, {Shuffle: true}, {Fletcher32: true}, {Deflate: 9, Shuffle: true, Fletcher32: true, Chunk: []uint64{100}}} {
		must(t, w.Dataset(fmt.Sprintf("filters/%d", i), Int32, []uint64{3000}, numbered(Int32, 3000), o))
	}
	must(t, w.Dataset("deep/levels", Uint8, []uint64{70, 80}, numbered(Uint8, 5600), Options{Chunk: []uint64{1, 1}}))
	must(t, w.Dataset("halves", Float64, []uint64{3, 300, 200}, numbered(Float64, 180000), Options{Deflate: 1}))
	must(t, w.Strings("strings", []uint64{2, 2}, []string{"", "α", "x", strings.Repeat("long", 30000)}))
	must(t, w.Group("group/in/group"))
	must(t, w.Group("empty group"))
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprint(i)
		must(t, w.Group("many/"+many[i]))
	}
	for _, path := range []string{"", "group/in", "types/0"} {
		for i, v := range []any{"text", "", many, true, false, int64(-5), uint64(math.MaxUint64), 2.5, []int64{1, -2}, []uint64{}, []float64{math.Inf(1), 0}} {
			must(t, w.Attr(path, fmt.Sprintf("attribute %d", i), v))
		}
	}
	must(t, w.Attr("group", "large", strings.Repeat("{}", 100000)))
}

// TestWriterAgainstH5py writes one of each kind of thing, and compares what h5py reads with what we do.
func TestWriterAgainstH5py(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.h5")
	file, err := os.Create(path)
	must(t, err)
	defer file.Close()
	w := Create(file)
	writeEverything(t, w)
	must(t, w.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	got := describe(t, open(t, b))

	t.Run("h5py", func(t *testing.T) {
		want := parseDescriptions(t, python(t, "describe.py", path))[path]
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("h5py (-) and we (+) differ:\n%s", diff)
		}
	})
	t.Run("h5dump", func(t *testing.T) {
		if _, err := exec.LookPath("h5dump"); err != nil {
			t.Skip("needs h5dump: apt-get install hdf5-tools")
		}
		if out, err := exec.Command("h5dump", path).CombinedOutput(); err != nil || bytes.Contains(out, []byte("rror")) {
			t.Errorf("%v\n%s", err, out[max(0, len(out)-2000):])
		}
	})
}

// TestWriterValues reads back some values whose bytes are written out here.
func TestWriterValues(t *testing.T) {
	var buf Buffer
	w := Create(&buf)
	must(t, w.Dataset("/g/x", Int16, []uint64{2, 3}, []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 255, 255}, Options{Chunk: []uint64{2, 2}, Deflate: 6}))
	must(t, w.Attr("/g/x", "text", "Lücke"))
	must(t, w.Attr("/g", "ints", []int64{3, -4}))
	must(t, w.Attr("/", "float", 0.5))
	must(t, w.Close())
	f := open(t, buf.Bytes())
	d, err := f.Dataset("g/x")
	must(t, err)
	got := make([]byte, d.Size())
	must(t, d.ReadInto(got))
	if want := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 255, 255}; !bytes.Equal(got, want) || d.Type().String() != "int16" || !slices.Equal(d.Dims(), []uint64{2, 3}) {
		t.Errorf("read %v %v %v", d.Type(), d.Dims(), got)
	}
	a, err := d.Attr("text")
	must(t, err)
	if s, err := a.Text(); s != "Lücke" || err != nil || a.Name() != "text" {
		t.Errorf("read %q, %v", s, err)
	}
	g, err := f.Group("/g/")
	must(t, err)
	a, err = g.Attr("ints")
	must(t, err)
	if v, err := a.Ints(); !slices.Equal(v, []int64{3, -4}) || err != nil {
		t.Errorf("read %v, %v", v, err)
	}
	if v, err := a.Floats(); !slices.Equal(v, []float64{3, -4}) || err != nil {
		t.Errorf("read %v, %v", v, err)
	}
	a, err = f.Root().Attr("float")
	must(t, err)
	if v, err := a.Floats(); !slices.Equal(v, []float64{0.5}) || err != nil {
		t.Errorf("read %v, %v", v, err)
	}
	if _, err := a.Ints(); err == nil {
		t.Error("floats were read as integers")
	}
	if _, err := a.Text(); err == nil {
		t.Error("a float was read as a text")
	}
}

// TestWriterIsDeterministic writes the same twice, on one thread and on several.
func TestWriterIsDeterministic(t *testing.T) {
	write := func(threads int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		var buf Buffer
		w := Create(&buf)
		writeEverything(t, w)
		must(t, w.Close())
		return buf.Bytes()
	}
	if !bytes.Equal(write(1), write(4)) {
		t.Error("the same calls gave different bytes")
	}
}

// TestAlignment looks where contiguous data lie, as they will be mapped into memory.
func TestAlignment(t *testing.T) {
	var buf Buffer
	w := Create(&buf)
	sizes := []int{1, 100, 4095, 4096, 10000, 3}
	for i, n := range sizes {
		must(t, w.Dataset(fmt.Sprint(i), Uint8, []uint64{uint64(n)}, numbered(Uint8, n), Options{}))
	}
	must(t, w.Dataset("chunked", Uint8, []uint64{9}, numbered(Uint8, 9), Options{Chunk: []uint64{3}}))
	must(t, w.Close())
	f := open(t, buf.Bytes())
	for i, n := range sizes {
		d, err := f.Dataset(fmt.Sprint(i))
		must(t, err)
		at, length, ok := d.Contiguous()
		if !ok || length != int64(n) || at%64 != 0 || n >= 4096 && at%4096 != 0 {
			t.Errorf("%d bytes are at %d, length %d, %v", n, at, length, ok)
		} else if !bytes.Equal(buf.Bytes()[at:at+length], numbered(Uint8, n)) {
			t.Errorf("the %d bytes at %d are others", n, at)
		}
	}
	d, err := f.Dataset("chunked")
	must(t, err)
	if _, _, ok := d.Contiguous(); ok {
		t.Error("chunks are said to be contiguous")
	}
}

// TestLargeOffsets writes a file that begins with a hole of 5 GiB.
func TestLargeOffsets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.h5")
	file, err := os.Create(path)
	must(t, err)
	defer file.Close()
	w := Create(file)
	w.end = 5<<30 + 5
	must(t, w.Dataset("x", Int32, []uint64{10}, numbered(Int32, 10), Options{}))
	must(t, w.Dataset("y", Int32, []uint64{10}, numbered(Int32, 10), Options{Chunk: []uint64{3}, Deflate: 1}))
	must(t, w.Attr("x", "a", "text"))
	must(t, w.Close())
	f, err := Open(file, int64(w.end))
	must(t, err)
	for _, name := range []string{"x", "y"} {
		d, err := f.Dataset(name)
		must(t, err)
		if b, err := d.ReadAll(); !bytes.Equal(b, numbered(Int32, 10)) || err != nil {
			t.Errorf("%s: read %v, %v", name, b, err)
		}
	}
	d, err := f.Dataset("x")
	must(t, err)
	if at, _, ok := d.Contiguous(); !ok || at < 5<<30 {
		t.Errorf("x is at %d", at)
	}
	got := describe(t, f)
	want := parseDescriptions(t, python(t, "describe.py", path))[path]
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("h5py (-) and we (+) differ:\n%s", diff)
	}
}

// TestWriterRefuses calls the writer wrongly.
func TestWriterRefuses(t *testing.T) {
	eight := numbered(Int32, 2)
	long := strings.Repeat("n", maxName+1)
	for _, c := range []struct {
		name string
		call func(w *Writer) error
		want string
	}{
		{"too little data", func(w *Writer) error { return w.Dataset("x", Int32, []uint64{3}, eight, Options{}) }, "hdf5: x: has 8 bytes of data; [3] of int32 need 12"},
		{"overflow", func(w *Writer) error { return w.Dataset("x", Int32, []uint64{1 << 40, 1 << 40}, eight, Options{}) }, "too large"},
		{"twice", func(w *Writer) error {
			must(t, w.Dataset("x", Int32, []uint64{2}, eight, Options{}))
			return w.Dataset("x", Int32, []uint64{2}, eight, Options{})
		}, "hdf5: x: there is an object of this name already"},
		{"no name", func(w *Writer) error { return w.Dataset("/", Int32, []uint64{2}, eight, Options{}) }, "a dataset needs a name"},
		{"long name", func(w *Writer) error { return w.Dataset(long, Int32, []uint64{2}, eight, Options{}) }, "cannot be the name"},
		{"long group", func(w *Writer) error { return w.Group(long + "/x") }, "cannot be the name"},
		{"zero in a name", func(w *Writer) error { return w.Group("a\x00b") }, "cannot be the name"},
		{"dot", func(w *Writer) error { return w.Group("a/./b") }, "cannot be the name"},
		{"below a dataset", func(w *Writer) error {
			must(t, w.Dataset("x", Int32, []uint64{2}, eight, Options{}))
			return w.Dataset("x/y", Int32, []uint64{2}, eight, Options{})
		}, "/x is a dataset; expected a group"},
		{"rank", func(w *Writer) error { return w.Dataset("x", Int32, make([]uint64, 33), nil, Options{}) }, "has 33 dimensions; 32 is the most"},
		{"chunk rank", func(w *Writer) error {
			return w.Dataset("x", Int32, []uint64{2}, eight, Options{Chunk: []uint64{1, 1}})
		}, "chunks have 2 dimensions"},
		{"chunk 0", func(w *Writer) error { return w.Dataset("x", Int32, []uint64{2}, eight, Options{Chunk: []uint64{0}}) }, "are empty"},
		{"chunk size", func(w *Writer) error {
			return w.Dataset("x", Int32, []uint64{2}, eight, Options{Chunk: []uint64{1 << 30}})
		}, "not smaller than 4 GiB"},
		{"level", func(w *Writer) error { return w.Dataset("x", Int32, []uint64{2}, eight, Options{Deflate: 10}) }, "level of compression is 10"},
		{"type", func(w *Writer) error {
			return w.Dataset("x", Type{Class: Integer, Size: 3}, nil, []byte{1, 2, 3}, Options{})
		}, "cannot be written"},
		{"no type", func(w *Writer) error { return w.Dataset("x", Type{}, nil, nil, Options{}) }, "cannot be written"},
		{"field", func(w *Writer) error {
			return w.Dataset("x", Type{Class: Compound, Size: 4, Members: []Member{{Name: "f", Offset: 2, Type: Int32}}}, nil, []byte{1, 2, 3, 4}, Options{})
		}, "reaches beyond"},
		{"attribute of nothing", func(w *Writer) error { return w.Attr("x", "a", 1.0) }, "hdf5: x@a: there is no such object"},
		{"attribute value", func(w *Writer) error { return w.Attr("", "a", int8(1)) }, "cannot store a value of type int8"},
		{"attribute twice", func(w *Writer) error { must(t, w.Attr("", "a", 1.0)); return w.Attr("", "a", 1.0) }, "already"},
		{"attribute name", func(w *Writer) error { return w.Attr("", "", 1.0) }, "cannot be the name"},
		{"attribute size", func(w *Writer) error { return w.Attr("", "a", make([]float64, 9000)) }, "an attribute has at most 65535"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Create(new(Buffer))
			err := c.call(w)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if again := w.Group("fine"); again != err {
				t.Errorf("after an error, a call returned %v", again)
			}
			if closed := w.Close(); closed != err {
				t.Errorf("Close returned %v", closed)
			}
		})
	}
}

// fullDisk fails when more than some bytes were written.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (f *fullDisk) WriteAt(p []byte, off int64) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriterReportsFullDisk fails every write once.
func TestWriterReportsFullDisk(t *testing.T) {
	for room := 0; ; room += 16 {
		w := Create(&fullDisk{room})
		w.Dataset("x", Int32, []uint64{10}, numbered(Int32, 10), Options{})
		w.Dataset("y", Int32, []uint64{10}, numbered(Int32, 10), Options{Chunk: []uint64{3}})
		w.Attr("x", "a", "text")
		err := w.Close()
		if err == nil {
			if room < 1000 {
				t.Errorf("all was written into %d bytes", room)
			}
			return
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
	}
}
