package main

import (
	"context"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// device is the GPU with a stream, for times between events. An engine of that stream does
// not wait at the end of a run, so that the event behind it is there in time.
type device struct {
	device     *cuda.Device
	stream     *cuda.Stream
	start, end *cuda.Event
}

func openDevice() (*device, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, err
	}
	d := &device{}
	if d.device, err = driver.Device(0); err != nil {
		return nil, err
	}
	if d.stream, err = d.device.NewStream(); err != nil {
		return nil, err
	}
	if d.start, err = d.device.NewEvent(); err != nil {
		return nil, err
	}
	d.end, err = d.device.NewEvent()
	return d, err
}

// close gives back what the device has; the process ends soon.
func (d *device) close() {
	for _, c := range []interface{ Close() error }{d.start, d.end, d.stream, d.device} {
		_ = c.Close()
	}
}

// measure measures a case on as many copies of the operands as turns are: the first call in a context that is
// new to the engine, and times between events.
func (d *device) measure(ctx context.Context, c bench, args map[string]*tensor.Tensor, turns int, seconds float64) (known time.Duration, times []time.Duration, err error) {
	runtime.Flush()
	e, end, err := runtime.CUDAOn(d.device.Context(), d.stream.Handle())
	if err != nil {
		return 0, nil, err
	}
	defer func() {
		if failed := end(); err == nil {
			err = failed
		}
	}()
	own := session(e)
	shared := make([]lacuna.Args, turns)
	defer func() {
		for _, turn := range shared {
			for _, x := range turn {
				x.(*tensor.Tensor).Release()
			}
		}
	}()
	for i := range turns {
		if shared[i], err = onDevice(ctx, own, args); err != nil {
			return 0, nil, err
		}
	}
	begun := time.Now()
	run, err := c.compile(own, args)
	if err != nil {
		return 0, nil, err
	}
	once := func(i int) (time.Duration, error) {
		if err := d.start.Record(d.stream); err != nil {
			return 0, err
		}
		out, err := run(ctx, shared[i%len(shared)])
		if err != nil {
			return 0, err
		}
		if err := d.end.Record(d.stream); err != nil {
			return 0, err
		}
		if err := d.end.Synchronize(context.Background()); err != nil {
			return 0, err
		}
		release(out, shared[i%len(shared)])
		return d.end.Since(d.start)
	}
	if _, err := once(0); err != nil {
		return 0, nil, err
	}
	known = time.Since(begun)
	times, err = repeat(seconds, once)
	return known, times, err
}
