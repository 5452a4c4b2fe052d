package file

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// growStep is the memory first set aside for data of a size that is only promised.
const growStep = 1 << 20

// readNPY reads a NumPy array into a tensor that is dense all through.
func readNPY(in *input) (*tensor.Tensor, error) {
	return readArray(in, stream{in.r, in.size, in.most, 0})
}

// stream is what holds an array in a .npy file, and nothing else.
type stream struct {
	r    io.Reader
	size int64 // bytes that there are; -1: unknown
	most int64 // bytes that there are at most; -1: unknown
	at   int64 // where the bytes stand in the mapped file, if they do as they are; else -1
}

// readArray reads an array.
func readArray(in *input, s stream) (*tensor.Tensor, error) {
	h, values, err := readElements(in, "values", s)
	if err != nil {
		return nil, err
	}
	if h.fortran && in.cfg.dtype == 0 && in.cfg.format == nil && values.Foreign() != nil {
		return columnMajor(in, h.shape, values)
	}
	if h.fortran && len(h.shape) > 1 {
		in.mapped.copied("values", "they are in Fortran order")
		if values, err = rowMajorArray(values, h.shape); err != nil {
			return nil, err
		}
	}
	if dt := in.cfg.dtype; dt != 0 {
		if h.typ.dtype.IsComplex() && !dt.IsComplex() {
			return nil, fmt.Errorf("values are complex; reading them as %v would lose their imaginary parts (ask for c64 or c128)", dt)
		}
		if dt != values.DType() {
			in.mapped.copied("values", fmt.Sprintf("converted from %v to %v", values.DType(), dt))
		}
		if values, err = values.Convert(dt); err != nil {
			return nil, err
		}
	}
	return denseTensor(in, h.shape, values)
}

// readElements reads the header and the elements of an array as readArray does, in
// the order in which they stand. The name is for messages.
func readElements(in *input, name string, s stream) (*npyHeader, tensor.Array, error) {
	h, err := readNPYHeader(s.r)
	if err != nil {
		return nil, tensor.Array{}, err
	}
	if h.text {
		return nil, tensor.Array{}, fmt.Errorf(".npy header: the elements are text (%s); only numbers can be read", h.typ.code)
	}
	n, want, err := h.count()
	if err != nil {
		return nil, tensor.Array{}, err
	}
	if have := s.size - h.size; s.size >= 0 && have != want {
		return nil, tensor.Array{}, fmt.Errorf("the header promises %d bytes of data (%d elements), but the file has %d", want, n, have)
	}
	if s.most >= 0 && want > s.most {
		return nil, tensor.Array{}, fmt.Errorf("the header promises %d bytes of data (%d elements), but they are compressed to so little that there cannot be more than %d",
			want, n, s.most)
	}
	var values tensor.Array
	if in.mapped != nil && s.at >= 0 {
		values, err = in.mapped.array(h.place(name, s.at, n))
	} else {
		values, err = readData(in.cfg.memory, s, h, int(n), int(want))
	}
	return h, values, err
}

// longestText bounds a string in an archive: the descriptor of a tensor is short.
const longestText = 16 << 20

// readText reads an array that is one string: bytes (S), or code points of 4 bytes (U).
func readText(r io.Reader) (string, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return "", err
	}
	if n, ok := product(h.shape); !h.text || !ok || n != 1 {
		return "", fmt.Errorf("it is of type %s and shape %v: expected one string", h.typ.code, h.shape)
	}
	if h.width > longestText {
		return "", fmt.Errorf("a string of %d bytes: at most %d are read", h.width, longestText)
	}
	raw, err := readGrowing(r, h.width)
	if err != nil {
		return "", npyDataShort(err, h.width)
	}
	if h.typ.word == 1 {
		return strings.TrimRight(string(raw), "\x00"), nil
	}
	if h.big {
		swapBytes(raw, h.typ.word)
	}
	var b strings.Builder
	for ; len(raw) >= 4; raw = raw[4:] {
		if c := binary.LittleEndian.Uint32(raw); c != 0 {
			b.WriteRune(rune(c))
		}
	}
	return b.String(), nil
}

// place is where the elements stand in a file that the header is in at an offset.
func (h *npyHeader) place(name string, at, n int64) place {
	p := place{name: name, offset: at + h.size, n: n, dtype: h.typ.dtype}
	if h.big {
		p.swap = h.typ.word
	}
	return p
}

// columnMajor makes a tensor of values in which the first index runs fastest, as
// they are.
func columnMajor(in *input, shape []int64, values tensor.Array) (*tensor.Tensor, error) {
	format, err := firstFastest(len(shape))
	if err != nil {
		return nil, err
	}
	return tensor.New(shape, format, make([]tensor.Level, len(shape)), values, tensor.WithName(in.name))
}

// firstFastest is the dense format in which the first index runs fastest.
func firstFastest(rank int) (tensor.Format, error) {
	order := make([]int, rank)
	for k := range order {
		order[k] = rank - 1 - k
	}
	return tensor.Dense(rank).WithOrder(order)
}

// readData reads the elements. Where the size of the file, or what it may unpack to, vouches for their
// number they are read in place; else memory grows with what is there.
func readData(m Memory, s stream, h *npyHeader, n, bytes int) (tensor.Array, error) {
	r := s.r
	var values tensor.Array
	if s.most >= 0 || bytes <= growStep {
		var err error
		if values, err = m.MakeArray(h.typ.dtype, n); err != nil {
			return values, err
		}
		if _, err := io.ReadFull(r, values.Raw()); err != nil {
			return values, npyDataShort(err, bytes)
		}
	} else {
		raw, err := readGrowing(r, bytes)
		if err != nil {
			return values, npyDataShort(err, bytes)
		}
		if values, err = m.MakeArray(h.typ.dtype, n); err != nil {
			return values, err
		}
		copy(values.Raw(), raw)
	}
	if s.size < 0 {
		var one [1]byte
		switch _, err := io.ReadFull(r, one[:]); err {
		case io.EOF:
		case nil:
			return values, fmt.Errorf("data go on after the %d bytes that the header promises", bytes)
		default:
			return values, err
		}
	}
	if h.big {
		swapBytes(values.Raw(), h.typ.word)
	}
	if h.typ.dtype == tensor.Bool { // any byte but 0 is true to NumPy; ours is 0 or 1
		normaliseBools(values.Raw())
	}
	return values, nil
}

func npyDataShort(err error, bytes int) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the data end before the %d bytes that the header promises", bytes)
	}
	return err
}

// readGrowing reads n bytes into memory that is never more than about twice what
// has been read.
func readGrowing(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, 0, min(n, growStep))
	for len(buf) < n {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(n-len(buf), len(buf)))
		}
		part := buf[len(buf):min(cap(buf), n)]
		got, err := io.ReadFull(r, part)
		buf = buf[:len(buf)+got]
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// swapBytes reverses the bytes of every word of the given size.
func swapBytes(raw []byte, word int) {
	for ; word > 1 && len(raw) >= word; raw = raw[word:] {
		slices.Reverse(raw[:word])
	}
}

// rowMajorArray returns the elements of an array that is listed with its first
// index fastest, with the last index fastest.
func rowMajorArray(a tensor.Array, shape []int64) (tensor.Array, error) {
	format, err := firstFastest(len(shape))
	if err != nil {
		return a, err
	}
	return tensor.NewTrusted(shape, format, nil, a, tensor.Zero(a.DType())).ToDense()
}
