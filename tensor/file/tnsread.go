package file

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// tnsLine is one of the first lines of a .tns file that are neither blank nor a
// comment.
type tnsLine struct {
	fields [][]byte
	number int   // line in the file
	end    int   // offset of the next line in the saved text
	after  int64 // and in the file
}

// tnsHead is the beginning of a .tns file, looked at to tell its dialect.
type tnsHead struct {
	lines []tnsLine // three at most
	saved []byte    // all text up to the last of them, comments left out
}

// readTNS reads a FROSTT file (http://frostt.io/tensors/file-formats.html) or
// MLIR's extension of it. Duplicates are summed. Lines without a value mean 1.
func readTNS(in *input) (*tensor.Tensor, error) {
	head, err := readTNSHead(in)
	if err != nil {
		return nil, err
	}
	dialect := in.cfg.dialect
	if dialect == DetectDialect {
		dialect = head.detect(in.cfg)
	}
	if dialect == ExtendedTNS {
		return readExtendedTNS(in, head)
	}
	return readPlainTNS(in, head)
}

// readTNSHead reads the first three lines that hold something.
func readTNSHead(in *input) (*tnsHead, error) {
	h := &tnsHead{}
	for number := 1; len(h.lines) < 3; number++ {
		b, err := in.line()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = in.checkIdle(number, int(in.consumed))
		}
		if err != nil {
			return nil, err
		}
		if number == 1 {
			b = bytes.TrimPrefix(b, utf8BOM)
		}
		fields := bytes.Fields(b)
		if len(fields) > 0 && fields[0][0] == '#' {
			fields, b = nil, nil
		}
		h.saved = append(append(h.saved, b...), '\n')
		if len(fields) > 0 {
			h.lines = append(h.lines, tnsLine{copyFields(fields), number, len(h.saved), in.consumed})
		}
	}
	return h, nil
}

func copyFields(fields [][]byte) [][]byte {
	c := make([][]byte, len(fields))
	for i, f := range fields {
		c[i] = bytes.Clone(f)
	}
	return c
}

// integer returns field i as a non-negative integer.
func (l *tnsLine) integer(i int) (int64, bool) {
	f := l.fields[i]
	v, end, st := scanUint(append(f[:len(f):len(f)], '\n'), 0)
	return int64(v), st == numOK && end == len(f) && v <= math.MaxInt64
}

// integers returns all fields as non-negative integers.
func (l *tnsLine) integers() ([]int64, bool) {
	out := make([]int64, len(l.fields))
	for i := range out {
		var ok bool
		if out[i], ok = l.integer(i); !ok {
			return nil, false
		}
	}
	return out, true
}

// detect tells the dialects apart. An extended file starts with a line "rank
// entries" and a line of as many sizes as the rank says; in a plain file the first
// two lines have equally many fields, so only rank 2 (and a scalar) leave a doubt,
// which the third line settles: a plain file has two fields there too.
func (h *tnsHead) detect(cfg *config) Dialect {
	if len(h.lines) == 0 || len(h.lines[0].fields) != 2 {
		return PlainTNS
	}
	first, ok := h.lines[0].integers()
	if !ok || cfg.dims != nil && first[0] != int64(len(cfg.dims)) {
		return PlainTNS
	}
	rank, entries := first[0], first[1]
	empty := entries == 0
	extended := false
	switch {
	case len(h.lines) == 1:
	case rank == 0:
		n := len(h.lines[1].fields)
		extended = n == 1 || n == 2 && cfg.dtype.IsComplex()
	case int64(len(h.lines[1].fields)) != rank:
	case rank != 2:
		_, extended = h.lines[1].integers()
	case len(h.lines) == 2:
		_, extended = h.lines[1].integers()
		extended = extended && empty
	default:
		_, extended = h.lines[1].integers()
		extended = extended && len(h.lines[2].fields) > 2
	}
	if extended {
		return ExtendedTNS
	}
	return PlainTNS
}

// tnsSpec describes the entries, of which first (nil if there are none) is one.
func tnsSpec(in *input, shape []int64, first *tnsLine) (*entrySpec, error) {
	tokens, line := 1, 0
	if first != nil {
		tokens, line = len(first.fields)-len(shape), first.number
	}
	if tokens < 0 || tokens > 2 {
		return nil, in.errorf(line, "%d fields on a line, but the tensor has rank %d: expected as many indices and then nothing, a value, or two numbers (real, imaginary)", len(first.fields), len(shape))
	}
	dt := in.cfg.dtype
	switch {
	case dt != 0:
	case tokens == 2:
		dt = tensor.Complex128
	default:
		dt = tensor.Float64
	}
	value, err := newValueSpec(tokens, dt)
	if err != nil {
		return nil, &FileError{Path: in.name, Line: line, Msg: err.Error(), Err: err}
	}
	spec := &entrySpec{value: value, rank: len(shape), base: in.cfg.indexBase(1), comment: '#'}
	for _, d := range shape {
		spec.dims = append(spec.dims, uint64(d))
	}
	return spec, nil
}

func readExtendedTNS(in *input, h *tnsHead) (*tensor.Tensor, error) {
	const form = "an extended .tns file starts with a line \"rank entries\" and a line with as many sizes"
	if len(h.lines) == 0 {
		return nil, in.errorf(0, "the file is empty: %s", form)
	}
	first, ok := h.lines[0].integers()
	if !ok || len(first) != 2 {
		return nil, in.errorf(h.lines[0].number, "%s", form)
	}
	rank, entries, body := first[0], first[1], 1
	if rank > tensor.MaxRank {
		return nil, in.errorf(h.lines[0].number, "rank %d is more than the %d that are supported", rank, tensor.MaxRank)
	}
	shape := []int64{}
	if rank > 0 {
		if len(h.lines) < 2 {
			return nil, in.errorf(h.lines[0].number, "the file ends before the line with the sizes")
		}
		if shape, ok = h.lines[1].integers(); !ok || int64(len(shape)) != rank {
			return nil, in.errorf(h.lines[1].number, "expected %d sizes: %s", rank, form)
		}
		body = 2
	}
	header := h.lines[body-1]
	if in.cfg.dims != nil && !slices.Equal(in.cfg.dims, shape) {
		return nil, in.errorf(header.number, "the sizes are %v, but the caller says %v", shape, in.cfg.dims)
	}
	var entry *tnsLine
	if len(h.lines) > body {
		entry = &h.lines[body]
	}
	spec, err := tnsSpec(in, shape, entry)
	if err != nil {
		return nil, err
	}
	list, err := readCoords(in, io.MultiReader(bytes.NewReader(h.saved[header.end:]), in.r), spec, header.number, entries)
	if err != nil {
		return nil, err
	}
	return buildCoords(in, shape, list)
}

func readPlainTNS(in *input, h *tnsHead) (*tensor.Tensor, error) {
	shape := in.cfg.dims
	var entry *tnsLine
	if len(h.lines) > 0 {
		entry = &h.lines[0]
	}
	switch {
	case shape != nil:
	case entry == nil:
		return nil, in.errorf(0, "the file has no entries, so the number and sizes of its axes are unknown: give them with Dims")
	case len(entry.fields) == 1:
		return nil, in.errorf(entry.number, "one field on the line: expected at least an index and a value (if the entries have no values, give the sizes with Dims)")
	case len(entry.fields)-1 > tensor.MaxRank:
		return nil, in.errorf(entry.number, "rank %d is more than the %d that are supported", len(entry.fields)-1, tensor.MaxRank)
	}
	bound := shape
	if shape == nil {
		for range len(entry.fields) - 1 {
			bound = append(bound, math.MaxInt64)
		}
	}
	spec, err := tnsSpec(in, bound, entry)
	if err != nil {
		return nil, err
	}
	list, err := newCoordList(in.cfg.memory, spec, in.guess(h))
	if err != nil {
		return nil, err
	}
	body := io.MultiReader(bytes.NewReader(h.saved), in.r)
	_, err = in.parseLines(body, 1, spec.parse, func(b *batch, _ int) error {
		return list.add(b)
	})
	if err != nil {
		return nil, err
	}
	if shape == nil {
		shape = make([]int64, len(bound))
		for k := range shape {
			shape[k] = list.coords[k].max() + 1 // there is an entry: bound comes from one
		}
	}
	return buildCoords(in, shape, list)
}

// guess estimates how many entries the file has from the length of the first.
func (in *input) guess(h *tnsHead) int64 {
	if in.size < 0 || len(h.lines) == 0 {
		return 0
	}
	return in.size / int64(max(4, len(h.saved)/len(h.lines)))
}
