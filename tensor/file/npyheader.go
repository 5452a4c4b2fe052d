package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// npyMagic begins every .npy file.
const npyMagic = "\x93NUMPY"

// npyHeaderMost bounds the length of a header. NumPy itself refuses more than
// 10,000 bytes unless told otherwise.
const npyHeaderMost = 1 << 16

// npyType is an element type of .npy files.
type npyType struct {
	code  string // as in descr, after the byte-order character
	dtype tensor.DType
	word  int // bytes that are swapped together for the other byte order
}

// npyTypes is the table of element types. NumPy has no bfloat16.
var npyTypes = [...]npyType{
	{"b1", tensor.Bool, 1},
	{"i1", tensor.Int8, 1}, {"i2", tensor.Int16, 2}, {"i4", tensor.Int32, 4}, {"i8", tensor.Int64, 8},
	{"u1", tensor.Uint8, 1}, {"u2", tensor.Uint16, 2}, {"u4", tensor.Uint32, 4}, {"u8", tensor.Uint64, 8},
	{"f2", tensor.Float16, 2}, {"f4", tensor.Float32, 4}, {"f8", tensor.Float64, 8},
	{"c8", tensor.Complex64, 4}, {"c16", tensor.Complex128, 8},
}

// npyTypeOf is the type of a code; one without an element type if it is not known.
func npyTypeOf(code string) npyType {
	for _, t := range npyTypes {
		if t.code == code {
			return t
		}
	}
	return npyType{}
}

// npyHeader is the header of a .npy file
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
type npyHeader struct {
	typ     npyType
	big     bool // big-endian
	fortran bool // first index fastest
	text    bool // elements are strings of width bytes, each of which takes typ.word for a character
	width   int
	shape   []int64
	size    int64 // bytes of the header, magic included
}

// readNPYHeader reads the header of versions 1, 2 and 3, which differ in the
// width of its length and in its character set.
func readNPYHeader(r io.Reader) (*npyHeader, error) {
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil {
		return nil, npyShort(err)
	}
	if string(pre[:6]) != npyMagic {
		return nil, fmt.Errorf("not a .npy file: it must start with %q", npyMagic)
	}
	wide := 4
	switch major := pre[6]; major {
	case 1:
		wide = 2
	case 2, 3:
	default:
		return nil, fmt.Errorf(".npy version %d.%d is not known (1, 2 and 3 are)", major, pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+wide]); err != nil {
		return nil, npyShort(err)
	}
	n := uint32(binary.LittleEndian.Uint16(pre[8:]))
	if wide == 4 {
		n = binary.LittleEndian.Uint32(pre[8:])
	}
	if n > npyHeaderMost {
		return nil, fmt.Errorf("the .npy header says it is %d bytes long, more than the allowed %d", n, npyHeaderMost)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, npyShort(err)
	}
	h := &npyHeader{size: int64(8 + wide + int(n))}
	if err := h.parse(string(text)); err != nil {
		return nil, fmt.Errorf(".npy header: %w", err)
	}
	return h, nil
}

func npyShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends within the .npy header")
	}
	return err
}

// parse reads the header's text, a Python dictionary:
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
func (h *npyHeader) parse(text string) error {
	p := &pyScanner{rest: text}
	if err := p.expect("{"); err != nil {
		return err
	}
	var seen [3]bool
	for !p.accept("}") {
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := p.expect(":"); err != nil {
			return err
		}
		switch key {
		case "descr":
			seen[0], err = true, h.parseDescr(p)
		case "fortran_order":
			seen[1] = true
			h.fortran, err = p.boolean()
		case "shape":
			seen[2] = true
			h.shape, err = p.tuple()
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return err
		}
		if !p.accept(",") {
			if err := p.expect("}"); err != nil {
				return err
			}
			break
		}
	}
	if strings.TrimSpace(p.rest) != "" {
		return fmt.Errorf("unexpected %s after the dictionary", quote([]byte(p.rest)))
	}
	if seen != [3]bool{true, true, true} {
		return errors.New("expected the keys descr, fortran_order and shape")
	}
	return nil
}

// parseDescr reads the element type: '<f8'.
func (h *npyHeader) parseDescr(p *pyScanner) error {
	if p.skip(); strings.HasPrefix(p.rest, "[") {
		return errors.New("the elements are records; only plain numbers can be read")
	}
	descr, err := p.str()
	if err != nil {
		return err
	}
	if descr == "" {
		return errors.New("descr is empty")
	}
	switch descr[0] {
	case '<', '|', '=':
	case '>':
		h.big = true
	default:
		return fmt.Errorf("descr %q: expected a byte order (<, > or |) first", descr)
	}
	if h.typ = npyTypeOf(descr[1:]); h.typ.dtype.Valid() || h.parseText(descr[1:]) {
		return nil
	}
	hint := ""
	switch descr[1:] {
	case "O":
		hint = " (Python objects; save the array with a numeric dtype)"
	case "V2":
		hint = " (raw bytes; if they are bfloat16, save the array as float32)"
	case "f12", "f16", "c24", "c32":
		hint = " (long double; save the array as float64 or complex128)"
	}
	return fmt.Errorf("element type %q cannot be read%s: expected bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 or complex128", descr, hint)
}

// parseText reads the type of strings: S3, U12.
func (h *npyHeader) parseText(code string) bool {
	kind, length, ok := code[:min(1, len(code))], 0, false
	if n, err := strconv.ParseUint(code[len(kind):], 10, 28); err == nil {
		length, ok = int(n), kind == "S" || kind == "U"
	}
	if !ok {
		return false
	}
	word := 1
	if kind == "U" {
		word = 4
	}
	h.typ, h.text, h.width = npyType{code: code, word: word}, true, length*word
	return true
}

// count returns the number of elements and of bytes, or an error if they are
// too many to address.
func (h *npyHeader) count() (n, bytes int64, err error) {
	n, ok := product(h.shape)
	size := int64(h.typ.dtype.Size())
	if !ok || n > math.MaxInt64/size {
		return 0, 0, fmt.Errorf("an array of shape %v does not fit in memory", h.shape)
	}
	return n, n * size, nil
}

// npyHeaderText is a header of version 1, padded so that the data that
// follow it are aligned to 64 bytes. shape has at most tensor.MaxRank sizes, which keeps
// the header far below that version's limit.
func npyHeaderText(code string, shape []int64) []byte {
	order := "<"
	if code == "b1" || code == "i1" || code == "u1" || code[0] == 'S' {
		order = "|"
	}
	var dims strings.Builder
	for _, d := range shape {
		dims.WriteString(strconv.FormatInt(d, 10))
		dims.WriteString(", ")
	}
	list := dims.String()
	if len(shape) != 1 {
		list = strings.TrimSuffix(list, ", ")
	} else {
		list = strings.TrimSuffix(list, " ")
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, list)
	pad := 64 - (10+len(text)+1)%64
	text += strings.Repeat(" ", pad%64) + "\n"
	dst := append([]byte(npyMagic), 1, 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(text)))
	return append(dst, text...)
}

// pyScanner reads the few Python literals that occur in headers.
type pyScanner struct{ rest string }

func (p *pyScanner) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// accept skips a token if it comes next.
func (p *pyScanner) accept(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return ok
}

func (p *pyScanner) expect(token string) error {
	if p.accept(token) {
		return nil
	}
	return fmt.Errorf("expected %q before %s", token, quote([]byte(p.rest)))
}

// str reads a string without escapes, which names of types do not need.
func (p *pyScanner) str() (string, error) {
	p.skip()
	if p.rest != "" && (p.rest[0] == '\'' || p.rest[0] == '"') {
		if end := strings.IndexByte(p.rest[1:], p.rest[0]); end >= 0 {
			s := p.rest[1 : 1+end]
			p.rest = p.rest[end+2:]
			return s, nil
		}
	}
	return "", fmt.Errorf("expected a string at %s", quote([]byte(p.rest)))
}

func (p *pyScanner) boolean() (bool, error) {
	switch {
	case p.accept("True"):
		return true, nil
	case p.accept("False"):
		return false, nil
	}
	return false, fmt.Errorf("expected True or False at %s", quote([]byte(p.rest)))
}

// tuple reads a tuple of sizes; Python 2 marked long ones with an L.
func (p *pyScanner) tuple() ([]int64, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	sizes := []int64{}
	for !p.accept(")") {
		p.skip()
		digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
		v, err := strconv.ParseInt(p.rest[:digits], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("expected a size at %s", quote([]byte(p.rest)))
		}
		p.rest = p.rest[digits:]
		p.accept("L")
		if len(sizes) == tensor.MaxRank {
			return nil, fmt.Errorf("rank is more than the %d that are supported", tensor.MaxRank)
		}
		sizes = append(sizes, v)
		if !p.accept(",") {
			if err := p.expect(")"); err != nil {
				return nil, err
			}
			break
		}
	}
	return sizes, nil
}
