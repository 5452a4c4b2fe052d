package file

import (
	"io"
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// readMatrixMarket reads a Matrix Market file: a coordinate file gives COO, an
// array file all dense. Symmetric matrices are expanded to both triangles.
//
// The format is R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market
// Exchange Formats: Initial Design", NISTIR 5935, 1996, with TACO's tensor object
// and the unsigned-integer field of later tools. Comments and blank lines are
// taken anywhere, and an entry of the upper triangle of a symmetric matrix is
// mirrored like one of the lower.
func readMatrixMarket(in *input) (*tensor.Tensor, error) {
	h, err := readMTXHeader(in)
	if err != nil {
		return nil, err
	}
	if h.dense {
		return readMTXArray(in, h)
	}
	return readMTXCoordinate(in, h)
}

func readMTXCoordinate(in *input, h *mtxHeader) (*tensor.Tensor, error) {
	spec, err := h.entrySpec(in)
	if err != nil {
		return nil, err
	}
	format, err := in.format(len(h.shape), tensor.Coordinates(len(h.shape)))
	if err != nil {
		return nil, err
	}
	if c := newCompressor(in, h.shape, spec, h.entries, format); c != nil {
		offset := in.consumed
		t, err := c.read(in, offset, h.shape, h.lines, h.entries)
		switch {
		case err == nil:
			return in.cfg.builder.Convert(t, format)
		case err != errOdd:
			return nil, err
		}
		in.rewind(offset)
	}
	list, err := readCoords(in, in.r, spec, h.lines, h.entries)
	if err != nil {
		return nil, err
	}
	return buildCoords(in, h.shape, list)
}

// entrySpec says how to read the entries of a coordinate file.
func (h *mtxHeader) entrySpec(in *input) (*entrySpec, error) {
	value, err := h.values(in)
	if err != nil {
		return nil, err
	}
	spec := &entrySpec{value: value, rank: len(h.shape), base: in.cfg.indexBase(1), sym: h.sym, comment: '%'}
	for _, d := range h.shape {
		spec.dims = append(spec.dims, uint64(d))
	}
	return spec, nil
}

// readCoords reads the entries of a coordinate text into a list; see readEntries.
func readCoords(in *input, r io.Reader, spec *entrySpec, header int, promised int64) (*coordList, error) {
	if err := in.fits(header, promised, spec.minBytes()); err != nil {
		return nil, err
	}
	room := in.plan(promised)
	if spec.sym != general {
		room *= 2
	}
	list, err := newCoordList(in.cfg.memory, spec, room)
	if err != nil {
		return nil, err
	}
	return list, readEntries(in, r, spec, header, promised, list.add)
}

// readEntries reads the entries of a coordinate text that promises a count of
// them on its line number header, the last line read, and hands them to add. The text
// must keep its word.
func readEntries(in *input, r io.Reader, spec *entrySpec, header int, promised int64, add func(*batch) error) error {
	seen := int64(0)
	last, err := in.parseLines(r, header+1, spec.parse, func(b *batch, line int) error {
		if left := promised - seen; int64(b.entries) > left {
			return in.errorAt(b, spec.parse, int(left), line, "an entry more than the %d that the header promises", promised)
		}
		seen += int64(b.entries)
		return add(b)
	})
	if err != nil {
		return err
	}
	if seen < promised {
		return in.errorf(max(last-1, header), "the file ends after %d of the %d entries that the header promises", seen, promised)
	}
	return nil
}

// errorAt complains about entry number n of a batch. Parsing it again up to there
// finds the line.
func (in *input) errorAt(b *batch, parse func(*batch), n, line int, format string, args ...any) error {
	b.reset()
	b.limit = n
	parse(b)
	return in.errorf(line+b.lines, format, args...)
}

func readMTXArray(in *input, h *mtxHeader) (*tensor.Tensor, error) {
	value, err := h.values(in)
	if err != nil {
		return nil, err
	}
	spec := &entrySpec{value: value, comment: '%', several: true}
	if err := in.fits(h.lines, h.entries, spec.minBytes()); err != nil {
		return nil, err
	}
	fill, err := newArrayFill(in, h, &value)
	if err != nil {
		return nil, err
	}
	seen := int64(0)
	diagonal := h.diagonal()
	last, err := in.parseLines(in.r, h.lines+1, spec.parse, func(b *batch, line int) error {
		if left := h.entries - seen; int64(b.entries) > left {
			return in.errorAt(b, spec.parse, int(left), line, "a value more than the %d that the sizes ask for", h.entries)
		}
		fresh := b.words[:b.entries*value.words]
		for ; diagonal.at < seen+int64(b.entries); diagonal.next() {
			i := int(diagonal.at - seen)
			var w [2]uint64
			copy(w[:], fresh[i*value.words:(i+1)*value.words])
			if msg := h.sym.checkDiagonal(&value, &w); msg != "" {
				return in.errorAt(b, spec.parse, i, line, "%s", msg)
			}
		}
		seen += int64(b.entries)
		return fill.add(fresh)
	})
	if err != nil {
		return nil, err
	}
	if seen < h.entries {
		return nil, in.errorf(max(last-1, h.lines), "the file ends after %d of the %d values that the sizes ask for", seen, h.entries)
	}
	values, err := fill.done()
	if err != nil {
		return nil, err
	}
	return denseTensor(in, h.shape, values)
}

// diagonalWalk lists the places of the diagonal in the values of an array file.
type diagonalWalk struct {
	at, step int64
}

func (w *diagonalWalk) next() {
	w.at += w.step
	w.step--
}

// diagonal starts a walk over the diagonal where it is stored and has a rule to
// obey: of hermitian matrices.
func (h *mtxHeader) diagonal() diagonalWalk {
	if h.sym != hermitian || h.shape[0] == 0 {
		return diagonalWalk{at: math.MaxInt64}
	}
	return diagonalWalk{at: 0, step: h.shape[0]}
}
