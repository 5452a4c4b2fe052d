package tensor

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestParallelChecks plants faults in arrays long enough to be checked in parts: what
// is reported must not depend on the number of parts.
func TestParallelChecks(t *testing.T) {
	const n = 5 * checkWorth
	const side = n / 16
	rng := rand.New(rand.NewPCG(1, 2))
	pos := make([]uint32, side+1)
	rows, cols := make([]uint32, n), make([]uint32, n)
	for i := range n {
		rows[i], cols[i] = uint32(i/16), uint32(i%16*(side/16)+i%1000)
	}
	for r := range side {
		pos[r+1] = uint32((r + 1) * 16)
	}
	line := make([]uint32, n)
	for i := range line {
		line[i] = uint32(2 * i)
	}
	values := ArrayOf(make([]uint8, n))
	arrays := map[string][]uint32{"pos": pos, "rows": rows, "cols": cols, "line": line}
	checks := map[string]func() error{
		"CSR": func() error {
			_, err := New([]int64{side, side}, CSR, []Level{{}, {Pos: ArrayOf(pos), Crd: ArrayOf(cols)}}, values)
			return err
		},
		"COO": func() error {
			_, err := New([]int64{side, side}, COO, []Level{{Crd: ArrayOf(rows)}, {Crd: ArrayOf(cols)}}, values)
			return err
		},
		"S": func() error {
			_, err := New([]int64{2 * n}, CSF(1), []Level{{Crd: ArrayOf(line)}}, values)
			return err
		},
		"bool": func() error {
			_, err := New([]int64{n}, Dense(1), []Level{{}}, ArrayAt(Bool, values.Pointer(), n))
			return err
		},
	}
	found := 0
	compare := func() {
		for name, check := range checks {
			var texts [2]string
			for k, threads := range []int{1, 7} {
				previous := runtime.GOMAXPROCS(threads)
				if err := check(); err != nil {
					texts[k] = err.Error()
					found++
				}
				runtime.GOMAXPROCS(previous)
			}
			if texts[0] != texts[1] {
				t.Errorf("%s: %q in one part, %q in several", name, texts[0], texts[1])
			}
		}
	}
	if compare(); found > 0 {
		t.Fatal("an error without a fault")
	}
	for range 12 {
		for _, a := range arrays {
			i, j := rng.IntN(len(a)), rng.IntN(len(a))
			if rng.IntN(2) == 0 {
				i = (i/checkWorth+1)*checkWorth%(len(a)-1) + rng.IntN(2) // where a part may begin
			}
			x, y := a[i], a[j]
			a[i], a[j] = a[i]+uint32(rng.IntN(4))-2, uint32(rng.IntN(3*n))
			View[uint8](values)[i] = uint8(rng.IntN(3))
			compare()
			a[i], a[j] = x, y
			View[uint8](values)[i] = 0
		}
	}
	if found < 40 {
		t.Errorf("only %d faults were found", found)
	}
}
