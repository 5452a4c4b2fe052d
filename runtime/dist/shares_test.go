package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What ranks have read in parts is the tensor that one reads, wherever its entries have been read and however it is placed.
func TestReadByRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	list := func(string) ([]int64, error) { return []int64{1, 0, 2, 1, 1, 2, 0, 0, 2, 1, 0, 2, 1}, nil }
	for _, layout := range []string{"over (r)", "over (*, r)", "over (r by cyclic(2))", "over (r by p)", "over (*, r by entries)", "replicated"} {
		for _, format := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.Coordinates(2), tensor.Dense(2)} {
			want := random(t, r, format, 0.3, 13, 9)
			coords, values, err := want.ToCoords()
			if err != nil {
				t.Fatal(err)
			}
			l, err := placement.Parse(layout, 2)
			if err != nil {
				t.Fatal(err)
			}
			first := want.Values().Len() / 5 // which rank 0 reads; rank 1 has nothing
			err = ranks.Run(context.Background(), 3, ranks.Faults{Delay: time.Millisecond}, func(ctx context.Context, tr transport.Transport) error {
				me, err := dist.New(ctx, session(), tr, nil)
				if err != nil {
					return err
				}
				p, err := l.On(me.Grid(), placement.Tensor{Shape: want.Shape(), List: list, Weights: func(axis int) ([]int64, error) { return dist.Weights(want, axis) }})
				if err != nil {
					return err
				}
				from := []int{0, first, first, values.Len()}[me.Rank():][:2]
				e := dist.Entries{Values: values.Slice(from[0], from[1])}
				for _, c := range coords {
					e.Coords = append(e.Coords, tensor.ArrayOf(c[from[0]:from[1]]))
				}
				dealt, err := me.Deal(ctx, want.Shape(), format, e, p)
				if err != nil {
					return err
				}
				axis := format.Order()[0]
				lo, hi, _ := placement.Blocks(want.Shape()[axis], 3).Coords(me.Rank()).Bounds()
				block, err := cutBlock(want, axis, lo, hi)
				if err != nil {
					return err
				}
				blocks, err := me.Blocks(ctx, want.Shape(), axis, block, p)
				if err != nil {
					return err
				}
				cut, err := me.Cut(want, p)
				if err != nil {
					return err
				}
				for _, x := range []*dist.Tensor{dealt, blocks} {
					if d := tensor.Diff(x.Part, cut.Part); d != "" || x.Entries != cut.Entries || !x.Placement.Equal(p) {
						return fmt.Errorf("%s: %d entries, %d are expected", d, x.Entries, cut.Entries)
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s of %s: %v", layout, format, err)
			}
		}
	}
}

func cutBlock(t *tensor.Tensor, axis int, lo, hi int64) (*tensor.Tensor, error) {
	coords, values, err := t.ToCoords()
	if err != nil {
		return nil, err
	}
	kept := make([][]int64, len(coords))
	var list []float64
	for i, x := range coords[axis] {
		if x < lo || x >= hi {
			continue
		}
		for k := range coords {
			kept[k] = append(kept[k], coords[k][i])
		}
		kept[axis][len(list)] -= lo
		list = append(list, values.Scalar(i).Float64())
	}
	shape := t.Shape()
	shape[axis] = hi - lo
	return tensor.FromCoords(shape, t.Format(), kept, tensor.ArrayOf(list))
}

// Numbers are added up, or the largest is taken, and what is no coordinate of the shape ends all ranks.
func TestTotal(t *testing.T) {
	err := ranks.Run(context.Background(), 3, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
		r, err := dist.New(ctx, session(), tr, nil)
		if err != nil {
			return err
		}
		n := int64(r.Rank() + 1)
		sum, err := r.Total(ctx, false, n, 10*n)
		if err != nil || sum[0] != 6 || sum[1] != 60 {
			return fmt.Errorf("the sums are %v: %v", sum, err)
		}
		most, err := r.Total(ctx, true, n, -n)
		if err != nil || most[0] != 3 || most[1] != 0 {
			return fmt.Errorf("the largest are %v: %v", most, err)
		}
		e := dist.Entries{Coords: []tensor.Array{tensor.ArrayOf([]int64{n + 1})}, Values: tensor.ArrayOf([]float64{1})}
		_, err = r.Deal(ctx, []int64{4}, tensor.Coordinates(1), e, placement.OneAxis(r.Grid(), 1, 0, placement.Blocks(4, 3), 0))
		return err
	})
	var of *transport.Error
	if err == nil || errors.As(err, &of) && of.Rank != 2 {
		t.Errorf("coordinate 4 of 4 on rank 2: %v", err)
	}
}
