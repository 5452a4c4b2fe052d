package distribute

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// banded is a matrix whose row i has i%4 entries, from column i on.
func banded(t *testing.T, format tensor.Format, n int64) *tensor.Tensor {
	t.Helper()
	var coords [2][]int64
	var values []float32
	for i := range n {
		for k := range i % 4 {
			coords[0], coords[1], values = append(coords[0], i), append(coords[1], (i+k)%n), append(values, float32(i*4+k))
		}
	}
	x, err := tensor.FromCoords([]int64{n, n}, format, coords[:], tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A matrix that comes in panels of itself is that matrix again, with pointers as wide as they have to be.
func TestAppend(t *testing.T) {
	defer func(was int64) { widest = was }(widest)
	for _, format := range []tensor.Format{tensor.CSR, tensor.CSC} {
		for _, most := range []int64{1, 7, 1000} {
			for _, widest = range []int64{1 << 30, 20, 0} {
				t.Run(fmt.Sprint(format, most, widest), func(t *testing.T) {
					dir := t.TempDir()
					files, err := spill.New(dir, 1<<20)
					if err != nil {
						t.Skip(err)
					}
					defer files.Close()
					want := banded(t, format, 41)
					p, ok := NewPanels(files, want, want, 4)
					if !ok {
						t.Fatal("there are no panels")
					}
					p.most = most
					a := Append(files, want.Shape())
					defer a.Close()
					panels := int64(0)
					for first := int64(0); first < 41; panels++ {
						x, next, err := p.Next(first, 0)
						if err != nil {
							t.Fatal(err)
						}
						if terms := p.terms(first, next); terms > most && next > first+1 {
							t.Errorf("%d terms from %d to %d", terms, first, next)
						}
						if err := a.Add(x); err != nil {
							t.Fatal(err)
						}
						first = next
					}
					if most < 1000 && panels < 10 {
						t.Errorf("%d panels of %d terms", panels, most)
					}
					got, err := a.Tensor()
					if err != nil {
						t.Fatal(err)
					}
					if d := tensor.Diff(got, want); d != "" || got.Format() != format {
						t.Errorf("%v, %s", got.Format(), d)
					}
					wide := got.LevelAt(1).Pos.DType() == tensor.Uint64
					if want.NNZ() > widest != wide && want.LevelAt(1).Pos.DType() == tensor.Uint32 || !wide && !bytes.Equal(got.LevelAt(1).Pos.Raw(), want.LevelAt(1).Pos.Raw()) {
						t.Errorf("pointers are %v", got.LevelAt(1).Pos.DType())
					}
					if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
						t.Errorf("files are left: %v, %v", list, err)
					}
				})
			}
		}
	}
}

// terms are those of some rows, counted by their definition.
func (p *Panels) terms(first, next int64) (n int64) {
	l, of := p.t.LevelAt(1), p.other.LevelAt(1).Pos
	for k := l.Pos.At64(int(first)); k < l.Pos.At64(int(next)); k++ {
		j := int(l.Crd.At64(int(k)))
		n += of.At64(j+1) - of.At64(j)
	}
	return n
}

// A part that is stored in another way than the first is refused.
func TestAppendFails(t *testing.T) {
	files, err := spill.New(t.TempDir(), 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer files.Close()
	a := Append(files, []int64{82, 41})
	defer a.Close()
	if err := a.Add(banded(t, tensor.CSR, 41)); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(banded(t, tensor.CSC, 41)); err == nil {
		t.Error("a part by columns was added to rows")
	}
}

// Only two matrices by rows, or by columns, are cut.
func TestNoPanels(t *testing.T) {
	files, err := spill.New(t.TempDir(), 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer files.Close()
	rows, columns := banded(t, tensor.CSR, 9), banded(t, tensor.CSC, 9)
	for _, c := range [][2]*tensor.Tensor{{rows, columns}, {columns, rows}, {rows, banded(t, tensor.DCSR, 9)}, {banded(t, tensor.COO, 9), rows}} {
		if _, ok := NewPanels(files, c[0], c[1], 8); ok {
			t.Errorf("%v and %v", c[0].Format(), c[1].Format())
		}
	}
}
