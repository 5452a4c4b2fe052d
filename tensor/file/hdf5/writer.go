package hdf5

import (
	"io"
	"math/bits"
	"slices"
	"strings"
)

// Writer writes a file. Its methods must not be called concurrently.
type Writer struct {
	w    io.WriterAt
	end  uint64 // where the next block goes
	root *node
	err  error // the first one
	heap heapWriter
}

// node is an object that is written by Close.
type node struct {
	children map[string]*node // of a group; nil for a dataset
	body     []outMessage     // of a dataset: all but the attributes
	attrs    []outMessage
	names    map[string]bool // of the attributes
}

// outMessage is a header message to be written.
type outMessage struct {
	typ  byte
	data []byte
}

// Options say how a dataset is stored. The zero value is one contiguous piece,
// aligned to 64 bytes, or 4096 if it is that large, so that it can be mapped into memory.
type Options struct {
	// Chunk is the shape of a chunk, of the dataset's rank and less than 4 GiB. If it is
	// nil and a filter is asked for, chunks of about 1 MiB are made. Datasets without
	// dimensions or elements have no chunks, and no filters.
	Chunk []uint64
	// Deflate is the level of compression, 1 (fast) to 9 (small); 0 is none.
	Deflate int
	// Shuffle groups the bytes of elements by their significance before compression.
	Shuffle bool
	// Fletcher32 adds a checksum to each chunk.
	Fletcher32 bool
}

const (
	superblockSize = 48
	smallAlignment = 64
	pageAlignment  = 4096
)

// Create begins a file. Data are written as they come; nothing is a file before Close.
// What w holds already, beyond what is overwritten, is not removed.
func Create(w io.WriterAt) *Writer {
	return &Writer{w: w, end: superblockSize, root: newGroupNode(), heap: heapWriter{next: heapMinimum}}
}

func newGroupNode() *node {
	return &node{children: make(map[string]*node), names: make(map[string]bool)}
}

// fail remembers the first error, about an object.
func (w *Writer) fail(path string, err error) error {
	err = at(path, err)
	if w.err == nil {
		w.err = err
	}
	return err
}

// put writes a block at the next multiple of some alignment, and returns where it is.
func (w *Writer) put(b []byte, alignment uint64) (uint64, error) {
	addr, err := w.reserve(uint64(len(b)), alignment)
	if err != nil {
		return 0, err
	}
	return addr, w.write(b, addr)
}

// reserve sets n bytes aside for a block, at the next multiple of some alignment.
func (w *Writer) reserve(n, alignment uint64) (uint64, error) {
	addr := (w.end + alignment - 1) / alignment * alignment
	if addr+n > 1<<63-1 {
		return 0, errorf("the file would have 2^63 bytes or more")
	}
	w.end = addr + n
	return addr, nil
}

// write writes a block where it was given room.
func (w *Writer) write(b []byte, addr uint64) error {
	if _, err := w.w.WriteAt(b, int64(addr)); err != nil {
		return &Error{Msg: "cannot write: " + err.Error(), Err: err}
	}
	return nil
}

// splitPath returns the names in a path.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// group returns the group at a path; what is missing is made.
func (w *Writer) group(names []string) (*node, error) {
	here := w.root
	for i, name := range names {
		if len(name) > maxName || strings.ContainsRune(name, 0) || name == "." {
			return nil, errorf("%q cannot be the name of an object", short([]byte(name)))
		}
		next := here.children[name]
		if next == nil {
			next = newGroupNode()
			here.children[name] = next
		}
		if next.children == nil {
			return nil, errorf("/%s is a dataset; expected a group", strings.Join(names[:i+1], "/"))
		}
		here = next
	}
	return here, nil
}

// Group makes a group, and those above it that are not there yet.
func (w *Writer) Group(path string) error {
	if w.err != nil {
		return w.err
	}
	if _, err := w.group(splitPath(path)); err != nil {
		return w.fail(path, err)
	}
	return nil
}

// Dataset writes an array of elements of type t, packed, little-endian, last dimension
// fastest; data must hold exactly as many as dims say, and is not used after the call.
// No dims make a scalar. Groups on the way are made. Types may be those that this package
// names, FixedString, enums of integers, and compounds of these.
func (w *Writer) Dataset(path string, t Type, dims []uint64, data []byte, o Options) error {
	if w.err != nil {
		return w.err
	}
	n, err := w.newDataset(path, t, dims, data, o)
	if err == nil {
		err = w.attach(path, n)
	}
	if err != nil {
		return w.fail(path, err)
	}
	return nil
}

// Room makes a dataset in one piece as Dataset does, and leaves its elements to whoever writes them into the file: from byte at on, -1 if there
// are none.
func (w *Writer) Room(path string, t Type, dims []uint64) (at int64, err error) {
	if w.err != nil {
		return 0, w.err
	}
	n, size, err := w.declare(t, dims)
	if err != nil {
		return 0, w.fail(path, err)
	}
	addr, err := w.room(n, size)
	if err == nil {
		err = w.attach(path, n)
	}
	if err != nil {
		return 0, w.fail(path, err)
	}
	return int64(addr), nil
}

// Placed makes a dataset in one piece of elements that are in the file already, from byte at on; there must be such before what is written, which
// [Writer.After] makes sure of.
func (w *Writer) Placed(path string, t Type, dims []uint64, at int64) error {
	if w.err != nil {
		return w.err
	}
	n, size, err := w.declare(t, dims)
	if err == nil && (at < superblockSize || uint64(at)+uint64(size) > w.end) {
		err = errorf("%d bytes from byte %d on do not lie before byte %d, from which on is written", size, at, w.end)
	}
	if err == nil {
		n.layOut(uint64(at), size)
		err = w.attach(path, n)
	}
	if err != nil {
		return w.fail(path, err)
	}
	return nil
}

// After leaves what stands in the file before byte at as it is, but for the first 48.
func (w *Writer) After(at int64) { w.end = max(w.end, uint64(at)) }

// Strings writes an array of strings of variable length, UTF-8.
func (w *Writer) Strings(path string, dims []uint64, values []string) error {
	if w.err != nil {
		return w.err
	}
	refs, err := w.refer(values)
	if err != nil {
		return w.fail(path, err)
	}
	return w.Dataset(path, varString, dims, refs, Options{})
}

// varString is the type of strings of variable length.
var varString = Type{Class: VarString, Size: 16, UTF8: true}

// refer puts strings into the global heap and returns elements that refer to them.
func (w *Writer) refer(values []string) ([]byte, error) {
	var refs []byte
	for _, s := range values {
		ref, err := w.heap.add(w, s)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref...)
	}
	return refs, nil
}

// attach puts a dataset into the tree.
func (w *Writer) attach(path string, n *node) error {
	names := splitPath(path)
	if len(names) == 0 {
		return errorf("a dataset needs a name")
	}
	last := names[len(names)-1]
	parent, err := w.group(names[:len(names)-1])
	if err != nil {
		return err
	}
	if len(last) > maxName || strings.ContainsRune(last, 0) || last == "." {
		return errorf("%q cannot be the name of an object", short([]byte(last)))
	}
	if parent.children[last] != nil {
		return errorf("there is an object of this name already")
	}
	parent.children[last] = n
	return nil
}

// newDataset writes the data of a dataset and makes its messages.
func (w *Writer) newDataset(path string, t Type, dims []uint64, data []byte, o Options) (*node, error) {
	n, size, err := w.declare(t, dims)
	if err != nil {
		return nil, err
	}
	if size != int64(len(data)) {
		return nil, errorf("has %d bytes of data; %d of %v need %d", len(data), dims, t, size)
	}
	filtered := o.Deflate != 0 || o.Shuffle || o.Fletcher32
	if len(data) == 0 || len(dims) == 0 || o.Chunk == nil && !filtered {
		return n, w.contiguous(n, data)
	}
	return n, w.chunked(n, t, dims, data, o)
}

func (n *node) add(typ byte, data []byte) { n.body = append(n.body, outMessage{typ, data}) }

// declare makes the messages of a dataset's shape and type, and tells how many bytes it has.
func (w *Writer) declare(t Type, dims []uint64) (*node, int64, error) {
	typ, err := appendType(nil, t)
	if err != nil {
		return nil, 0, err
	}
	if len(dims) > maxRank {
		return nil, 0, errorf("has %d dimensions; %d is the most", len(dims), maxRank)
	}
	_, size, err := (space{dims: dims}).count(t.Size)
	if err != nil {
		return nil, 0, err
	}
	n := &node{names: make(map[string]bool)}
	n.add(msgDataspace, appendSpace(nil, dims))
	n.add(msgDatatype, typ)
	return n, size, nil
}

// contiguous writes data in one piece.
func (w *Writer) contiguous(n *node, data []byte) error {
	addr, err := w.room(n, int64(len(data)))
	if err != nil || len(data) == 0 {
		return err
	}
	return w.write(data, addr)
}

// room sets so many bytes aside, in one piece.
func (w *Writer) room(n *node, size int64) (addr uint64, err error) {
	addr = undefined
	if size > 0 {
		alignment := uint64(smallAlignment)
		if size >= pageAlignment {
			alignment = pageAlignment
		}
		if addr, err = w.reserve(uint64(size), alignment); err != nil {
			return 0, err
		}
	}
	n.layOut(addr, size)
	return addr, nil
}

// layOut says where the one piece is.
func (n *node) layOut(addr uint64, size int64) {
	n.add(msgFill, []byte{3, fillLate})
	var e encoder
	e.bytes(3, layoutContiguous)
	e.u64(addr)
	e.u64(uint64(size))
	n.add(msgLayout, e.b)
}

// When space is allocated, in the flags of a fill value message: late, or chunk by chunk; values are
// written there if one is set, and none is.
const (
	fillLate        = 2 | 2<<2
	fillIncremental = 3 | 2<<2
)

// chunkShape returns the shape of chunks: the one asked for, or one of about 1 MiB that halves
// the slowest dimensions first, so that a chunk is one piece of the data.
func chunkShape(t Type, dims []uint64, asked []uint64) ([]uint64, error) {
	if asked != nil {
		total := uint64(t.Size)
		for _, c := range asked {
			hi, lo := bits.Mul64(total, c)
			if total = lo; c == 0 || hi != 0 || lo >= 1<<32 {
				return nil, errorf("chunks %d of %v are empty, or not smaller than 4 GiB", asked, t)
			}
		}
		if len(asked) != len(dims) {
			return nil, errorf("chunks have %d dimensions, the data have %d", len(asked), len(dims))
		}
		return asked, nil
	}
	shape := slices.Clone(dims)
	bytes := uint64(t.Size)
	for i := len(dims) - 1; i >= 0; i-- {
		if room := max(1<<20/bytes, 1); shape[i] > room {
			shape[i] = room
		}
		bytes *= shape[i]
	}
	return shape, nil
}

// Attr attaches an attribute to a group or dataset that was made before. value is one of
// string, []string (of variable length, UTF-8), bool, int64, uint64, float64, []int64, []uint64,
// []float64; a slice makes an array of rank 1, the others a scalar. Strings end at the first zero byte.
func (w *Writer) Attr(path, name string, value any) error {
	if w.err != nil {
		return w.err
	}
	if err := w.attr(path, name, value); err != nil {
		return w.fail(path+"@"+name, err)
	}
	return nil
}

func (w *Writer) attr(path, name string, value any) error {
	n := w.root
	for _, part := range splitPath(path) {
		if n = n.children[part]; n == nil {
			return &Error{Msg: "there is no such object", Err: ErrNotFound}
		}
	}
	switch {
	case name == "" || len(name) > maxName || strings.ContainsRune(name, 0):
		return errorf("%q cannot be the name of an attribute", short([]byte(name)))
	case n.names[name]:
		return errorf("there is an attribute of this name already")
	}
	t, dims, data, err := w.attrValue(value)
	if err != nil {
		return err
	}
	typ, err := appendType(nil, t)
	if err != nil {
		return err
	}
	space := appendSpace(nil, dims)
	var e encoder
	e.bytes(3, 0)
	e.u16(len(name) + 1)
	e.u16(len(typ))
	e.u16(len(space))
	e.bytes(1) // the name is UTF-8
	e.b = append(append(e.b, name...), 0)
	e.b = append(append(append(e.b, typ...), space...), data...)
	if len(e.b) > maxMessage {
		return errorf("has %d bytes; an attribute has at most %d (strings do not count)", len(e.b), maxMessage)
	}
	n.attrs = append(n.attrs, outMessage{msgAttribute, e.b})
	n.names[name] = true
	return nil
}

// attrValue encodes the value of an attribute.
func (w *Writer) attrValue(value any) (t Type, dims []uint64, data []byte, err error) {
	var e encoder
	switch v := value.(type) {
	case string:
		data, err = w.refer([]string{v})
		return varString, nil, data, err
	case []string:
		data, err = w.refer(v)
		return varString, []uint64{uint64(len(v))}, data, err
	case bool:
		if v {
			return Bool, nil, []byte{1}, nil
		}
		return Bool, nil, []byte{0}, nil
	case int64:
		e.u64(uint64(v))
		return Int64, nil, e.b, nil
	case uint64:
		e.u64(v)
		return Uint64, nil, e.b, nil
	case float64:
		e.f64(v)
		return Float64, nil, e.b, nil
	case []int64:
		for _, x := range v {
			e.u64(uint64(x))
		}
		return Int64, []uint64{uint64(len(v))}, e.b, nil
	case []uint64:
		for _, x := range v {
			e.u64(x)
		}
		return Uint64, []uint64{uint64(len(v))}, e.b, nil
	case []float64:
		for _, x := range v {
			e.f64(x)
		}
		return Float64, []uint64{uint64(len(v))}, e.b, nil
	}
	return t, nil, nil, errorf("cannot store a value of type %T in an attribute", value)
}

// Close writes the tree and the superblock. It does not close the io.WriterAt. After an
// error of any method, Close returns that error.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if err := w.finish(); err != nil {
		return w.fail("", err)
	}
	w.err = errorf("the writer is closed")
	return nil
}

func (w *Writer) finish() error {
	if err := w.heap.flush(w); err != nil {
		return err
	}
	root, err := w.object(w.root)
	if err != nil {
		return err
	}
	var e encoder
	e.b = append(e.b, signature...)
	e.bytes(2, 8, 8, 0)
	e.u64(0) // base address
	e.u64(undefined)
	e.u64(w.end)
	e.u64(root)
	e.seal()
	return w.write(e.b, 0)
}

// object writes the header of an object, after those of what it holds, and returns its address.
func (w *Writer) object(n *node) (uint64, error) {
	msgs := n.body
	if n.children != nil {
		var e encoder
		e.bytes(0, 0)
		e.u64(undefined) // no heap of links, nor its index: all are in the header
		e.u64(undefined)
		msgs = append(msgs, outMessage{msgLinkInfo, e.b}, outMessage{msgGroupInfo, []byte{0, 0}})
		for _, name := range sortedKeys(n.children) {
			addr, err := w.object(n.children[name])
			if err != nil {
				return 0, err
			}
			msgs = append(msgs, outMessage{msgLink, linkMessage(name, addr)})
		}
	}
	return w.header(append(msgs, n.attrs...))
}
