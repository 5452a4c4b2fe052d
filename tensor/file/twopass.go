package file

import (
	"bufio"
	"errors"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/lacuna-sparse/lacuna/internal/parts"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// twoPassEntries is from how many entries on a file is read twice: for fewer it does
// not matter how.
const twoPassEntries = 1 << 16

// compressor reads a large matrix straight into compressed rows (or columns, which
// it calls rows too): a first pass over the file counts the entries of every row, a
// second puts each in its row, a counting sort by rows as in F. G. Gustavson, "Two Fast
// Algorithms for Sparse Matrices: Multiplication and Permuted Transposition", ACM TOMS 4
// (1978). There never is a list of coordinates beside the arrays of the result, whatever the
// order of the entries. It is for files that can be read again and have no
// duplicates; whatever else is odd is left to the general way too.
type compressor struct {
	spec         *entrySpec
	major, minor int // the axes of rows and of the coordinates within

	pos    []uint32 // pos[r+1]: the entries of row r, later where the next of them goes
	crd    []uint32
	values tensor.Array
	batch  tensor.Array // values of a batch
}

// Why a file is not read in two passes after all.
var (
	errOdd     = errors.New("not a file for two passes")
	errChanged = errors.New("the file changed while it was read")
)

// newCompressor returns a compressor for entries that become a matrix of the given
// shape and format; nil if two passes are not for them.
func newCompressor(in *input, shape []int64, spec *entrySpec, promised int64, format tensor.Format) *compressor {
	if in.file == nil || len(shape) != 2 || promised < in.cfg.twoPass || format.HasBlocks() {
		return nil
	}
	stored := promised
	if spec.sym != general {
		stored *= 2
	}
	c := &compressor{spec: spec, major: format.Order()[0], minor: format.Order()[1]}
	if stored > math.MaxUint32 || shape[c.major]/2 > stored || max(shape[0], shape[1]) > 1<<32 {
		return nil // the indices need 64 bits, or most rows are empty
	}
	return c
}

// read reads the entries that start in line header+1 at the given offset of the
// file. The error errOdd says that they must be read in the general way.
func (c *compressor) read(in *input, offset int64, shape []int64, header int, promised int64) (*tensor.Tensor, error) {
	if err := in.fits(header, promised, c.spec.minBytes()); err != nil {
		return nil, err
	}
	if err := c.count(in, offset, shape[c.major], header, promised); err != nil {
		return nil, err
	}
	if err := c.fill(in, offset, header, promised); err != nil {
		return nil, err
	}
	if !c.sortRows() {
		return nil, errOdd
	}
	return c.matrix(in, shape)
}

// matrix makes a tensor of what the passes made.
func (c *compressor) matrix(in *input, shape []int64) (*tensor.Tensor, error) {
	format, err := tensor.CSR.WithOrder([]int{c.major, c.minor})
	if err != nil {
		return nil, err
	}
	levels := []tensor.Level{{}, {Pos: tensor.ArrayOf(c.pos), Crd: tensor.ArrayOf(c.crd)}}
	t, err := tensor.New(shape, format, levels, c.values, tensor.WithName(in.name))
	if err != nil {
		return nil, errChanged // or the passes would have made a matrix
	}
	return t, nil
}

// count is the first pass.
func (c *compressor) count(in *input, offset, rows int64, header int, promised int64) error {
	pos, err := in.cfg.memory.MakeArray(tensor.Uint32, int(rows)+1)
	if err != nil {
		return err
	}
	c.pos = tensor.View[uint32](pos)
	spec, err := c.indices()
	if err != nil {
		return err
	}
	stored, entries := uint64(0), int64(0)
	_, err = in.parseLines(in.from(offset), header+1, spec.parse, func(b *batch, _ int) error {
		entries += int64(b.entries)
		if entries > promised {
			return errOdd
		}
		stored += uint64(b.entries)
		list := b.coords[c.major][:b.entries]
		for _, r := range list {
			c.pos[r+1]++
		}
		if c.spec.sym != general {
			for i, s := range b.coords[c.minor][:b.entries] {
				if s != list[i] {
					c.pos[s+1]++
					stored++
				}
			}
		}
		return nil
	})
	if err != nil || entries < promised {
		return errOdd // a second look tells what is wrong
	}
	start := uint32(0)
	for r, n := range c.pos[1:] {
		c.pos[r+1] = start
		start += n
	}
	crd, err := in.cfg.memory.MakeArray(tensor.Uint32, int(stored))
	if err != nil {
		return err
	}
	c.crd = tensor.View[uint32](crd)
	c.values, err = in.cfg.memory.MakeArray(c.spec.value.dtype, int(stored))
	return err
}

// indices describes the indices that tell the rows of entries, and nothing else.
func (c *compressor) indices() (*entrySpec, error) {
	s := *c.spec
	s.rank, s.sym, s.leading = c.major+1, general, true
	if c.spec.sym != general {
		s.rank = 2
	}
	var err error
	s.value, err = newValueSpec(0, tensor.Bool)
	return &s, err
}

// fill is the second pass.
func (c *compressor) fill(in *input, offset int64, header int, promised int64) error {
	stored := 0
	err := readEntries(in, in.from(offset), c.spec, header, promised, func(b *batch) error {
		stored += b.stored
		switch size := c.spec.value.dtype.Size(); size {
		case 8:
			if c.spec.value.words == 1 {
				return placeValues(c, b, b.words[:b.stored])
			}
			return placeBatch[uint64](c, b)
		case 1:
			return placeBatch[uint8](c, b)
		case 2:
			return placeBatch[uint16](c, b)
		case 4:
			return placeBatch[uint32](c, b)
		}
		return placeBatch[complex128](c, b)
	})
	if err == nil && stored != len(c.crd) {
		return errChanged
	}
	return err
}

// placeBatch puts the entries of a batch in their rows.
func placeBatch[T uint8 | uint16 | uint32 | uint64 | complex128](c *compressor, b *batch) error {
	if c.batch.Len() < b.stored {
		var err error
		if c.batch, err = tensor.MakeArray(c.spec.value.dtype, len(b.coords[0])); err != nil {
			return err
		}
	}
	values := c.batch.Slice(0, b.stored)
	c.spec.value.put(values, b.words)
	return placeValues(c, b, tensor.View[T](values))
}

// placeValues is placeBatch for values of one width.
func placeValues[T uint8 | uint16 | uint32 | uint64 | complex128](c *compressor, b *batch, values []T) error {
	to := tensor.View[T](c.values)
	rows, cols := b.coords[c.major][:len(values)], b.coords[c.minor][:len(values)]
	for i, v := range values {
		end := &c.pos[rows[i]+1]
		at := *end
		if int(at) >= len(to) {
			return errChanged
		}
		*end = at + 1
		c.crd[at], to[at] = uint32(cols[i]), v
	}
	return nil
}

// sortRows sorts the entries within rows. It is false if a row has two entries at one
// place.
func (c *compressor) sortRows() bool {
	switch c.values.DType().Size() {
	case 1:
		return sortRowsOf[uint8](c)
	case 2:
		return sortRowsOf[uint16](c)
	case 4:
		return sortRowsOf[uint32](c)
	case 8:
		return sortRowsOf[uint64](c)
	}
	return sortRowsOf[complex128](c)
}

// sortRowsOf is sortRows for values of one width.
func sortRowsOf[T uint8 | uint16 | uint32 | uint64 | complex128](c *compressor) bool {
	var repeats [parts.Most]bool
	values := tensor.View[T](c.values)
	const rowsWorth = 1 << 12
	parts.Do(len(c.pos)-1, rowsWorth, func(part, lo, hi int) {
		var s rowSorter[T]
		for r := lo; r < hi; r++ {
			from, to := int(c.pos[r]), int(c.pos[r+1])
			if from > to { // only if the file changed, which the caller finds
				return
			}
			if s.crd, s.values = c.crd[from:to], values[from:to]; s.sort() {
				repeats[part] = true
				return
			}
		}
	})
	return !slices.Contains(repeats[:], true)
}

// rowSorter sorts the entries of one row at a time.
type rowSorter[T any] struct {
	crd     []uint32
	values  []T
	keys    []uint64 // scratch: coordinate and place
	scratch []T
}

// longRow is the length from which a row is sorted in place, which takes longer but
// no scratch memory.
const longRow = 1 << 16

// sort sorts the row by coordinate and reports whether one occurs twice.
func (s *rowSorter[T]) sort() (repeats bool) {
	rises := func() bool {
		for i := 1; i < len(s.crd); i++ {
			if s.crd[i] <= s.crd[i-1] {
				return false
			}
		}
		return true
	}
	if rises() {
		return false
	}
	if len(s.crd) > longRow {
		sort.Sort(s)
		return !rises()
	}
	s.keys = s.keys[:0]
	for i, c := range s.crd {
		s.keys = append(s.keys, uint64(c)<<32|uint64(i))
	}
	slices.Sort(s.keys)
	s.scratch = append(s.scratch[:0], s.values...)
	for i, k := range s.keys {
		s.crd[i], s.values[i] = uint32(k>>32), s.scratch[uint32(k)]
	}
	return !rises()
}

// Len, Less and Swap implement sort.Interface.
func (s *rowSorter[T]) Len() int           { return len(s.crd) }
func (s *rowSorter[T]) Less(i, j int) bool { return s.crd[i] < s.crd[j] }
func (s *rowSorter[T]) Swap(i, j int) {
	s.crd[i], s.crd[j] = s.crd[j], s.crd[i]
	s.values[i], s.values[j] = s.values[j], s.values[i]
}

// from returns the contents of a file from an offset on.
func (in *input) from(offset int64) io.Reader {
	return io.NewSectionReader(in.file, offset, in.size-offset)
}

// rewind makes the input go on at an offset of its file.
func (in *input) rewind(offset int64) {
	in.r = bufio.NewReaderSize(in.from(offset), headerLine)
}
