//go:build linux || darwin

package cuda

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// This file tests when contexts, streams, memory and kernels go: resource.go and who uses it.

func TestLostDevice(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	m := must(d.Load(image))(t)
	wild := must(m.Function("wild"))(t)
	p := must(s.Alloc(100))(t)
	if d.Lost() != nil {
		t.Error("lost from the start")
	}
	check(t, wild.Launch(s, line(1, 1), nil))
	err := s.Synchronize(context.Background())
	e, ok := errors.AsType[*LostError](err)
	if !ok || e.Err.Code != 700 || !strings.Contains(err.Error(), "the GPU Fake 0 is lost") || !strings.Contains(err.Error(), "illegal memory access") {
		t.Fatalf("error %v", err)
	}
	for name, got := range map[string]error{
		"Upload": s.Upload(p, make([]byte, 10)), "Free": s.Free(p), "Lost": d.Lost(),
		"Launch": wild.Launch(s, line(1, 1), nil),
	} {
		if !errors.Is(got, e) {
			t.Errorf("%s: error %v", name, got)
		}
	}
	if other, err := f.Device(1); err != nil || other.Lost() != nil {
		t.Errorf("the other device is lost, too: %v", err)
	} else {
		check(t, other.Close())
	}
	check(t, m.Close(), s.Close(), d.Close())
}

func TestSynchronizeEndsWithItsContext(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	defer d.Close()
	nap := must(must(d.Load(image))(t).Function("nap"))(t)
	check(t, nap.Launch(s, line(1, 1), pack(int64(300_000))))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if waited := time.Since(start); waited > 250*time.Millisecond {
		t.Errorf("waited %v after a deadline of 20ms", waited)
	}
	if done, err := s.Done(); done || err != nil {
		t.Errorf("done %v, error %v", done, err)
	}
	check(t, s.Synchronize(t.Context()))
	if done, err := s.Done(); !done || err != nil {
		t.Errorf("done %v, error %v", done, err)
	}
}

func TestEvents(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	other := must(d.NewStream())(t)
	nap := must(must(d.Load(image))(t).Function("nap"))(t)
	start, end := must(d.NewEvent())(t), must(d.NewEvent())(t)
	p := must(s.Alloc(4))(t)
	check(t, start.Record(s),
		nap.Launch(s, line(1, 1), pack(int64(10_000))),
		s.Set8(p, 7, 4), end.Record(s),
		other.Wait(end)) // so that it reads the 7s
	got := make([]byte, 4)
	check(t, other.Download(got, p), end.Synchronize(context.Background()))
	if !bytes.Equal(got, []byte{7, 7, 7, 7}) {
		t.Errorf("got %v", got)
	}
	if took := must(end.Since(start))(t); took < 10*time.Millisecond || took > 5*time.Second {
		t.Errorf("a nap of 10ms took %v", took)
	}
	check(t, s.Free(p), start.Close(), end.Close(), s.Close(), other.Close(), d.Close())
	f.nothingAlive()
}

// What is not closed, the collector gives back: also the context.
func TestForgotten(t *testing.T) {
	f := newFake(t)
	func() {
		d, s := f.open0()
		_ = must(d.NewEvent())(t)
		_ = must(must(d.Load(image))(t).Function("nop"))(t)
		p := must(s.Alloc(100))(t)
		check(t, s.Upload(p, make([]byte, 100)), s.Free(p), s.Synchronize(t.Context()))
	}()
	f.nothingAlive()
	d := must(f.Device(0))(t) // and all can begin anew
	check(t, d.Close())
	f.nothingAlive()
}

// A kernel keeps its module, and everything keeps the context.
func TestLifetimes(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	nop := must(must(d.Load(image))(t).Function("nop"))(t)
	p := must(s.Alloc(100))(t)
	check(t, d.Close(), d.Close())
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	check(t, nop.Launch(s, line(1, 1), nil), s.Synchronize(t.Context()))
	if _, err := d.NewStream(); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed device makes a stream: %v", err)
	}
	if _, err := d.WrapStream(0); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed device wraps a stream: %v", err)
	}
	check(t, s.Free(p), nop.module.Close(), s.Close())
	for name, err := range map[string]error{
		"Launch": nop.Launch(s, line(1, 1), nil), "Upload": s.Upload(p, []byte{1}), "Synchronize": s.Synchronize(t.Context()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	f.nothingAlive()
}

// Closing what other goroutines use never breaks a call that is under way.
func TestCloseWhileInUse(t *testing.T) {
	f := newFake(t)
	d := must(f.Device(0))(t)
	for range 50 {
		s, m := must(d.NewStream())(t), must(d.Load(image))(t)
		nop := must(m.Function("nop"))(t)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					err := errors.Join(nop.Launch(s, line(1, 1), nil), s.Synchronize(t.Context()))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		runtime.Gosched()
		check(t, m.Close(), s.Close())
		group.Wait()
	}
	check(t, d.Close())
	f.nothingAlive()
}

func TestForeignContext(t *testing.T) {
	f := newFake(t)
	runtime.LockOSThread() // to look at the thread's context
	defer runtime.UnlockOSThread()
	foreign, current := new(uintptr), new(uintptr)
	f.control("fake_foreign", uintptr(unsafe.Pointer(foreign)))
	contextNow := func() uintptr {
		f.control("fake_get_current", uintptr(unsafe.Pointer(current)))
		return *current
	}
	d := must(f.Wrap(*foreign))(t)
	if d.Info().Ordinal != 1 || d.Info().Name != "Fake 1" || d.Context() != *foreign {
		t.Errorf("device %+v", d.Info())
	}
	if contextNow() != 0 {
		t.Error("a foreign context stays current")
	}
	s := must(d.WrapStream(0))(t)
	p := must(s.Alloc(8))(t)
	got := make([]byte, 8)
	check(t, s.Set8(p, 9, 8), s.Download(got, p), s.Free(p), s.Synchronize(t.Context()))
	if !bytes.Equal(got, bytes.Repeat([]byte{9}, 8)) {
		t.Errorf("got %v", got)
	}
	own := must(f.Device(0))(t)
	check(t, must(own.NewStream())(t).Close())
	if contextNow() != own.Context() {
		t.Error("the primary context does not stay on a thread that had none")
	}
	f.control("fake_set_current", *foreign)
	ownStream := must(own.NewStream())(t)
	if contextNow() != *foreign {
		t.Error("the thread's own context does not come back")
	}
	nop := must(must(own.Load(image))(t).Function("nop"))(t)
	for name, err := range map[string]error{
		"Launch": nop.Launch(s, line(1, 1), nil),
		"Record": must(own.NewEvent())(t).Record(s),
	} {
		if !errors.Is(err, ErrMixedDevices) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	check(t, s.Close(), d.Close(), ownStream.Close(), own.Close())
	if _, err := f.Wrap(0); err == nil {
		t.Error("wrapped no context")
	}
	f.nothingAlive()
}
