//go:build gorgonia_cu

package gorgonia

import (
	"context"
	"runtime"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A product whose vector is memory of cu's, and whose result cu copies back.
func TestProduct(t *testing.T) {
	if n, err := cu.NumDevices(); err != nil || n == 0 {
		t.Skip("there is no GPU", err)
	}
	runtime.LockOSThread() // cu works in the context that is current on the thread
	defer runtime.UnlockOSThread()
	device := cu.Device(0)
	ctx, err := device.MakeContext(cu.SchedAuto)
	if err != nil {
		t.Fatal(err)
	}
	defer ctx.Destroy()
	e, err := New(ctx, cu.NoStream)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	host := []float64{1, 10, 100}
	x, err := cu.AllocAndCopy(unsafe.Pointer(&host[0]), 24)
	if err != nil {
		t.Fatal(err)
	}
	defer cu.MemFree(x)
	values, err := e.Array(tensor.Float64, x, 3)
	if err != nil {
		t.Fatal(err)
	}
	X, err := tensor.FromDense([]int64{3}, tensor.Dense(1), values)
	if err != nil {
		t.Fatal(err)
	}
	A, err := tensor.New([]int64{2, 3}, tensor.CSR, []tensor.Level{
		{}, {Pos: tensor.ArrayOf([]uint32{0, 2, 3}), Crd: tensor.ArrayOf([]uint32{0, 2, 1})},
	}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	s := lacuna.NewSession(lacuna.WithEngine(e.Engine()), lacuna.WithResidentResults())
	y, err := s.Eval(context.Background(), "y(i) = A(i,j)*x(j)", lacuna.Args{"A": A, "x": X})
	if err != nil {
		t.Fatal(err)
	}
	p, ok := Pointer(y.Values())
	if !ok {
		t.Fatal("the result is not on the device")
	}
	got := make([]float64, 2)
	if err := cu.MemcpyDtoH(unsafe.Pointer(&got[0]), p, 16); err != nil {
		t.Fatal(err)
	}
	if got[0] != 201 || got[1] != 30 {
		t.Errorf("y = %v, want [201 30]", got)
	}
	y.Release()
}
