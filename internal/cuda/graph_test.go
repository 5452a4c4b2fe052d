//go:build linux || darwin

package cuda

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"unsafe"
)

// scaling are the parameters of the kernel scale.
func scaling(x Ptr, n int64, by float64) []byte {
	p := binary.LittleEndian.AppendUint64(nil, uint64(x))
	p = binary.LittleEndian.AppendUint64(p, uint64(n))
	return binary.LittleEndian.AppendUint64(p, math.Float64bits(by))
}

// What is recorded runs when the graph is launched, as often as it is, and not before.
func TestGraph(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	m := must(d.Load(image))(t)
	scale := must(m.Function("scale"))(t)
	x, y := must(s.Alloc(16))(t), must(s.Alloc(16))(t)
	host := []float64{1, 2}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&host[0])), 16)
	check(t, s.Upload(x, bytes))
	g := must(s.Record(func() error {
		return errors.Join(scale.Launch(s, line(1, 1), scaling(x, 2, 3)), s.CopyOnDevice(y, x, 16), s.Set8(x, 0, 8))
	}))(t)
	for _, want := range [][2]float64{{1, 2}, {0, 6}, {0, 18}} {
		check(t, s.Download(bytes, x))
		if [2]float64(host) != want {
			t.Errorf("x is %v, want %v", host, want)
		}
		check(t, g.Launch(s))
	}
	check(t, s.Download(bytes, y))
	if want := [2]float64{0, 54}; [2]float64(host) != want {
		t.Errorf("y is %v, want %v", host, want)
	}
	if raceEnabled {
		t.Log("the race detector empties pools")
	} else if n := testing.AllocsPerRun(100, func() { check(t, g.Launch(s)) }); n != 0 {
		t.Errorf("%v allocations per launch", n)
	}

	// What fails while it is recorded leaves the stream as it was.
	reason := errors.New("a reason")
	if _, err := s.Record(func() error { return errors.Join(s.Set8(y, 1, 16), reason) }); !errors.Is(err, reason) {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"} {
		f.fail(name, 801, 0)
		if _, err := s.Record(func() error { return s.Set8(y, 1, 16) }); err == nil {
			t.Errorf("%s has failed", name)
		}
		f.fail("", 0, 0)
	}
	check(t, s.Set8(y, 0, 16), s.Download(bytes, y))
	if want := [2]float64{0, 0}; [2]float64(host) != want {
		t.Errorf("y is %v, want %v", host, want)
	}

	check(t, m.Close())
	if err := g.Launch(s); !errors.Is(err, ErrClosed) {
		t.Errorf("the module is closed: error %v", err)
	}
	check(t, s.Free(x), s.Free(y), g.Close(), s.Close(), d.Close())
	f.nothingAlive()
}
