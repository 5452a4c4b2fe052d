package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// Share is what one of several readers has read of a file: a block of a tensor along one axis, or entries from anywhere, of which the
// readers together have all. Of text each reads some lines, and of arrays their elements.
type Share struct {
	Shape  []int64       // of the whole tensor; if Open, what the entries read need
	Format tensor.Format // that the whole would have
	Bytes  int64         // that were read

	Block  *tensor.Tensor // nil: the share has entries
	Axis   int            // along which the block is cut
	Lo, Hi int64          // its coordinates there

	Coords   []tensor.Array // of the entries, in the order of the file: symmetric ones are expanded
	Values   tensor.Array
	Lines    int64 // how many entries were read
	Promised int64 // how many the file says that it has; -1: it does not say
	Open     bool  // the file does not tell the sizes
}

// ErrNoShares is what ReadShare says of a file that is read by one alone, and WriteShare of one that is written so.
var ErrNoShares = errors.New("not a file that is read or written in shares")

// ReadShare reads a share of a file, which counts from 0: of Matrix Market files with coordinates and plain .tns files the lines that begin
// in an equal part of the bytes; of .npy files and binsparse matrices by rows or columns in HDF5 files a block of these (as
// even as can be, the longer ones first). Errors name no lines, and what only all entries together can
// break is not checked: [Read] does better. Compressed files and others are not read in shares.
func ReadShare(path string, share, shares int, opts ...Option) (*Share, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, ErrNoShares
	}
	if share < 0 || share >= shares {
		return nil, &FileError{Path: path, Msg: "there is no such share"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer f.Close() // only read from
	st, err := f.Stat()
	if err != nil {
		return nil, pathError(path, err)
	}
	counted := &countedFile{file: f, size: st.Size()}
	in, err := open(path, counted, cfg)
	if err != nil {
		return nil, wrapError(path, err)
	}
	kind, err := in.recognise()
	if err != nil || in.file == nil {
		return nil, ErrNoShares
	}
	read := map[string]func(*input, int, int) (*Share, error){"mtx": shareMatrixMarket, "tns": shareTNS, "npy": shareNPY, "hdf5": shareHDF5}[kind.Name]
	if read == nil {
		return nil, ErrNoShares
	}
	if err := in.checkOptions(kind); err != nil {
		return nil, wrapError(path, err)
	}
	s, err := read(in, share, shares)
	if err != nil {
		if err == ErrNoShares {
			return nil, err
		}
		return nil, wrapError(path, err)
	}
	s.Bytes = counted.bytes.Load()
	return s, nil
}

// countedFile counts what is read of a file.
type countedFile struct {
	file  *os.File
	size  int64
	bytes atomic.Int64
}

// Read implements io.Reader: it is there for open, which reads at random where there is a size.
func (c *countedFile) Read([]byte) (int, error) { return 0, io.EOF }

// Size is that of the file.
func (c *countedFile) Size() int64 { return c.size }

// ReadAt implements io.ReaderAt.
func (c *countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.file.ReadAt(p, at)
	c.bytes.Add(int64(n))
	return n, err
}

// block is a share of n things.
func block(n int64, share, shares int) (lo, hi int64) {
	start := func(k int64) int64 { return n/int64(shares)*k + min(n%int64(shares), k) }
	return start(int64(share)), start(int64(share) + 1)
}

// lines are those that begin in a share of the bytes from an offset on.
func (in *input) lines(from int64, share, shares int) (io.Reader, error) {
	lo, hi := block(in.size-from, share, shares)
	start, err := in.lineStart(from, from+lo)
	if err != nil {
		return nil, err
	}
	end, err := in.lineStart(from, from+hi)
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(in.file, start, end-start), nil
}

// lineStart is where the first line begins that is not before an offset; one begins at from.
func (in *input) lineStart(from, at int64) (int64, error) {
	if at <= from {
		return from, nil
	}
	buf := make([]byte, 4<<10)
	for at--; at < in.size; {
		n, err := in.file.ReadAt(buf[:min(int64(len(buf)), in.size-at)], at)
		if n == 0 {
			return 0, err
		}
		if k := bytes.IndexByte(buf[:n], '\n'); k >= 0 {
			return at + int64(k) + 1, nil
		}
		at += int64(n)
	}
	return in.size, nil
}

// entries reads the entries that begin in a share of the text from an offset on.
func (in *input) entries(s *Share, spec *entrySpec, from int64, share, shares int) error {
	r, err := in.lines(from, share, shares)
	if err != nil {
		return err
	}
	list, err := newCoordList(in.cfg.memory, spec, 0)
	if err != nil {
		return err
	}
	if _, err = in.parseLines(r, 0, spec.parse, func(b *batch, _ int) error {
		s.Lines += int64(b.entries)
		return list.add(b)
	}); err != nil {
		return err
	}
	if s.Open {
		s.Shape = list.extents()
	}
	s.Values, s.Coords = list.values.Slice(0, list.n), list.columns()
	s.Format, err = in.format(spec.rank, tensor.Coordinates(spec.rank))
	return err
}

func shareMatrixMarket(in *input, share, shares int) (*Share, error) {
	h, err := readMTXHeader(in)
	if err != nil {
		return nil, err
	}
	if h.dense || len(h.shape) == 0 {
		return nil, ErrNoShares
	}
	spec, err := h.entrySpec(in)
	if err != nil {
		return nil, err
	}
	s := &Share{Shape: h.shape, Promised: h.entries}
	return s, in.entries(s, spec, in.consumed, share, shares)
}

func shareTNS(in *input, share, shares int) (*Share, error) {
	start := int64(0)
	if b, err := in.r.Peek(len(utf8BOM)); err == nil && bytes.Equal(b, utf8BOM) {
		start = int64(len(utf8BOM))
	}
	h, err := readTNSHead(in)
	if err != nil {
		return nil, err
	}
	b, err := h.body(in)
	if err != nil || b.first == nil || len(b.bound) == 0 || len(b.bound) > tensor.MaxRank {
		return nil, ErrNoShares // Read tells what is wrong
	}
	spec, err := tnsSpec(in, b.bound, b.first)
	if err != nil {
		return nil, err
	}
	if b.promised >= 0 {
		start = b.after
	}
	s := &Share{Shape: b.shape, Promised: b.promised, Open: b.open}
	return s, in.entries(s, spec, start, share, shares)
}

func shareNPY(in *input, share, shares int) (*Share, error) {
	h, err := readNPYHeader(in.r)
	if err != nil {
		return nil, err
	}
	if h.text || len(h.shape) == 0 || h.fortran && len(h.shape) > 1 {
		return nil, ErrNoShares
	}
	n, want, err := h.count()
	if err != nil || n == 0 || in.size-h.size != want {
		return nil, ErrNoShares // Read tells what is wrong
	}
	s := &Share{Shape: h.shape, Promised: -1}
	s.Lo, s.Hi = block(h.shape[0], share, shares)
	each := n / h.shape[0]
	size := each * int64(h.typ.dtype.Size())
	length := (s.Hi - s.Lo) * size
	r := io.NewSectionReader(in.file, h.size+s.Lo*size, length)
	values, err := readData(in.cfg.memory, stream{r, length, length, 0}, h, int((s.Hi-s.Lo)*each), int(length))
	if err != nil {
		return nil, err
	}
	if dt := in.cfg.dtype; dt != 0 && dt != values.DType() {
		if values.DType().IsComplex() && !dt.IsComplex() {
			return nil, errComplexAs(dt)
		}
		if values, err = values.Convert(dt); err != nil {
			return nil, err
		}
	}
	shape := append([]int64{s.Hi - s.Lo}, h.shape[1:]...)
	if s.Block, err = denseTensor(in, shape, values); err != nil {
		return nil, err
	}
	s.Format = s.Block.Format()
	return s, nil
}

func shareHDF5(in *input, share, shares int) (*Share, error) {
	h, obj, err := openHDF5(in, in.file, in.size)
	if err != nil {
		return nil, err
	}
	g, ok := obj.(*hdf5.Group)
	if !ok {
		return nil, ErrNoShares
	}
	text, ok, err := textAttr(g, binsparseAttr)
	if err != nil || !ok {
		return nil, ErrNoShares
	}
	d, err := binsparse.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	levels := d.Format.Levels
	if len(levels) != 2 || len(d.Shape) != 2 || levels[0].Kind != binsparse.DenseLevel || levels[1].Kind != binsparse.SparseLevel ||
		levels[0].Rank != 1 || levels[1].Rank != 1 || d.Structure != tensor.General {
		return nil, ErrNoShares
	}
	c := &h5Rows{h5Container: h5Container{h, g}, group: g}
	for _, name := range []string{"indices_1", "values"} {
		if a, err := g.Dataset(name); err != nil || a.Len() != d.Stored || len(a.Dims()) != 1 {
			return nil, ErrNoShares // one value for all, or something that Read complains of
		}
	}
	s := &Share{Shape: append([]int64(nil), d.Shape...), Axis: d.Format.Order[0], Promised: -1}
	s.Lo, s.Hi = block(s.Shape[s.Axis], share, shares)
	pointers, err := c.span("pointers_to_1", s.Lo, s.Hi+1)
	if err != nil {
		return nil, ErrNoShares
	}
	last := pointers.Len() - 1
	c.lo, c.hi = pointers.At64(0), pointers.At64(last)
	if c.lo < 0 || c.hi < c.lo || c.hi > d.Stored || s.Lo == 0 && c.lo != 0 || s.Hi == s.Shape[s.Axis] && c.hi != d.Stored {
		return nil, in.errorf(0, "%s: pointers_to_1 runs from %d to %d, of %d entries", g.Path(), c.lo, c.hi, d.Stored)
	}
	c.pointers = make([]int64, last+1)
	for k := range c.pointers {
		c.pointers[k] = pointers.At64(k) - c.lo
	}
	part := *d
	part.Shape = append([]int64(nil), d.Shape...)
	part.Shape[s.Axis], part.Stored = s.Hi-s.Lo, c.hi-c.lo
	if s.Block, err = readDescribed(in, &part, c); err != nil {
		return nil, err
	}
	s.Format = s.Block.Format()
	return s, nil
}

// h5Rows is a container of some rows of a matrix by rows.
type h5Rows struct {
	h5Container
	group    *hdf5.Group
	lo, hi   int64 // of the entries
	pointers []int64
}

// Dataset implements binsparse.Container.
func (c *h5Rows) Dataset(name string) (binsparse.Dataset, bool, error) {
	whole, ok, err := c.h5Container.Dataset(name)
	if err != nil || !ok {
		return whole, ok, err
	}
	switch name {
	case "pointers_to_1":
		return binsparse.Dataset{Type: tensor.Int64, Dims: []int64{int64(len(c.pointers))}, Load: func() (tensor.Array, error) { return tensor.ArrayOf(c.pointers), nil }}, true, nil
	case "indices_1", "values":
		whole.Dims = []int64{c.hi - c.lo}
		whole.Load = func() (tensor.Array, error) { return c.span(name, c.lo, c.hi) }
	}
	return whole, true, nil
}

// span reads elements lo to hi-1 of an array.
func (c *h5Rows) span(name string, lo, hi int64) (tensor.Array, error) {
	d, err := c.group.Dataset(name)
	if err != nil {
		return tensor.Array{}, err
	}
	if !h5Type(d.Type()).Valid() {
		return tensor.Array{}, c.h.in.errorf(0, "dataset %s: its elements are %v: expected numbers", d.Path(), d.Type())
	}
	if err := d.Check(); err != nil {
		return tensor.Array{}, err
	}
	if lo < 0 || hi < lo || hi > d.Len() {
		return tensor.Array{}, c.h.in.errorf(0, "dataset %s has %d elements, and no %d to %d", d.Path(), d.Len(), lo, hi)
	}
	return c.h.in.readSpan(d, lo, hi)
}

// readSpan reads elements lo to hi-1, which there are, of a dataset of numbers.
func (in *input) readSpan(d *hdf5.Dataset, lo, hi int64) (tensor.Array, error) {
	dt := h5Type(d.Type())
	a, err := in.cfg.memory.MakeArray(dt, int(hi-lo))
	if err != nil {
		return a, err
	}
	if err := d.ReadRange(a.Raw(), lo, hi-lo); err != nil {
		return a, err
	}
	if dt == tensor.Bool {
		normaliseBools(a.Raw())
	}
	return a, nil
}
