package ptx_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// This file runs random grids on a GPU, where there is one.

var gpuCases = flag.Int("gpu-cases", 400, "how many random grid functions TestOnGPU runs")

// Random grid functions give on a GPU what the reference gives that runs all threads
// statement by statement, bit for bit.
func TestOnGPU(t *testing.T) {
	driver, err := cuda.Open()
	if err != nil {
		t.Skip("no GPU: ", err)
	}
	device, err := driver.Device(0)
	if err != nil {
		t.Skip("no GPU: ", err)
	}
	defer device.Close()
	l, err := llvm.Load("")
	if err != nil {
		t.Skip("no LLVM: ", err)
	}
	capability := device.Info().Capability
	cpu, err := ptx.CPU(capability.Major*10+capability.Minor, l.Version().Major)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	draw := rapid.Custom(func(t *rapid.T) looptest.GridCase { return looptest.DrawGrid(t) })
	const together = 50 // functions of a module
	for first := 0; first < *gpuCases; first += together {
		var cases []looptest.GridCase
		var funcs []*loop.Func
		for i := first; i < min(first+together, *gpuCases); i++ {
			c := draw.Example(i)
			c.Func.Name = fmt.Sprint("random_", i)
			cases, funcs = append(cases, c), append(funcs, c.Func)
		}
		text, err := ptx.Emit("random", funcs, nil)
		if err != nil {
			t.Fatal(err)
		}
		assembly, err := l.EmitAssembly(text, llvm.Options{Target: llvm.Target{Triple: ptx.Triple, CPU: cpu}})
		if err != nil {
			t.Fatal(err)
		}
		module, err := device.Load([]byte(assembly))
		if err != nil {
			t.Fatalf("%v\n%s", err, assembly)
		}
		for _, c := range cases {
			if err := onGPU(stream, module, c); err != nil {
				t.Errorf("%v\n%s", err, c.Func)
			}
		}
		if err := module.Close(); err != nil {
			t.Error(err)
		}
	}
}

// onGPU runs a case on a device and compares what comes out with the reference.
func onGPU(stream *cuda.Stream, module *cuda.Module, c looptest.GridCase) error {
	wantStatus, want, err := c.Run(nil)
	if err != nil {
		return err
	}
	kernel, err := module.Function(c.Func.Name)
	if err != nil {
		return err
	}
	var params []byte
	pointer := func(bytes []byte) (cuda.Ptr, error) {
		p, err := stream.Alloc(uint64(max(len(bytes), 1)))
		if err == nil && len(bytes) > 0 {
			err = stream.Upload(p, bytes)
		}
		params = binary.LittleEndian.AppendUint64(params, uint64(p))
		return p, err
	}
	got := c.CopyMemory()
	var places []cuda.Ptr
	for _, b := range got {
		p, err := pointer(b)
		if err != nil {
			return err
		}
		places = append(places, p)
	}
	for _, a := range c.Args {
		params = binary.LittleEndian.AppendUint64(params, uint64(a))
	}
	status := make([]byte, 8) // that of a kernel before, which did not fail, and this one's
	p, err := pointer(status)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(params[len(params)-8:], uint64(p)+4)
	grid := cuda.Grid{Blocks: cuda.Extent{X: uint32(c.Blocks)}, Threads: cuda.Extent{X: uint32(c.Func.Grid.Threads)}}
	if err := kernel.Launch(stream, grid, params); err != nil {
		return err
	}
	for i, b := range append(got, status) {
		if len(b) > 0 {
			if err := stream.Download(b, append(places, p)[i]); err != nil {
				return err
			}
		}
	}
	if err := stream.Synchronize(context.Background()); err != nil {
		return err
	}
	for _, p := range append(places, p) {
		if err := stream.Free(p); err != nil {
			return err
		}
	}
	if st := binary.LittleEndian.Uint32(status[4:]); st != uint32(wantStatus) {
		return fmt.Errorf("status %d, want %d", st, wantStatus)
	}
	return looptest.SameMemory(c.Func, got, want)
}
