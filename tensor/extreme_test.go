package tensor

import (
	"fmt"
	"math"
	"regexp"
	"testing"
)

// This file tests tensors of the largest extents.

// TestLargestExtents makes and changes tensors whose extents are as large as there are: what cannot be has an
// error in which no number has wrapped around.
func TestLargestExtents(t *testing.T) {
	negative := regexp.MustCompile(`(^|[^\w^])-[0-9]{2}`)
	check := func(what string, err error) {
		t.Helper()
		if err != nil && negative.MatchString(err.Error()) {
			t.Errorf("%s: a size has wrapped around: %v", what, err)
		}
	}
	const most = math.MaxInt64
	formats := []Format{CSR, CSC, DCSR, DCSC, COO, Dense(2), mustParse(t, "C-C(duplicates)", 2), mustParse(t, "DC-C(duplicates)", 2),
		mustParse(t, "S-D", 2), mustParse(t, "DC-C-S", 3), mustParse(t, "C-DC-S", 3), mustParse(t, "C-C-S", 3), Dense(3), CSF(3), mustParse(t, "S-D-D", 3)}
	for _, pair := range [][2]int64{{most, 2}, {2, most}, {most, most}, {most, 1}, {1 << 60, 1 << 60}, {most, 0}} {
		for _, format := range formats {
			shape := append([]int64{1}, pair[:]...)[3-format.Rank():]
			what := fmt.Sprintf("%v of %v", format, shape)
			levels := make([]Level, format.Rank())
			arrays := map[string]Array{}
			for k, p := range format.Physical() {
				if p.Kind == CompressedLevel && k > 0 {
					levels[k].Pos = u32(0, 1)
					arrays[fmt.Sprintf("pointers_%d", k-1)] = u32(0, 1)
				}
				if p.Kind != DenseLevel {
					levels[k].Crd = u32(0)
					arrays[fmt.Sprintf("indices_%d", k)] = u32(0)
				}
			}
			if format.grouped() {
				last := format.SparseRank() - 1
				levels[last].Group = u32(0, 1)
				arrays[fmt.Sprintf("pointers_%d", last)] = u32(0, 1)
			}
			_, err := New(shape, format, levels, f64(1))
			check(what, err)
			_, err = NewNamed(shape, format, arrays, f64(1))
			check(what+" from arrays", err)
			_, err = FromDense(shape, format, f64(1))
			check(what+" from elements", err)
			coords := make([][]int64, len(shape))
			for axis, n := range shape {
				coords[axis] = []int64{n - 1}
			}
			_, err = FromCoords(shape, format, coords, f64(1))
			check(what+" from coordinates", err)

			a, err := FromCoords(shape, Coordinates(len(shape)), coords, f64(1))
			if err != nil { // an extent is 0
				continue
			}
			_, err = a.Convert(format)
			check(what+" converted", err)
			_, err = a.ToDense()
			check(what+" as elements", err)
			for axis := range shape {
				joined, err := Concat(axis, format, a, a)
				check(what+" joined", err)
				if err == nil && joined.shape[axis] < shape[axis] {
					t.Errorf("%s joined: shape %v", what, joined.shape)
				}
			}
			_, err = a.Reshape([]int64{shape[0], shape[len(shape)-1]}, CSR)
			check(what+" reshaped", err)
			_, err = a.Reshape([]int64{most}, CSF(1))
			check(what+" reshaped", err)
			if len(shape) == 2 {
				b, err := a.Blocked([]int64{2, most}, mustParse(t, "DC-S-D-D", 4))
				check(what+" in blocks", err)
				if err == nil {
					_, err = b.Unblocked([]int64{most, most}, COO)
					check(what+" without blocks", err)
				}
				_, err = HBCSF(a, nil)
				check(what+" as HB-CSF", err)
				_, err = ThroughMLIR(a)
				check(what+" through MLIR", err)
			}
			_, err = MMCSF(a)
			check(what+" as MM-CSF", err)
		}
	}
}
