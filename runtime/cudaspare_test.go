//go:build linux && (amd64 || arm64)

package runtime

import "testing"

// A result that was freed leaves its memory to the next one of about its size.
func TestResultsTakeSpareBlocks(t *testing.T) {
	e := gpuEngine(t, fakeDevice(t), nil)
	x, b := deviceSpmv(t, e, 3)
	var places []uint64
	for range 3 {
		r, err := x.Run(t.Context(), b, Options{Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		y := r.Buffers[4].On
		places = append(places, y.Address())
		y.Free()
	}
	if places[1] != places[0] || places[2] != places[0] {
		t.Errorf("results are at %#x, want one place", places)
	}
	if e.spare.Bytes() != 256 {
		t.Errorf("%d bytes are spare, want those of one block", e.spare.Bytes())
	}
	e.spare.Close()
	r, err := x.Run(t.Context(), b, Options{Resident: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Buffers[4].On.Free()
	if e.spare.Bytes() != 0 {
		t.Errorf("%d bytes are kept after the end", e.spare.Bytes())
	}
}
