package runtime

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// goKernel is a kernel written in Go, for tests of everything around kernels.
type goKernel func(f *frame, chunk, lo, hi int64) int64

func (k goKernel) call(f *frame, chunk, lo, hi int64) (int64, error) { return k(f, chunk, lo, hi), nil }

var threadCounts = []int64{1, 2, 3, 7, 64}

func evenCut(n int64) *cut {
	c := new(cut)
	c.even(n, 1)
	return c
}

func TestTeamRunsEveryChunkOnce(t *testing.T) {
	for _, threads := range threadCounts {
		for _, chunks := range []int64{0, 1, 2, 5, 1000} {
			ran := make([]atomic.Int64, chunks)
			f, err := new(team).run(context.Background(), goKernel(func(_ *frame, chunk, lo, hi int64) int64 {
				if lo != chunk || hi != chunk+1 {
					t.Errorf("chunk %d is [%d, %d)", chunk, lo, hi)
				}
				ran[chunk].Add(1)
				return 0
			}), new(frame), evenCut(chunks), threads)
			if f.failed() || err != nil {
				t.Errorf("%d threads, %d chunks: %+v, %v", threads, chunks, f, err)
			}
			for i := range ran {
				if n := ran[i].Load(); n != 1 {
					t.Errorf("%d threads: chunk %d of %d ran %d times", threads, i, chunks, n)
				}
			}
		}
	}
}

// Chunks 13, 14, … all fail; the failure reported is always that of chunk 13.
func TestTeamReportsFirstFailure(t *testing.T) {
	for _, threads := range threadCounts {
		for range 200 {
			f, err := new(team).run(context.Background(), goKernel(func(_ *frame, chunk, _, _ int64) int64 {
				if chunk < 13 {
					return 0
				}
				return chunk
			}), new(frame), evenCut(100), threads)
			if want := (failure{chunk: 13, status: 13}); f != want || err != nil {
				t.Fatalf("%d threads: %+v, %v, want %+v", threads, f, err, want)
			}
		}
	}
}

func TestTeamStopsBetweenChunks(t *testing.T) {
	for _, threads := range threadCounts {
		ctx, cancel := context.WithCancel(context.Background())
		var ran atomic.Int64
		_, err := new(team).run(ctx, goKernel(func(*frame, int64, int64, int64) int64 {
			if ran.Add(1) == 10 {
				cancel()
			}
			return 0
		}), new(frame), evenCut(10_000), threads)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads: error %v, want %v", threads, err, context.Canceled)
		}
		if n := ran.Load(); n > 10+threads {
			t.Errorf("%d threads: %d chunks ran, want at most one per thread after the tenth", threads, n)
		}
	}
}

// A context that ends when all the work is done does not make it fail.
func TestTeamCancelledAtTheEnd(t *testing.T) {
	for _, threads := range threadCounts {
		ctx, cancel := context.WithCancel(context.Background())
		var ran atomic.Int64
		_, err := new(team).run(ctx, goKernel(func(*frame, int64, int64, int64) int64 {
			if ran.Add(1) == 100 {
				cancel()
			}
			return 0
		}), new(frame), evenCut(100), threads)
		if err != nil {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}

func TestTeamPassesPanicsOn(t *testing.T) {
	for _, threads := range threadCounts {
		func() {
			defer func() {
				if v := recover(); v == nil || threads > 1 && !strings.Contains(v.(string), "out of coffee") {
					t.Errorf("%d threads: recovered %v", threads, v)
				}
			}()
			new(team).run(context.Background(), goKernel(func(_ *frame, chunk, _, _ int64) int64 {
				if chunk == 5 {
					panic("out of coffee")
				}
				return 0
			}), new(frame), evenCut(10), threads)
			t.Errorf("%d threads: no panic", threads)
		}()
	}
}

// No goroutine outlives a run, however it ends.
func TestTeamLeaksNothing(t *testing.T) {
	before := goruntime.NumGoroutine()
	TestTeamReportsFirstFailure(t)
	TestTeamStopsBetweenChunks(t)
	TestTeamPassesPanicsOn(t)
	// A worker's last act, after the run was told of it, is to exit.
	for deadline := time.Now().Add(10 * time.Second); goruntime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", goruntime.NumGoroutine(), before)
		}
		goruntime.Gosched()
	}
}
