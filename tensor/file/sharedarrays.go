package file

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// whole are the arrays of all parts together.
func (w *shareWriter) whole() []shareArray {
	arrays := append([]shareArray(nil), w.notes[0].Arrays...)
	for k := range arrays {
		a := &arrays[k]
		switch joined := joins(a.Name); {
		case !joined:
			continue
		case strings.HasPrefix(a.Name, pointersPrefix):
			a.Len = 1 + w.before(a.Name, len(w.notes))
			a.Type = w.wide(a.Name, w.before(indicesOf(a.Name), len(w.notes)))
		case a.Name == firstIndices:
			a.Len = w.before(a.Name, len(w.notes))
			a.Type = w.wide(a.Name, w.shape[w.axis]-1)
		default:
			a.Len = w.before(a.Name, len(w.notes))
			a.Type = w.wide(a.Name, 0)
		}
	}
	return arrays
}

// The names of the arrays in binsparse files.
const (
	pointersPrefix = "pointers_to_"
	indicesPrefix  = "indices_"
	firstIndices   = "indices_0"
)

// joins reports whether an array is that of all parts one after another. The fill is the same in all.
func joins(name string) bool { return name != "fill_value" }

// indicesOf is the array in which an array of pointers points.
func indicesOf(name string) string { return indicesPrefix + strings.TrimPrefix(name, pointersPrefix) }

// before is how many elements of an array the parts of the first writers have. Each has a pointer more than it has places to begin.
func (w *shareWriter) before(name string, writers int) (n int64) {
	for _, note := range w.notes[:writers] {
		for _, a := range note.Arrays {
			if a.Name == name {
				n += a.Len
				if strings.HasPrefix(name, pointersPrefix) {
					n--
				}
			}
		}
	}
	return n
}

// wide is the type of an array: that of all parts if they have the same and it holds the largest number.
func (w *shareWriter) wide(name string, largest int64) string {
	var types []string
	signed := false
	for _, note := range w.notes {
		for _, a := range note.Arrays {
			if a.Name == name {
				types = append(types, a.Type)
				signed = signed || strings.HasPrefix(a.Type, "i")
			}
		}
	}
	same := true
	for _, t := range types {
		same = same && t == types[0]
	}
	if same && (largest == 0 || holds(types[0], largest)) {
		return types[0]
	}
	if signed {
		return tensor.Int64.String()
	}
	return tensor.Uint64.String()
}

// holds reports whether integers of a type go up to a number.
func holds(dtype string, n int64) bool {
	dt, err := tensor.ParseDType(dtype)
	if err != nil {
		return false
	}
	bits := 8 * dt.Size()
	if dt.IsSigned() {
		bits--
	}
	return bits >= 63 || n < 1<<bits
}

// layOut writes what is not of arrays' elements, and tells where these go.
func (w *shareWriter) layOut(part *tensor.Tensor, whole []shareArray) ([]shareArray, error) {
	if !w.binary {
		_, code, err := npyElements(w.mine[0].Data)
		if err != nil {
			return nil, err
		}
		header := npyHeaderText(code, w.shape)
		whole[0].At = int64(len(header))
		_, err = w.temp.WriteAt(header, 0)
		return whole, err
	}
	about := &binsparse.Whole{Shape: w.shape, DataTypes: map[string]tensor.DType{}}
	out := hdf5.Create(w.temp)
	group := strings.Trim(w.cfg.entry, "/")
	if group != "" {
		if err := out.Group(group); err != nil {
			return nil, err
		}
	}
	for k := range whole {
		a := &whole[k]
		dt, err := tensor.ParseDType(a.Type)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(a.Name, pointersPrefix) || strings.HasPrefix(a.Name, indicesPrefix) {
			about.DataTypes[a.Name] = dt
		}
		typ, ok := h5TypeOf(dt)
		if !ok {
			return nil, fmt.Errorf("%s: elements of type %v cannot be written to HDF5", a.Name, dt)
		}
		if a.At, err = out.Room(group+"/"+a.Name, typ, []uint64{uint64(a.Len)}); err != nil {
			return nil, err
		}
	}
	about.Stored = w.before("values", len(w.notes))
	if part.DType().IsComplex() {
		about.Stored /= 2 // elements are two numbers
	}
	text, _, err := binsparse.Encode(part, binsparse.Options{Whole: about})
	if err != nil {
		return nil, err
	}
	if err := out.Attr(group, binsparseAttr, string(text)); err != nil {
		return nil, err
	}
	return whole, out.Close()
}

// put writes this part's elements.
func (w *shareWriter) put(whole []shareArray) error {
	for k, a := range w.mine {
		dt, err := tensor.ParseDType(whole[k].Type)
		if err != nil {
			return err
		}
		first, shift, data := int64(0), int64(0), a.Data
		switch {
		case !joins(a.Name):
			if w.with.Number > 0 {
				continue
			}
		case strings.HasPrefix(a.Name, pointersPrefix):
			first, shift = w.before(a.Name, w.with.Number), w.before(indicesOf(a.Name), w.with.Number)
			if w.with.Number > 0 { // the first pointer is the last of the part before
				first, data = first+1, data.Slice(1, data.Len())
			}
		default:
			if first = w.before(a.Name, w.with.Number); a.Name == firstIndices {
				shift = w.lo
			}
		}
		if err := w.putArray(whole[k].At+first*int64(dt.Size()), data, dt, shift); err != nil {
			return err
		}
	}
	return w.temp.Sync()
}

// syncAfter is how many bytes are brought to the disk at a time: who has to give up must not wait for many.
const syncAfter = 256 << 20

// putArray writes elements, as numbers of a type with something added to each, to a place of the file.
func (w *shareWriter) putArray(at int64, a tensor.Array, dt tensor.DType, shift int64) error {
	size := dt.Size()
	step := writeStep / size
	var numbers []byte
	for lo, since := 0, 0; lo < a.Len(); lo += step {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		piece := a.Slice(lo, min(lo+step, a.Len()))
		b := piece.Raw()
		if shift != 0 || dt != a.DType() {
			numbers = shifted(numbers[:0], piece, size, shift)
			b = numbers
		}
		if _, err := w.temp.WriteAt(b, at+int64(lo*size)); err != nil {
			return err
		}
		if since += len(b); since < syncAfter {
			continue
		}
		if err := w.temp.Sync(); err != nil {
			return err
		}
		since = 0
	}
	return nil
}

// shifted appends integers, with something added to each, in so many bytes.
func shifted(b []byte, a tensor.Array, size int, shift int64) []byte {
	for i := range a.Len() {
		x := uint64(a.At64(i) + shift)
		switch size {
		case 1:
			b = append(b, byte(x))
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		default:
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	return b
}
