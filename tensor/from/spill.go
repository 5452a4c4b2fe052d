package from

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// spill is what a builder keeps in a file: runs of sorted entries, each its coordinates and the bytes of its value. Runs
// are merged stably, and duplicates folded only then, so that the tensor is the one that would have been built in memory.
type spill[T tensor.Element] struct {
	dir     string
	after   int // entries to hold; 0: no spilling
	written int // entries in the file
	file    *os.File
	ends    []int64 // of the runs in the file
}

// run is a list of sorted entries that is read once, from the file or from memory.
type run[T tensor.Element] struct {
	number int // of runs with equal entries the earlier goes first
	next   func(r *run[T]) (bool, error)
	coord  []int64
	value  T
}

// bytesOf is the memory of a value.
func bytesOf[T tensor.Element](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// write moves the entries held to the file.
func (b *Builder[T]) write() error {
	perm, err := b.sorted()
	if err != nil {
		return tensor.Errorf(-1, "%v", err)
	}
	if b.spill.file == nil {
		if b.spill.file, err = os.CreateTemp(b.spill.dir, "lacuna-entries-*"); err != nil {
			return spillError(err)
		}
	}
	w := bufio.NewWriterSize(b.spill.file, 1<<16)
	var word [8]byte
	for i := range b.values {
		for _, list := range b.coords {
			binary.NativeEndian.PutUint64(word[:], uint64(list[perm.At(i)]))
			w.Write(word[:]) // an error comes again with Flush
		}
		w.Write(bytesOf(&b.values[perm.At(i)]))
	}
	if err := w.Flush(); err != nil {
		return spillError(err)
	}
	end, err := b.spill.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return spillError(err)
	}
	b.spill.ends = append(b.spill.ends, end)
	b.spill.written += len(b.values)
	b.values = b.values[:0]
	for axis := range b.coords {
		b.coords[axis] = b.coords[axis][:0]
	}
	return nil
}

func spillError(err error) error {
	return tensor.Errorf(-1, "the builder cannot spill its entries: %v", err)
}

// remove deletes the file.
func (s *spill[T]) remove() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}

// merge makes the entries in the file and those held the entries held, sorted.
func (b *Builder[T]) merge() error {
	perm, err := b.sorted()
	if err != nil {
		return tensor.Errorf(-1, "%v", err)
	}
	queue := runs[T]{order: b.format.Order()}
	begin := int64(0)
	for _, end := range b.spill.ends {
		queue.list = append(queue.list, b.filed(len(queue.list), io.NewSectionReader(b.spill.file, begin, end-begin)))
		begin = end
	}
	queue.list = append(queue.list, b.held(perm))
	queue.list = slices.DeleteFunc(queue.list, func(r *run[T]) bool {
		more, failed := r.next(r)
		if err == nil {
			err = failed
		}
		return !more
	})
	heap.Init(&queue)
	out := &distinct[T]{on: b.duplicate, all: b.duplicate == Sum && b.format.Multigraph(), coords: make([][]int64, len(b.coords))}
	for err == nil && len(queue.list) > 0 {
		r := queue.list[0]
		if err := out.add(r.coord, r.value); err != nil {
			return err
		}
		var more bool
		if more, err = r.next(r); more {
			heap.Fix(&queue, 0)
		} else {
			heap.Pop(&queue)
		}
	}
	if err != nil {
		return spillError(err)
	}
	out.finish()
	b.coords, b.values = out.coords, out.values
	return nil
}

// filed is a run in the file.
func (b *Builder[T]) filed(number int, part io.Reader) *run[T] {
	in, words := bufio.NewReaderSize(part, 1<<14), make([]byte, 8*len(b.coords))
	return &run[T]{number: number, coord: make([]int64, len(b.coords)), next: func(r *run[T]) (bool, error) {
		if _, err := in.Peek(1); err == io.EOF {
			return false, nil
		}
		_, err := io.ReadFull(in, words)
		if err == nil {
			_, err = io.ReadFull(in, bytesOf(&r.value))
		}
		for axis := range r.coord {
			r.coord[axis] = int64(binary.NativeEndian.Uint64(words[8*axis:]))
		}
		return err == nil, err
	}}
}

// held is the run of the entries in memory.
func (b *Builder[T]) held(perm column.Permutation) *run[T] {
	i, coords, values := 0, b.coords, b.values
	return &run[T]{number: len(b.spill.ends), coord: make([]int64, len(coords)), next: func(r *run[T]) (bool, error) {
		if i == len(values) {
			return false, nil
		}
		for axis, list := range coords {
			r.coord[axis] = list[perm.At(i)]
		}
		r.value = values[perm.At(i)]
		i++
		return true, nil
	}}
}

// runs is a heap of runs by their entries at hand.
type runs[T tensor.Element] struct {
	order []int
	list  []*run[T]
}

func (q *runs[T]) Len() int      { return len(q.list) }
func (q *runs[T]) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *runs[T]) Push(r any)    { q.list = append(q.list, r.(*run[T])) }

func (q *runs[T]) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

func (q *runs[T]) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	for _, axis := range q.order {
		if a.coord[axis] != b.coord[axis] {
			return a.coord[axis] < b.coord[axis]
		}
	}
	return a.number < b.number
}

// distinct collects sorted entries of which one is left at each place.
type distinct[T tensor.Element] struct {
	on     OnDuplicate
	all    bool // all stay, for a multigraph
	coords [][]int64
	values []T
	group  []T // the values at the latest coordinates, to be summed
}

// groupMost bounds the values that wait to be summed, but for half precision, of which a sum is rounded once.
const groupMost = 1 << 12

func (d *distinct[T]) add(at []int64, v T) error {
	last := len(d.values) - 1
	same := last >= 0 && !d.all
	for axis := range at {
		same = same && d.coords[axis][last] == at[axis]
	}
	switch {
	case !same:
		d.finish()
		for axis, c := range at {
			d.coords[axis] = append(d.coords[axis], c)
		}
		d.values = append(d.values, v)
	case d.on == Refuse:
		return tensor.Errorf(-1, "there are two entries at %v: the policies Sum and KeepLast make one of them", slices.Clone(at))
	case d.on == KeepLast:
		d.values[last] = v
	case d.on == Sum:
		if len(d.group) == 0 {
			d.group = append(d.group, d.values[last])
		}
		d.group = append(d.group, v)
		if half := tensor.ArrayOf[T](nil).DType().IsFloat() && unsafe.Sizeof(v) == 2; len(d.group) == groupMost && !half {
			d.finish()
		}
	default:
		return fmt.Errorf("duplicates are to be treated by rule %d, which there is not", d.on)
	}
	return nil
}

// finish sums the values at the latest coordinates.
func (d *distinct[T]) finish() {
	if len(d.group) == 0 {
		return
	}
	tensor.ArrayOf(d.values[len(d.values)-1:]).SetScalar(0, tensor.ArrayOf(d.group).Total())
	d.group = d.group[:0]
}
