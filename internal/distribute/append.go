package distribute

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Appended is a matrix in CSR or CSC whose rows, or columns, come part by part. What has come is in files.
type Appended struct {
	files *spill.Files
	shape []int64
	as    storage // of all parts
	fill  tensor.Scalar

	pos         tensor.Array
	crd, values *spill.Growing
	lines       int64      // that have come
	entries     int64      // of them
	written     chan error // of the part before, which is written while the next is computed
}

// storage is how a part is stored.
type storage struct {
	format      tensor.Format
	crd, values tensor.DType
}

// Appends reports whether a format is one of matrices that come part by part along an axis.
func Appends(format tensor.Format, axis int) bool {
	return axis == 0 && format == tensor.CSR || axis == 1 && format == tensor.CSC
}

// Append begins a matrix of a shape.
func Append(files *spill.Files, shape []int64) *Appended {
	a := &Appended{files: files, shape: shape, written: make(chan error, 1)}
	a.written <- nil
	return a
}

// widest is the largest pointer of 32 bits; tests have less.
var widest int64 = math.MaxUint32

// Add appends the next part, which belongs to the matrix from then on.
func (a *Appended) Add(part *tensor.Tensor) error {
	l := part.LevelAt(1)
	switch as := (storage{part.Format(), l.Crd.DType(), part.DType()}); {
	case a.crd == nil:
		a.as, a.fill = as, part.Fill()
		if err := a.begin(l.Pos.DType()); err != nil {
			return err
		}
	case a.as != as:
		return fmt.Errorf("BUG: a part is stored as %v, and the first as %v", as, a.as)
	}
	if a.pos.DType().Size() == 4 && a.entries+part.NNZ() > widest {
		if err := a.widen(); err != nil {
			return err
		}
	}
	n := l.Pos.Len() - 1
	for i := range n {
		a.point(a.lines+int64(i)+1, a.entries+l.Pos.At64(i+1))
	}
	a.lines, a.entries = a.lines+int64(n), a.entries+part.NNZ()
	if err := <-a.written; err != nil {
		a.written <- err
		return err
	}
	go func() {
		err := a.crd.Append(l.Crd.Raw())
		if err == nil {
			err = a.values.Append(part.Values().Raw())
		}
		part.Release()
		a.written <- err
	}()
	return nil
}

// begin makes the arrays.
func (a *Appended) begin(pos tensor.DType) (err error) {
	if a.pos, _, err = result(a.files, pos, int(a.shape[a.as.format.Order()[0]])+1); err != nil {
		return err
	}
	if a.crd, err = a.files.Grow(); err != nil {
		return err
	}
	a.values, err = a.files.Grow()
	return err
}

// point sets a pointer.
func (a *Appended) point(line, to int64) {
	if narrow := tensor.View[uint32](a.pos); narrow != nil {
		narrow[line] = uint32(to)
		return
	}
	tensor.View[uint64](a.pos)[line] = uint64(to)
}

// widen makes pointers of 64 bits of those that there are.
func (a *Appended) widen() error {
	narrow := a.pos
	wide, _, err := result(a.files, tensor.Uint64, narrow.Len())
	if err != nil {
		return err
	}
	a.pos = wide
	for line := range a.lines + 1 {
		a.point(line, narrow.At64(int(line)))
	}
	narrow.Discard()
	return nil
}

// Tensor is the matrix when all parts have come.
func (a *Appended) Tensor() (*tensor.Tensor, error) {
	err := <-a.written
	a.written <- err
	if err != nil {
		return nil, err
	}
	crd, err := a.array(a.crd, a.as.crd)
	if err != nil {
		return nil, err
	}
	values, err := a.array(a.values, a.as.values)
	if err != nil {
		return nil, err
	}
	return tensor.NewTrusted(a.shape, a.as.format, []tensor.Level{{}, {Pos: a.pos, Crd: crd}}, values, a.fill), nil
}

// array is one of those that have been written.
func (a *Appended) array(g *spill.Growing, dt tensor.DType) (tensor.Array, error) {
	if a.entries == 0 {
		return tensor.MakeArray(dt, 0)
	}
	m, err := g.Map()
	if err != nil {
		return tensor.Array{}, err
	}
	return arrayIn(a.files, m, dt, int(a.entries)), nil
}

// Close gives up what does not belong to the tensor.
func (a *Appended) Close() {
	if a == nil {
		return
	}
	<-a.written
	a.crd.Close()
	a.values.Close()
}

// result makes an array of a result in a file, and returns the bytes there.
func result(files *spill.Files, dt tensor.DType, n int) (tensor.Array, []byte, error) {
	if n == 0 {
		a, err := tensor.MakeArray(dt, 0)
		return a, nil, err
	}
	m, err := files.MapResult(int64(n) * int64(dt.Size()))
	if err != nil {
		return tensor.Array{}, nil, err
	}
	return arrayIn(files, m, dt, n), m, nil
}

// arrayIn is the array in a block, which is given back with it.
func arrayIn(files *spill.Files, m []byte, dt tensor.DType, n int) tensor.Array {
	return tensor.NewPooled(m, func() { files.Free(m) }).Array(dt, unsafe.Pointer(unsafe.SliceData(m)), n)
}
