package tensor_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/interop"
)

// This file sends random tensors through package interop and back.

func init() {
	tensor.ThroughMLIR = func(t *tensor.Tensor) (*tensor.Tensor, error) {
		m, err := interop.ToMLIR(t)
		if err != nil {
			return nil, err
		}
		return interop.FromMLIR(m)
	}
	tensor.ThroughTACO = func(t *tensor.Tensor) (*tensor.Tensor, error) {
		s, err := interop.ToTACO(t)
		if err != nil {
			return nil, err
		}
		return interop.FromTACO(s)
	}
}

func TestMLIRAndTACORoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, checkMeaning := tensor.DrawRelaxed(t, rapid.IntRange(1, 4).Draw(t, "rank"))
		repeating, err := a.Format().Repeating()
		if err != nil {
			t.Fatal(err)
		}
		grouped := repeating != a.Format()
		if a.Fill().IsZero() {
			storage, err := interop.ToMLIR(a)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "interleaved") {
				if storage, err = storage.Interleaved(); err != nil {
					t.Fatal(err)
				}
			}
			b, err := interop.FromMLIR(storage)
			if err != nil {
				t.Fatalf("%v as %s: %v", a, storage.Encoding, err)
			}
			checkMeaning(t, b)
			if !grouped {
				if d := tensor.Diff(b, a); d != "" {
					t.Fatalf("%v as %s and back: %s", a, storage.Encoding, d)
				}
			}
		}
		taco, err := interop.ToTACO(a)
		if unsorted := slices.ContainsFunc(a.Format().Flags(), func(f tensor.LevelFlags) bool { return f&tensor.Unsorted != 0 }); err != nil && unsorted {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := interop.FromTACO(taco)
		if err != nil {
			t.Fatalf("%v as %s: %v", a, taco.Modes, err)
		}
		checkMeaning(t, b)
		if !grouped {
			if d := tensor.Diff(b, a); d != "" {
				t.Fatalf("%v as %s and back: %s", a, taco.Modes, d)
			}
		}
	})
}
