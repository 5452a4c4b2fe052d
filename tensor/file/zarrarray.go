package file

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// zarrArray is the metadata of an array: Zarr storage specification, versions 2 and 3.
type zarrArray struct {
	shape, chunk []int64
	dtype        tensor.DType // Invalid: strings
	size         int          // bytes of an element
	bigEndian    bool
	fortran      bool // chunks are stored last axis slowest
	fill         []byte
	codecs       []zarrCodec // as they are applied when a chunk is written
	separator    string
	prefix       string // of the keys of chunks
}

// parseZarr2 reads .zarray.
func parseZarr2(text []byte) (*zarrArray, error) {
	var m struct {
		Format     int `json:"zarr_format"`
		Shape      []int64
		Chunks     []int64
		DType      any
		Compressor *zarrCodec
		Filters    []zarrCodec
		Fill       any `json:"fill_value"`
		Order      string
		Separator  string `json:"dimension_separator"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf(".zarray: %w", err)
	}
	a := &zarrArray{shape: m.Shape, chunk: m.Chunks, fortran: m.Order == "F", separator: ".", codecs: m.Filters}
	if m.Separator != "" {
		a.separator = m.Separator
	}
	if m.Compressor != nil {
		a.codecs = append(a.codecs, *m.Compressor)
	}
	dtype, ok := m.DType.(string)
	switch {
	case m.Format != 2:
		return nil, fmt.Errorf(".zarray: zarr_format is %d, expected 2", m.Format)
	case !ok || len(dtype) < 2:
		return nil, fmt.Errorf("elements of type %v are not read", m.DType)
	case dtype == "|O" && len(a.codecs) > 0 && a.codecs[0].name() == "vlen-utf8":
		a.codecs = a.codecs[1:]
		return a, a.check()
	}
	if a.dtype = npyTypeOf(dtype[1:]).dtype; !a.dtype.Valid() {
		return nil, fmt.Errorf("elements of type %q are not read", dtype)
	}
	a.bigEndian = dtype[0] == '>'
	return a, a.finish(m.Fill)
}

// parse3 reads zarr.json.
func (n *zarrNode) parse3(text []byte) error {
	var m struct {
		Format     int    `json:"zarr_format"`
		NodeType   string `json:"node_type"`
		Attributes map[string]any
		Shape      []int64
		DataType   any `json:"data_type"`
		ChunkGrid  struct {
			Name          string
			Configuration struct {
				ChunkShape []int64 `json:"chunk_shape"`
			}
		} `json:"chunk_grid"`
		ChunkKeys struct {
			Name          string
			Configuration struct{ Separator string }
		} `json:"chunk_key_encoding"`
		Fill         any `json:"fill_value"`
		Codecs       []zarrCodec
		Transformers []any `json:"storage_transformers"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return n.errorf("zarr.json: %v", err)
	}
	n.attrs = m.Attributes
	switch {
	case m.Format != 3:
		return n.errorf("zarr.json: zarr_format is %d, expected 3", m.Format)
	case m.NodeType == "group":
		return nil
	case m.ChunkGrid.Name != "regular":
		return n.errorf("a chunk grid %q is not read: expected regular", m.ChunkGrid.Name)
	case len(m.Transformers) > 0:
		return n.errorf("storage transformers are not read")
	}
	a := &zarrArray{shape: m.Shape, chunk: m.ChunkGrid.Configuration.ChunkShape, codecs: m.Codecs, separator: m.ChunkKeys.Configuration.Separator}
	switch m.ChunkKeys.Name {
	case "default":
		a.prefix = "c"
		if a.separator == "" {
			a.separator = "/"
		}
	case "v2":
		if a.separator == "" {
			a.separator = "."
		}
	default:
		return n.errorf("chunk keys %q are not read", m.ChunkKeys.Name)
	}
	n.array = a
	dtype, _ := m.DataType.(string)
	if dtype == "string" && len(a.codecs) > 0 && a.codecs[0].name() == "vlen-utf8" {
		a.codecs = a.codecs[1:]
		if err := a.check(); err != nil {
			return n.errorf("%v", err)
		}
		return nil
	}
	if a.dtype = typeNamed(dtype); !a.dtype.Valid() {
		return n.errorf("elements of type %v are not read", m.DataType)
	}
	if err := a.arrayCodecs(); err != nil {
		return n.errorf("%v", err)
	}
	if err := a.finish(m.Fill); err != nil {
		return n.errorf("%v", err)
	}
	return nil
}

// arrayCodecs takes those codecs of version 3 from the list that make bytes of an array.
func (a *zarrArray) arrayCodecs() error {
	for len(a.codecs) > 0 {
		c := a.codecs[0]
		switch c.name() {
		case "transpose":
			var order []int
			list, _ := c.setting("order").([]any)
			for _, v := range list {
				x, _ := v.(float64)
				order = append(order, int(x))
			}
			reversed := len(order) == len(a.shape)
			for k, axis := range order {
				reversed = reversed && axis == len(order)-1-k
			}
			if !reversed {
				return fmt.Errorf("axes stored in the order %v are not read", c.setting("order"))
			}
			a.fortran = len(order) > 1
		case "bytes":
			a.bigEndian = c.setting("endian") == "big"
			a.codecs = a.codecs[1:]
			return nil
		default:
			return fmt.Errorf("the codec %q is not read", c.name())
		}
		a.codecs = a.codecs[1:]
	}
	return errors.New("there is no codec that makes bytes of elements")
}

// finish completes what follows from the type, and checks all.
func (a *zarrArray) finish(fill any) error {
	a.size = a.dtype.Size()
	if err := a.check(); err != nil {
		return err
	}
	text := fmt.Sprint(fill)
	switch f := fill.(type) {
	case nil:
		text = "0"
	case float64:
		text = strconv.FormatFloat(f, 'g', -1, 64)
	case string:
		if raw, err := base64.StdEncoding.DecodeString(f); err == nil && a.dtype.IsComplex() && len(raw) == a.size {
			a.fill = raw
			return nil
		}
		text = strings.Replace(strings.ToLower(f), "infinity", "inf", 1)
	case []any:
		if text = complexText(f); text == "" || !a.dtype.IsComplex() {
			return fmt.Errorf("the fill value %v is not read", f)
		}
	}
	s, err := tensor.ParseScalar(text, a.dtype)
	if err != nil {
		return fmt.Errorf("the fill value %v is no %v", fill, a.dtype)
	}
	one, err := tensor.MakeArray(a.dtype, 1)
	if err != nil {
		return err
	}
	one.SetScalar(0, s)
	a.fill = one.Raw()
	return nil
}

// complexText is a complex number of its two parts, or "".
func complexText(parts []any) string {
	if len(parts) != 2 {
		return ""
	}
	re, im := fmt.Sprint(parts[0]), fmt.Sprint(parts[1])
	if !strings.HasPrefix(im, "-") {
		im = "+" + im
	}
	return strings.ReplaceAll(strings.ToLower(re+im+"i"), "infinity", "inf")
}

// check holds sizes against each other.
func (a *zarrArray) check() error {
	if len(a.chunk) != len(a.shape) {
		return fmt.Errorf("the shape is %v and that of chunks %v: expected as many sizes", a.shape, a.chunk)
	}
	bytes := int64(max(a.size, 1))
	for k, n := range a.shape {
		if n < 0 || a.chunk[k] < 1 || a.chunk[k] > math.MaxInt32 {
			return fmt.Errorf("the shape is %v and that of chunks %v: expected sizes that are not negative, and chunks of some elements", a.shape, a.chunk)
		}
		if bytes *= a.chunk[k]; bytes > math.MaxInt32 {
			return fmt.Errorf("chunks of %v elements are larger than 2 GiB", a.chunk)
		}
	}
	for _, c := range a.codecs {
		if err := c.known(); err != nil {
			return err
		}
	}
	return nil
}

// chunkElements is the number of elements of a chunk.
func (a *zarrArray) chunkElements() int64 {
	n := int64(1)
	for _, c := range a.chunk {
		n *= c
	}
	return n
}

// file is where a chunk is kept.
func (n *zarrNode) file(at []int64) string {
	parts := make([]string, 0, len(at)+1)
	if n.array.prefix != "" {
		parts = append(parts, n.array.prefix)
	}
	for _, i := range at {
		parts = append(parts, strconv.FormatInt(i, 10))
	}
	if len(parts) == 0 {
		parts = []string{"0"} // a scalar
	}
	return filepath.Join(n.dir, filepath.FromSlash(strings.Join(parts, n.array.separator)))
}

// raw reads and unpacks a chunk; nil if it is not there, and so holds the fill.
func (n *zarrNode) raw(at []int64, most int64) ([]byte, error) {
	path := n.file(at)
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !st.Mode().IsRegular() {
		return nil, n.errorf("chunk %v: it is not a file that can be read", at)
	}
	if st.Size() > 2*most+1<<16 {
		return nil, n.errorf("chunk %v: it has %d bytes, far more than its elements", at, st.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(n.array.codecs) {
		if b, err = c.decode(b, most); err != nil {
			return nil, n.errorf("chunk %v: %s: %v", at, c.name(), err)
		}
	}
	return b, nil
}

// eachChunk calls f for every chunk of the grid: its place, and how many of its elements lie within the array along each axis.
func (a *zarrArray) eachChunk(f func(at, extent []int64) error) error {
	if slices.Contains(a.shape, 0) {
		return nil
	}
	at, extent := make([]int64, len(a.shape)), make([]int64, len(a.shape))
	for {
		for k := range at {
			extent[k] = min(a.chunk[k], a.shape[k]-at[k]*a.chunk[k])
		}
		if err := f(at, extent); err != nil {
			return err
		}
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k]*a.chunk[k] < a.shape[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return nil
		}
	}
}

// load reads all elements, the last axis fastest.
func (n *zarrNode) load() (tensor.Array, error) {
	a := n.array
	total := shapeElements(a.shape)
	if total < 0 || total > math.MaxInt/int64(a.size) {
		return tensor.Array{}, n.errorf("an array of %v elements is larger than any machine holds", a.shape)
	}
	if most := n.in.cfg.maxBytes; most > 0 && total*int64(a.size) > most {
		return tensor.Array{}, n.errorf("more than the allowed %d bytes", most)
	}
	if err := n.stored(total); err != nil && total > 0 {
		return tensor.Array{}, err
	}
	array, err := tensor.MakeArray(a.dtype, int(total))
	if err != nil {
		return array, err
	}
	want := a.chunkElements() * int64(a.size)
	dst := array.Raw()
	err = a.eachChunk(func(at, extent []int64) error {
		b, err := n.raw(at, want)
		if err != nil {
			return err
		}
		if b != nil && int64(len(b)) != want {
			return n.errorf("chunk %v: it unpacks to %d bytes, expected %d", at, len(b), want)
		}
		if swap := swapSize(a); b != nil && a.bigEndian && swap > 1 {
			swapBytes(b, swap)
		}
		a.place(dst, b, at, extent)
		return nil
	})
	if a.dtype == tensor.Bool {
		normaliseBools(dst)
	}
	return array, err
}

// swapSize is how many bytes of a big-endian element are reversed together.
func swapSize(a *zarrArray) int {
	if a.dtype.IsComplex() {
		return a.size / 2
	}
	return a.size
}

// stored refuses an array of which the chunks that are there cannot account for the elements, and a grid of which nearly all
// chunks are missing: those hold the fill, which counts up to 64 MiB.
func (n *zarrNode) stored(total int64) error {
	const mostFill, mostMissing = 64 << 20, 1 << 20
	a := n.array
	there, seen := int64(0), 0
	err := filepath.WalkDir(n.dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			there++
		}
		if seen++; seen > 1<<26 {
			return errors.New("too many files")
		}
		return err
	})
	if err != nil {
		return err
	}
	grid := int64(1)
	for k, c := range a.chunk {
		grid *= (a.shape[k] + c - 1) / c // at most total, but for empty arrays
	}
	if missing := total - min(total, there*a.chunkElements()); missing*int64(a.size) > mostFill || grid-there > mostMissing {
		return n.errorf("%d of its %d chunks are not stored: so many elements that are the fill are refused", grid-min(grid, there), grid)
	}
	return nil
}

// place copies what of a chunk lies within the array to its place; a chunk that is nil holds the fill.
func (a *zarrArray) place(dst, src []byte, at, extent []int64) {
	rank := len(a.shape)
	inArray, inChunk := make([]int64, rank), make([]int64, rank) // strides
	s, c := int64(1), int64(1)
	for k := rank - 1; k >= 0; k-- {
		inArray[k] = s
		s *= a.shape[k]
		axis := k
		if a.fortran {
			axis = rank - 1 - k
		}
		inChunk[axis] = c
		c *= a.chunk[axis]
	}
	size := int64(a.size)
	var walk func(k int, to, from int64)
	walk = func(k int, to, from int64) {
		switch {
		case k == rank:
			if src == nil {
				copy(dst[to*size:][:size], a.fill)
			} else {
				copy(dst[to*size:][:size], src[from*size:])
			}
		case k == rank-1 && src != nil && inChunk[k] == 1:
			to += at[k] * a.chunk[k]
			copy(dst[to*size:][:extent[k]*size], src[from*size:])
		default:
			for i := range extent[k] {
				walk(k+1, to+(at[k]*a.chunk[k]+i)*inArray[k], from+i*inChunk[k])
			}
		}
	}
	walk(0, 0, 0)
}

// strings reads a column of text: in each chunk how many there are, then each with its length before it.
func (n *zarrNode) strings() ([]string, error) {
	a := n.array
	if len(a.shape) != 1 {
		return nil, n.errorf("it holds text of shape %v: only columns of it, of one dimension, are read", a.shape)
	}
	var all []string
	err := a.eachChunk(func(at, extent []int64) error {
		b, err := n.raw(at, mostText)
		if err != nil {
			return err
		}
		if len(b) < 4 {
			return n.errorf("chunk %v of its text is missing", at)
		}
		count := int64(binary.LittleEndian.Uint32(b))
		if b = b[4:]; count > int64(len(b)/4) || count < extent[0] {
			return n.errorf("chunk %v promises %d texts", at, count)
		}
		for range extent[0] {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return n.errorf("chunk %v of its text is cut short", at)
			}
			size := int(binary.LittleEndian.Uint32(b))
			all = append(all, string(b[4:4+size]))
			b = b[4+size:]
		}
		return nil
	})
	return all, err
}

// mostText bounds what a chunk of text unpacks to.
const mostText = 256 << 20
