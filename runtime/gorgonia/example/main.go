//go:build gorgonia_cu

// Command example multiplies a sparse matrix and a vector in a context, on a stream and on memory
// of gorgonia.org/cu, without copies between that and Lacuna, and checks the result:
//
//	CGO_CFLAGS=-I/usr/local/cuda-12/include go run -tags gorgonia_cu .
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime/gorgonia"
	"github.com/lacuna-sparse/lacuna/tensor"
)

const (
	rows   = 100_000
	perRow = 8
)

func main() {
	log.SetFlags(0)
	// What cu does, it does in the context that is current on the thread.
	goruntime.LockOSThread()
	device := cu.Device(0)
	name, err := device.Name()
	check(err)
	fmt.Println(name)
	cuContext, err := device.MakeContext(cu.SchedAuto)
	check(err)
	for _, s := range []struct {
		name string
		make func() (cu.Stream, error)
	}{
		{"default stream", func() (cu.Stream, error) { return cu.NoStream, nil }},
		{"stream of its own", func() (cu.Stream, error) { return cu.MakeStream(cu.NonBlocking) }},
	} {
		stream, err := s.make()
		check(err)
		began := time.Now()
		worst, err := multiply(cuContext, stream)
		check(err)
		fmt.Printf("%s: largest difference %.3g, %v\n", s.name, worst, time.Since(began).Round(time.Millisecond))
		if !(worst < 1e-12) {
			log.Fatal("FAILED: the result is wrong")
		}
	}
	check(cuContext.Destroy())
	fmt.Println("ok")
}

// multiply computes z = A A x on the device and the same here, and returns the largest relative
// difference.
func multiply(cuContext cu.CUContext, stream cu.Stream) (worst float64, err error) {
	random := rand.New(rand.NewPCG(1, 2))
	pos, crd := make([]uint32, rows+1), make([]uint32, rows*perRow)
	vals, x := make([]float64, rows*perRow), make([]float64, rows)
	for i := range rows {
		pos[i+1] = uint32((i + 1) * perRow)
		for k := range perRow {
			at := i*perRow + k
			crd[at] = uint32(k*(rows/perRow) + random.IntN(rows/perRow))
			vals[at] = random.Float64()
		}
		x[i] = random.Float64()
	}

	engine, err := gorgonia.New(cuContext, stream)
	if err != nil {
		return 0, err
	}
	defer func() {
		if failed := engine.Close(); err == nil {
			err = failed
		}
	}()
	var arrays []tensor.Array
	for _, host := range []struct {
		dt   tensor.DType
		at   unsafe.Pointer
		size int
		n    int
	}{
		{tensor.Uint32, unsafe.Pointer(&pos[0]), 4, len(pos)},
		{tensor.Uint32, unsafe.Pointer(&crd[0]), 4, len(crd)},
		{tensor.Float64, unsafe.Pointer(&vals[0]), 8, len(vals)},
		{tensor.Float64, unsafe.Pointer(&x[0]), 8, len(x)},
	} {
		// Memory that the program has anyway.
		p, err := cu.AllocAndCopy(host.at, int64(host.size*host.n))
		if err != nil {
			return 0, err
		}
		defer func() { _ = cu.MemFree(p) }() // which waits for the device
		array, err := engine.Array(host.dt, p, host.n)
		if err != nil {
			return 0, err
		}
		arrays = append(arrays, array)
	}
	A, err := tensor.New([]int64{rows, rows}, tensor.CSR, []tensor.Level{{}, {Pos: arrays[0], Crd: arrays[1]}}, arrays[2])
	if err != nil {
		return 0, err
	}
	X, err := tensor.FromDense([]int64{rows}, tensor.Dense(1), arrays[3])
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	session := lacuna.NewSession(lacuna.WithEngine(engine.Engine()), lacuna.WithResidentResults())
	y, err := session.Eval(ctx, "y(i) = A(i,j)*x(j)", lacuna.Args{"A": A, "x": X})
	if err != nil {
		return 0, err
	}
	z, err := session.Eval(ctx, "z(i) = A(i,j)*y(j)", lacuna.Args{"A": A, "y": y})
	if err != nil {
		return 0, err
	}
	p, ok := gorgonia.Pointer(z.Values())
	if !ok {
		return 0, fmt.Errorf("the result is not on the device")
	}
	// The runs may be under way yet: what cu puts into the stream comes after them.
	if err := stream.Synchronize(); err != nil {
		return 0, err
	}
	got := make([]float64, rows)
	if err := cu.MemcpyDtoH(unsafe.Pointer(&got[0]), p, 8*rows); err != nil {
		return 0, err
	}
	goruntime.KeepAlive(z)
	product := func(x []float64) []float64 {
		y := make([]float64, rows)
		for i := range y {
			for at := pos[i]; at < pos[i+1]; at++ {
				y[i] += vals[at] * x[crd[at]]
			}
		}
		return y
	}
	for i, want := range product(product(x)) {
		if d := math.Abs(got[i]-want) / want; !(d <= worst) {
			worst = d
		}
	}
	return worst, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
