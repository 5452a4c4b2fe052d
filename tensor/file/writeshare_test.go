package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// group is the writers of one file, as goroutines.
type group struct {
	sync.Mutex
	cond   *sync.Cond
	said   [][]byte
	count  int
	round  int
	last   [][]byte
	failed bool
}

func newGroup(n int) *group {
	g := &group{said: make([][]byte, n)}
	g.cond = sync.NewCond(g)
	return g
}

func (g *group) exchange(me int, message []byte) ([][]byte, error) {
	g.Lock()
	defer g.Unlock()
	round := g.round
	g.said[me] = message
	if g.count++; g.count == len(g.said) {
		g.last, g.said, g.count = g.said, make([][]byte, len(g.said)), 0
		g.round++
		g.cond.Broadcast()
	}
	for g.round == round && !g.failed {
		g.cond.Wait()
	}
	if g.round == round {
		return nil, errors.New("another writer has given up")
	}
	return g.last, nil
}

// writeShares has writers write the blocks of a tensor that end at the bounds, and returns their errors.
func writeShares(path string, x *tensor.Tensor, bounds []int64, do func(k int, part *tensor.Tensor) *tensor.Tensor, opts ...file.Option) []error {
	axis, ok := file.ShareAxis(path, x.Format(), opts...)
	if !ok {
		return []error{file.ErrNoShares}
	}
	g, errs := newGroup(len(bounds)), make([]error, len(bounds))
	var wg sync.WaitGroup
	lo := int64(0)
	for k, hi := range bounds {
		part, err := slab(x, axis, lo, hi)
		if err != nil {
			return []error{err}
		}
		if do != nil {
			part = do(k, part)
		}
		from := lo
		wg.Go(func() {
			with := file.Sharing{Number: k, Exchange: func(b []byte) ([][]byte, error) { return g.exchange(k, b) }}
			if errs[k] = file.WriteShare(context.Background(), path, part, x.Shape(), from, with, opts...); errs[k] != nil {
				g.Lock()
				defer g.Unlock()
				g.failed = true
				g.cond.Broadcast()
			}
		})
		lo = hi
	}
	wg.Wait()
	return errs
}

// slab is the block of a tensor from one coordinate of an axis to another.
func slab(x *tensor.Tensor, axis int, lo, hi int64) (*tensor.Tensor, error) {
	coords, values, err := x.ToCoords()
	if err != nil {
		return nil, err
	}
	shape := x.Shape()
	shape[axis] = hi - lo
	kept := make([][]int64, len(coords))
	var raw []byte
	size := values.DType().Size()
	for i := range values.Len() {
		if c := coords[axis][i]; c < lo || c >= hi {
			continue
		}
		for k := range coords {
			c := coords[k][i]
			if k == axis {
				c -= lo
			}
			kept[k] = append(kept[k], c)
		}
		raw = append(raw, values.Raw()[i*size:(i+1)*size]...)
	}
	v, err := tensor.MakeArray(values.DType(), len(raw)/size)
	if err != nil {
		return nil, err
	}
	copy(v.Raw(), raw)
	return tensor.FromCoords(shape, x.Format(), kept, v, tensor.WithFill(x.Fill()))
}

// sample is a tensor with some entries.
func sample(t *testing.T, shape []int64, format tensor.Format, dt tensor.DType, n int, opts ...tensor.Option) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(n)))
	coords := make([][]int64, len(shape))
	values, err := tensor.MakeArray(dt, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for k, extent := range shape {
			coords[k] = append(coords[k], r.Int64N(extent))
		}
		values.SetScalar(i, tensor.Int(tensor.Int64, int64(i%100)).Convert(dt))
	}
	x, err := tensor.FromCoords(shape, format, coords, values, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A file that several write is the one that one writes, byte by byte, whatever the format, the types and the cut.
func TestWriteShare(t *testing.T) {
	parse := func(text string, rank int) tensor.Format {
		f, err := tensor.ParseFormat(text, rank)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	dir := t.TempDir()
	for k, c := range []struct {
		format string
		shape  []int64
		dtype  tensor.DType
		n      int
		name   string
		bounds []int64
		opts   []file.Option
		fill   int64
	}{
		{"CSR", []int64{300, 40}, tensor.Float64, 2500, "x.bsp.h5", []int64{100, 200, 300}, nil, 0},
		{"CSR", []int64{300, 40}, tensor.Float32, 2500, "x.h5", []int64{0, 7, 7, 290, 300}, nil, 0},
		{"CSR", []int64{300, 40}, tensor.Float64, 0, "x.bsp.h5", []int64{100, 300}, nil, 0},
		{"CSR", []int64{300, 40}, tensor.Int8, 900, "x.h5", []int64{100, 300}, []file.Option{file.Entry("a/b")}, 3},
		{"CSC", []int64{40, 300}, tensor.Complex128, 2500, "x.bsp.h5", []int64{150, 300}, nil, 0},
		{"DCSR", []int64{5000, 40}, tensor.Float64, 1000, "x.bsp.h5", []int64{10, 2500, 5000}, nil, 0},
		{"COO", []int64{5000, 40}, tensor.Bool, 1000, "x.bsp.h5", []int64{2500, 5000}, nil, 0},
		{"CSF", []int64{60, 50, 40}, tensor.Float64, 4000, "x.bsp.h5", []int64{20, 40, 60}, nil, 0},
		{"D", []int64{1000}, tensor.Int64, 500, "x.bsp.h5", []int64{1, 1000}, nil, 0},
		{"D", []int64{30, 70}, tensor.Float64, 800, "x.bsp.h5", []int64{10, 20, 30}, nil, 0},
		{"D", []int64{30, 70}, tensor.Complex64, 800, "x.npy", []int64{10, 20, 30}, nil, 0},
		{"CSC", []int64{30, 70}, tensor.BFloat16, 800, "x.npy", []int64{10, 10, 30}, nil, 0},
		{"D", []int64{9, 8, 7}, tensor.Bool, 100, "x.npy", []int64{4, 9}, nil, 0},
		{"COO", []int64{30, 70}, tensor.Float64, 80, "x.npy", []int64{30}, nil, 2},
	} {
		t.Run(fmt.Sprintf("%d %s %v %s", k, c.format, c.dtype, c.name), func(t *testing.T) {
			format := parse(c.format, len(c.shape))
			x := sample(t, c.shape, format, c.dtype, c.n, tensor.WithFill(tensor.Int(tensor.Int64, c.fill).Convert(c.dtype)))
			one, all := filepath.Join(dir, "one"+c.name), filepath.Join(dir, "all"+c.name)
			if err := file.Write(one, x, c.opts...); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(writeShares(all, x, c.bounds, nil, c.opts...)...); err != nil {
				t.Fatal(err)
			}
			want, err1 := os.ReadFile(one)
			got, err2 := os.ReadFile(all)
			if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the files differ (%v): %d and %d bytes", err, len(got), len(want))
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("beside the files: %v, %v", left, err)
	}
}

// Where one writer fails the file stays as it was, and nothing stays beside it.
func TestWriteShareFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.bsp.h5")
	x := sample(t, []int64{300, 40}, tensor.CSR, tensor.Float64, 2500)
	if err := file.Write(path, x); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := sample(t, []int64{300, 40}, tensor.COO, tensor.Float64, 100)
	short := sample(t, []int64{99, 40}, tensor.CSR, tensor.Float64, 100)
	for what, do := range map[string]func(k int, part *tensor.Tensor) *tensor.Tensor{
		"a part in another format": func(k int, part *tensor.Tensor) *tensor.Tensor {
			if k == 1 {
				return other
			}
			return part
		},
		"a part that is too short": func(k int, part *tensor.Tensor) *tensor.Tensor {
			if k == 0 {
				return short
			}
			return part
		},
		"no last part": func(k int, part *tensor.Tensor) *tensor.Tensor {
			if k == 2 {
				return nil
			}
			return part
		},
	} {
		errs := writeShares(path, x, []int64{100, 200, 300}, do)
		if errors.Join(errs...) == nil {
			t.Errorf("%s: no error", what)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the file is another (%v)", what, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
			t.Errorf("%s: beside the file: %v, %v", what, list, err)
		}
	}
	if errs := writeShares(filepath.Join(dir, "none", "x.npy"), x, []int64{100, 300}, nil); errs[0] == nil || !strings.Contains(errs[0].Error(), "no such file") {
		t.Errorf("no folder: %v", errs)
	}
}

// What one alone writes is said.
func TestShareAxis(t *testing.T) {
	for _, c := range []struct {
		path string
		opts []file.Option
		ok   bool
	}{
		{"x.npy", nil, true}, {"x.bsp.h5", nil, true}, {"x", []file.Option{file.OfKind("npy")}, true}, {"x.mtx", nil, false}, {"x.npy.gz", nil, false},
		{"/dev/stdout", []file.Option{file.OfKind("npy")}, false}, {"x.h5", []file.Option{file.Format(tensor.CSR)}, false}, {"x.bspnpy", nil, false},
	} {
		if axis, ok := file.ShareAxis(c.path, tensor.CSC, c.opts...); ok != c.ok || ok && strings.HasSuffix(c.path, "h5") && axis != 1 {
			t.Errorf("%s: axis %d, %v", c.path, axis, ok)
		}
	}
}
