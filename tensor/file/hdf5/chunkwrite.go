package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"runtime"
	"sync"
)

// nodeChunks is how many chunks a node of a B-tree of chunks has at most: twice the K
// that readers assume where the superblock does not say.
const nodeChunks = 64

// chunked writes data in chunks, under a B-tree of version 1, which every reader knows.
func (w *Writer) chunked(n *node, t Type, dims []uint64, data []byte, o Options) error {
	if o.Deflate < 0 || o.Deflate > 9 {
		return errorf("the level of compression is %d, expected 0 to 9", o.Deflate)
	}
	shape, err := chunkShape(t, dims, o.Chunk)
	if err != nil {
		return err
	}
	c := chunkWriter{w: w, data: data, o: o, size: t.Size}
	d := &c.geometry
	d.space.dims, d.typ = dims, t
	d.layout = layout{class: layoutChunked, chunk: shape, gridTotal: 1, chunkBytes: uint64(t.Size)}
	for i, s := range shape {
		along := chunksAlong(dims[i], s)
		d.layout.grid = append(d.layout.grid, along)
		d.layout.gridTotal *= along
		d.layout.chunkBytes *= s
	}
	if err := c.writeAll(); err != nil {
		return err
	}
	tree, err := c.tree()
	if err != nil {
		return err
	}
	n.add(msgFill, []byte{3, fillIncremental})
	if filters := c.pipeline(); filters != nil {
		n.add(msgFilters, filters)
	}
	var e encoder
	e.bytes(3, layoutChunked, byte(len(shape)+1))
	e.u64(tree)
	for _, s := range shape {
		e.u32(uint32(s))
	}
	e.u32(uint32(t.Size))
	n.add(msgLayout, e.b)
	return nil
}

// chunkWriter writes the chunks of a dataset.
type chunkWriter struct {
	w        *Writer
	data     []byte
	o        Options
	size     int     // of an element
	geometry Dataset // dimensions and chunks, for the places of chunks
	chunks   []chunk
}

// pipeline makes the filter pipeline message, of version 2; nil if there are no filters.
func (c *chunkWriter) pipeline() []byte {
	var e encoder
	n := byte(0)
	add := func(id int, values ...int) {
		n++
		e.u16(id)
		e.u16(0) // chunks must go through it
		e.u16(len(values))
		for _, v := range values {
			e.u32(uint32(v))
		}
	}
	if c.o.Shuffle {
		add(filterShuffle, c.size)
	}
	if c.o.Deflate > 0 {
		add(filterDeflate, c.o.Deflate)
	}
	if c.o.Fletcher32 {
		add(filterFletcher32)
	}
	if n == 0 {
		return nil
	}
	return append([]byte{2, n}, e.b...)
}

// writeAll encodes chunks in parallel, as many at a time as there are threads, and writes them in order.
func (c *chunkWriter) writeAll() error {
	total := c.geometry.layout.gridTotal
	encoders := make([]chunkEncoder, min(uint64(runtime.GOMAXPROCS(0)), total))
	for first := uint64(0); first < total; first += uint64(len(encoders)) {
		batch := encoders[:min(uint64(len(encoders)), total-first)]
		var wg sync.WaitGroup
		for i := range batch {
			wg.Go(func() { batch[i].encode(c, first+uint64(i)) })
		}
		wg.Wait()
		for i := range batch {
			e := &batch[i]
			if e.err != nil {
				return e.err
			}
			addr, err := c.w.put(e.out, 8)
			if err != nil {
				return err
			}
			c.chunks = append(c.chunks, chunk{number: first + uint64(i), addr: addr, size: uint64(len(e.out))})
		}
	}
	return nil
}

// chunkEncoder encodes chunks, in buffers of its own.
type chunkEncoder struct {
	whole, shuffled []byte
	compressed      bytes.Buffer
	deflate         *zlib.Writer
	out             []byte // the chunk as it is written; valid until the next
	err             error
}

// encode sends a chunk through the filters.
func (e *chunkEncoder) encode(c *chunkWriter, number uint64) {
	e.out = e.gather(c, number)
	if c.o.Shuffle {
		e.shuffled = grow(e.shuffled, uint64(len(e.out)))
		shuffle(e.shuffled, e.out, c.size)
		e.out = e.shuffled
	}
	if c.o.Deflate > 0 {
		e.compressed.Reset()
		if e.deflate == nil {
			if e.deflate, e.err = zlib.NewWriterLevel(io.Discard, c.o.Deflate); e.err != nil {
				return
			}
		}
		e.deflate.Reset(&e.compressed)
		if _, e.err = e.deflate.Write(e.out); e.err != nil {
			return
		}
		if e.err = e.deflate.Close(); e.err != nil {
			return
		}
		e.out = e.compressed.Bytes()
	}
	if c.o.Fletcher32 {
		e.whole = binary.LittleEndian.AppendUint32(append(e.whole[:0], e.out...), fletcher32(e.out))
		e.out = e.whole
	}
	if uint64(len(e.out)) >= 1<<32 {
		e.err = errorf("a chunk would have %d bytes in the file, expected fewer than 4 GiB", len(e.out))
	}
}

// gather returns the bytes of a chunk: those of the data where they are one piece, else a
// copy. What reaches over the edge is zero.
func (e *chunkEncoder) gather(c *chunkWriter, number uint64) []byte {
	d := &c.geometry
	b := d.box(number)
	if b.whole {
		return c.data[b.offset:][:d.layout.chunkBytes]
	}
	e.whole = grow(e.whole, d.layout.chunkBytes)
	clear(e.whole)
	size := uint64(c.size)
	n := b.extent[len(b.extent)-1] * size
	forRows(d.space.dims, d.layout.chunk, b, func(from, to uint64) {
		copy(e.whole[to*size:to*size+n], c.data[from*size:from*size+n])
	})
	return e.whole
}

// tree writes the B-tree of the chunks, level by level, and returns the address of its root.
func (c *chunkWriter) tree() (uint64, error) {
	entries := c.chunks
	for level := byte(0); ; level++ {
		parents := make([]chunk, 0, (len(entries)+nodeChunks-1)/nodeChunks)
		nodeSize := uint64(24 + nodeChunks*(c.keySize()+8) + c.keySize())
		first, err := c.w.reserve(nodeSize*uint64(cap(parents)), 8)
		if err != nil {
			return 0, err
		}
		for i := 0; i < len(entries); i += nodeChunks {
			addr := first + nodeSize*uint64(len(parents))
			end := min(i+nodeChunks, len(entries))
			var e encoder
			e.b = append(e.b, "TREE"...)
			e.bytes(btreeChunk, level)
			e.u16(end - i)
			left, right := undefined, undefined
			if i > 0 {
				left = addr - nodeSize
			}
			if end < len(entries) {
				right = addr + nodeSize
			}
			e.u64(left)
			e.u64(right)
			for _, entry := range entries[i:end] {
				c.key(&e, entry)
				e.u64(entry.addr)
			}
			if end < len(entries) {
				c.key(&e, entries[end])
			} else {
				c.endKey(&e)
			}
			e.b = append(e.b, make([]byte, nodeSize-uint64(len(e.b)))...)
			if err := c.w.write(e.b, addr); err != nil {
				return 0, err
			}
			parent := entries[i]
			parent.addr = addr
			parents = append(parents, parent)
		}
		if len(parents) == 1 {
			return parents[0].addr, nil
		}
		entries = parents
	}
}

// keySize is the size of a key: size, filter mask, and the first element of a chunk.
func (c *chunkWriter) keySize() int { return 8 + 8*(len(c.geometry.layout.chunk)+1) }

func (c *chunkWriter) key(e *encoder, entry chunk) {
	e.u32(uint32(entry.size))
	e.u32(0)
	for _, s := range c.geometry.box(entry.number).start {
		e.u64(s)
	}
	e.u64(0)
}

// endKey is the key after the last chunk: one chunk on along every dimension.
func (c *chunkWriter) endKey(e *encoder) {
	l := &c.geometry.layout
	e.u64(0)
	for i, s := range c.geometry.box(l.gridTotal - 1).start {
		e.u64(s + l.chunk[i])
	}
	e.u64(uint64(c.size))
}
