package runtime

import (
	"context"
	"errors"
	"github.com/lacuna-sparse/lacuna/runtime/partition"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// goKernel is a kernel written in Go, for tests of everything around kernels.
type goKernel func(f *frame, chunk, lo, hi int64) int64

func (k goKernel) call(f *frame, chunk, lo, hi int64) (int64, error) { return k(f, chunk, lo, hi), nil }

var threadCounts = []int64{1, 2, 3, 7, 64}

func evenCut(n int64) *partition.Cut {
	c := new(partition.Cut)
	c.Even(n, 1)
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

// Where calls may run several chunks, each element is still in one call, one thread makes few, and several make enough to share.
func TestTeamRunsSeveralChunksAtOnce(t *testing.T) {
	for _, threads := range threadCounts {
		for _, chunks := range []int64{0, 1, 2, 5, 1000} {
			ran, calls := make([]atomic.Int64, chunks), atomic.Int64{}
			team := &team{many: true}
			f, err := team.run(context.Background(), goKernel(func(_ *frame, chunk, lo, hi int64) int64 {
				if lo != chunk || hi <= lo {
					t.Errorf("chunk %d is [%d, %d)", chunk, lo, hi)
				}
				calls.Add(1)
				for i := lo; i < hi; i++ {
					ran[i].Add(1)
				}
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
			full := (chunks + mostChunks - 1) / mostChunks
			least, most := min(chunks, shares*threads), min(chunks, 12*shares*threads+full)
			if threads == 1 {
				least, most = full, full
			}
			if n := calls.Load(); n < least || n > most {
				t.Errorf("%d threads, %d chunks: %d calls, want %d to %d", threads, chunks, n, least, most)
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
			switch n := ran.Add(1); {
			case n == 10:
				cancel()
			case n > 10:
				<-ctx.Done() // which takes a moment
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

// Helpers go on to the next stage, which may be another run's; a stage does not wait for
// those that have not begun when it is done.
func TestTeamCallsHelpersAgain(t *testing.T) {
	const runs = 2000
	for _, threads := range threadCounts {
		teams := [2]*team{new(team), new(team)}
		var sum atomic.Int64
		for i := range int64(runs) {
			var own int64
			_, err := teams[i%2].run(context.Background(), goKernel(func(_ *frame, chunk, _, _ int64) int64 {
				sum.Add(chunk)
				if chunk == 0 {
					own = i // of this run, and seen by it
				}
				return 0
			}), new(frame), evenCut(1+i%5), threads)
			if err != nil || own != i {
				t.Fatalf("%d threads, run %d: %d, %v", threads, i, own, err)
			}
		}
		if want := int64(runs / 5 * (0 + 1 + 3 + 6 + 10)); sum.Load() != want {
			t.Errorf("%d threads: chunks add up to %d, want %d", threads, sum.Load(), want)
		}
	}
}

// Runs at the same time take each other's helpers.
func TestTeamsShareHelpers(t *testing.T) {
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			tm := new(team)
			for range 300 {
				ran := make([]int64, 20)
				if _, err := tm.run(context.Background(), goKernel(func(_ *frame, chunk, _, _ int64) int64 {
					ran[chunk]++
					return 0
				}), new(frame), evenCut(20), 5); err != nil {
					t.Error(err)
				}
				for chunk, n := range ran {
					if n != 1 {
						t.Errorf("chunk %d ran %d times", chunk, n)
					}
				}
			}
		})
	}
	wait.Wait()
}

// No goroutine outlives a run for long, however it ends.
func TestTeamLeaksNothing(t *testing.T) {
	before := goruntime.NumGoroutine()
	TestTeamReportsFirstFailure(t)
	TestTeamStopsBetweenChunks(t)
	TestTeamPassesPanicsOn(t)
	for deadline := time.Now().Add(10 * time.Second); goruntime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", goruntime.NumGoroutine(), before)
		}
		goruntime.Gosched()
	}
}

// A team does not take back what another one has called its helper for since.
func TestHelperOfAnotherTeam(t *testing.T) {
	h := new(helper)
	var first, second helperCall
	if !first.take(h, new(team), 1) || !h.change(first.called, helperBusy) {
		t.Fatal("an idle helper is not called")
	}
	if second.take(h, new(team), 1) {
		t.Fatal("a busy helper is called")
	}
	h.state.Store(first.called - helperCalled + helperIdle)
	if !second.take(h, new(team), 1) {
		t.Fatal("a helper that is done is not called again")
	}
	if first.change(first.called, helperCancelled) {
		t.Error("the first team cancels what the second one called for")
	}
	if !second.change(second.called, helperCancelled) {
		t.Error("the second team cannot cancel its call")
	}
}
