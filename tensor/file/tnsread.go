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
	body, err := head.body(in)
	if err != nil {
		return nil, err
	}
	spec, err := tnsSpec(in, body.bound, body.first)
	if err != nil {
		return nil, err
	}
	text := io.MultiReader(bytes.NewReader(head.saved[body.end:]), in.r)
	if body.promised >= 0 {
		list, err := readCoords(in, text, spec, body.line, body.promised)
		if err != nil {
			return nil, err
		}
		return buildCoords(in, body.shape, list)
	}
	list, err := newCoordList(in.cfg.memory, spec, in.guess(head))
	if err != nil {
		return nil, err
	}
	if _, err = in.parseLines(text, 1, spec.parse, func(b *batch, _ int) error { return list.add(b) }); err != nil {
		return nil, err
	}
	if body.open {
		body.shape = list.extents()
	}
	return buildCoords(in, body.shape, list)
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

// tnsBody is what the first lines of a file say of its entries.
type tnsBody struct {
	shape, bound []int64  // the sizes, and bounds of coordinates
	open         bool     // the file does not tell the sizes
	promised     int64    // how many entries there are, -1 if the file does not say
	first        *tnsLine // the first entry, nil if there is none
	line         int      // the last line before the entries, 0 if they begin the file,
	end          int      // where they begin in the saved text,
	after        int64    // and in the file
}

// body finds out what the first lines say.
func (h *tnsHead) body(in *input) (tnsBody, error) {
	dialect := in.cfg.dialect
	if dialect == DetectDialect {
		dialect = h.detect(in.cfg)
	}
	if dialect == ExtendedTNS {
		return h.extendedBody(in)
	}
	b := tnsBody{shape: in.cfg.dims, bound: in.cfg.dims, open: in.cfg.dims == nil, promised: -1}
	if len(h.lines) > 0 {
		b.first = &h.lines[0]
	}
	switch {
	case !b.open:
		return b, nil
	case b.first == nil:
		return b, in.errorf(0, "the file has no entries, so the number and sizes of its axes are unknown: give them with Dims")
	case len(b.first.fields) == 1:
		return b, in.errorf(b.first.number, "one field on the line: expected at least an index and a value (if the entries have no values, give the sizes with Dims)")
	case len(b.first.fields)-1 > tensor.MaxRank:
		return b, in.errorf(b.first.number, "rank %d is more than the %d that are supported", len(b.first.fields)-1, tensor.MaxRank)
	}
	for range len(b.first.fields) - 1 {
		b.bound = append(b.bound, math.MaxInt64)
	}
	return b, nil
}

// extendedBody is body for an extended file.
func (h *tnsHead) extendedBody(in *input) (b tnsBody, err error) {
	const form = "an extended .tns file starts with a line \"rank entries\" and a line with as many sizes"
	if len(h.lines) == 0 {
		return b, in.errorf(0, "the file is empty: %s", form)
	}
	first, ok := h.lines[0].integers()
	if !ok || len(first) != 2 {
		return b, in.errorf(h.lines[0].number, "%s", form)
	}
	rank, header := first[0], h.lines[0]
	b.promised = first[1]
	if rank > tensor.MaxRank {
		return b, in.errorf(header.number, "rank %d is more than the %d that are supported", rank, tensor.MaxRank)
	}
	entry := 1
	b.shape = []int64{}
	if rank > 0 {
		if len(h.lines) < 2 {
			return b, in.errorf(header.number, "the file ends before the line with the sizes")
		}
		header, entry = h.lines[1], 2
		if b.shape, ok = header.integers(); !ok || int64(len(b.shape)) != rank {
			return b, in.errorf(header.number, "expected %d sizes: %s", rank, form)
		}
	}
	if in.cfg.dims != nil && !slices.Equal(in.cfg.dims, b.shape) {
		return b, in.errorf(header.number, "the sizes are %v, but the caller says %v", b.shape, in.cfg.dims)
	}
	if len(h.lines) > entry {
		b.first = &h.lines[entry]
	}
	b.bound, b.line, b.end, b.after = b.shape, header.number, header.end, header.after
	return b, nil
}

// guess estimates how many entries the file has from the length of the first.
func (in *input) guess(h *tnsHead) int64 {
	if in.size < 0 || len(h.lines) == 0 {
		return 0
	}
	return in.size / int64(max(4, len(h.saved)/len(h.lines)))
}
