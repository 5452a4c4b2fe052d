package cuda

import (
	"context"
	"math"
	"runtime"
	"time"
	"unsafe"
)

// Stream is a queue of work for a device: what is put in runs in order, and
// beside what is in other streams.
type Stream struct {
	r         *resource
	recording *Graph // while Record works
}

// NewStream makes a stream that does not wait for the legacy default stream.
func (d *Device) NewStream() (*Stream, error) {
	api := &d.r.ctx.driver.api
	r, err := d.r.made(&api.streamCreate, &api.streamDestroy, streamNonBlocking)
	if err != nil {
		return nil, err
	}
	return closeWhenForgotten(&Stream{r: r}, r), nil
}

// WrapStream makes a Stream of one that the program has already, a CUstream of
// the device's context; 0 is the legacy default stream. The caller keeps it
// alive until the Stream is closed.
func (d *Device) WrapStream(stream uintptr) (*Stream, error) {
	if err := d.r.hold(); err != nil {
		return nil, err
	}
	defer d.r.drop()
	r := newResource(d.r.ctx, stream, nil)
	return closeWhenForgotten(&Stream{r: r}, r), nil
}

// Handle returns the stream's CUstream, for other libraries in the process. It
// is good until the stream is closed.
func (s *Stream) Handle() uintptr { return s.r.handle }

// Close gives the stream back. What is in it runs all the same.
func (s *Stream) Close() error { return s.r.close() }

// Done reports whether all that was put into the stream has run.
func (s *Stream) Done() (bool, error) { return s.r.query(&s.r.ctx.driver.api.streamQuery) }

// The waiting of Await: how long it asks without a pause, and how long the
// pauses are then.
const (
	spinTime = 200 * time.Microsecond
	minPause = 20 * time.Microsecond
	maxPause = time.Millisecond
)

// Synchronize waits until all that was put into the stream has run, and returns
// the error of whatever failed. When ctx ends first it returns ctx's error; the
// work goes on, and what it uses must be left to it, which freeing in stream
// order does.
func (s *Stream) Synchronize(ctx context.Context) error {
	if ctx.Done() == nil {
		return s.r.call(&s.r.ctx.driver.api.streamSynchronize)
	}
	return Await(ctx, s.Done)
}

// Await asks done until it says so or fails, first without a pause, then with pauses that grow. When ctx ends before, it returns
// why.
func Await(ctx context.Context, done func() (bool, error)) error {
	for start := time.Now(); ; {
		done, err := done()
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		waited := time.Since(start)
		if waited < spinTime {
			runtime.Gosched()
			continue
		}
		// A pause in proportion to the time so far adds little to it.
		pause := time.NewTimer(min(max(waited/16, minPause), maxPause))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// Wait makes the stream wait for an event, which may be another device's: what is put in later runs after the
// event. It does not make the caller wait.
func (s *Stream) Wait(e *Event) error {
	if e.r.ctx.driver != s.r.ctx.driver {
		return ErrMixedDevices
	}
	return s.r.with(e.r, &s.r.ctx.driver.api.streamWaitEvent, s.r.handle, e.r.handle, 0)
}

// Event is a mark in a stream, reached when all before it has run.
type Event struct{ r *resource }

// NewEvent makes an event that remembers the time at which it is reached.
func (d *Device) NewEvent() (*Event, error) { return d.newEvent(0) }

// NewMark makes an event for Wait and Synchronize, which cost less where no time is remembered; Since is an error.
func (d *Device) NewMark() (*Event, error) { return d.newEvent(eventDisableTiming) }

func (d *Device) newEvent(flags uintptr) (*Event, error) {
	api := &d.r.ctx.driver.api
	r, err := d.r.made(&api.eventCreate, &api.eventDestroy, flags)
	if err != nil {
		return nil, err
	}
	return closeWhenForgotten(&Event{r}, r), nil
}

// Close gives the event back.
func (e *Event) Close() error { return e.r.close() }

// Record puts the event into a stream; the event's earlier place is forgotten.
func (e *Event) Record(s *Stream) error {
	if e.r.ctx != s.r.ctx {
		return ErrMixedDevices
	}
	return e.r.with(s.r, &e.r.ctx.driver.api.eventRecord, e.r.handle, s.r.handle)
}

// Synchronize waits until the event is reached, or ctx ends. An event that is in no stream counts as reached.
func (e *Event) Synchronize(ctx context.Context) error {
	if ctx.Done() == nil {
		return e.r.call(&e.r.ctx.driver.api.eventSynchronize)
	}
	return Await(ctx, e.reached)
}

// reached asks whether the event is.
func (e *Event) reached() (bool, error) { return e.r.query(&e.r.ctx.driver.api.eventQuery) }

// Since returns the time from one event to a later one, both reached, to about
// half a microsecond.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if e.r.ctx != start.r.ctx {
		return 0, ErrMixedDevices
	}
	if err := start.r.hold(); err != nil {
		return 0, err
	}
	defer start.r.drop()
	f, err := e.r.enter()
	if err != nil {
		return 0, err
	}
	defer f.leave()
	f.clear()
	if err := f.call(&f.ctx.driver.api.eventElapsedTime, f.address(0), start.r.handle, e.r.handle); err != nil {
		return 0, err
	}
	milliseconds := *(*float32)(unsafe.Pointer(&f.out[0]))
	return time.Duration(math.Round(float64(milliseconds) * 1e6)), nil
}
