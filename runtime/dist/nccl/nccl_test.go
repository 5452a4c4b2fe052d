package nccl

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/cuda/fakecuda"
	"github.com/lacuna-sparse/lacuna/internal/dl"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport/kit"
)

//go:embed testdata/fakenccl.c
var source []byte

// fake is a driver and a NCCL of no device.
type fake struct {
	t       *testing.T
	driver  *cuda.Driver
	library dl.Library
}

func newFake(t *testing.T, flags ...string) *fake {
	t.Helper()
	path := fakecuda.Build(t)
	t.Setenv(cuda.EnvVar, path)
	driver := must(cuda.Open())(t)
	mine := fakecuda.Compile(t, "libnccl.so.2", source, flags...)
	t.Setenv(EnvVar, mine)
	f := &fake{t, driver, must(dl.Open(mine))(t)}
	theirs := must(dl.Open(path))(t)
	f.control("fake_driver", theirs.Symbol("cuLaunchHostFunc"), theirs.Symbol("cuCtxGetCurrent"))
	return f
}

//go:uintptrescapes
func (f *fake) control(name string, args ...uintptr) int {
	return int(int32(dl.Call(f.library.Symbol(name), args...)))
}

// fail makes a function of NCCL fail.
func (f *fake) fail(name string) {
	text := append([]byte(name), 0)
	f.control("fake_fail", uintptr(unsafe.Pointer(&text[0])), 5)
}

// opener makes groups on devices, whose carrier is checked.
func opener(carrier string, devices ...int) func() ([]transport.Transport, error) {
	return func() ([]transport.Transport, error) {
		groups, err := Open(context.Background(), devices...)
		if err != nil {
			return nil, err
		}
		var list []transport.Transport
		for _, g := range groups {
			if !strings.HasPrefix(g.Carrier(), carrier) {
				return nil, fmt.Errorf("the messages go by %s, want %s", g.Carrier(), carrier)
			}
			list = append(list, g)
		}
		return list, nil
	}
}

func closeAll(t *testing.T, ranks []transport.Transport) {
	t.Helper()
	if err := kit.Group(ranks, func(t transport.Transport) error { return t.Close() }); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// each runs a test with NCCL, and with copies between GPUs that several ranks share.
func each(t *testing.T, f func(t *testing.T, open func() ([]transport.Transport, error))) {
	t.Run("NCCL", func(t *testing.T) {
		fake := newFake(t)
		f(t, opener("NCCL 2.27.3", 0, 1))
		if n := fake.control("fake_live"); n != 0 {
			t.Errorf("%d communicators are not given back", n)
		}
	})
	t.Run("peers", func(t *testing.T) {
		newFake(t)
		f(t, opener("peer copies", 0, 1, 0))
	})
	t.Run("linked", func(t *testing.T) {
		newFake(t)
		t.Setenv(EnvVar, "")
		f(t, opener("peer copies", 0, 1))
	})
}

func TestKit(t *testing.T) {
	each(t, func(t *testing.T, open func() ([]transport.Transport, error)) {
		ranks := must(open())(t)
		if err := kit.Group(ranks, func(t transport.Transport) error { return kit.All(context.Background(), t) }); err != nil {
			t.Error(err)
		}
		closeAll(t, ranks)
	})
}

func TestLost(t *testing.T) {
	each(t, func(t *testing.T, open func() ([]transport.Transport, error)) {
		for _, c := range []struct {
			lose  func(transport.Transport)
			words string
		}{
			{func(t transport.Transport) { t.Abort("the disk is full") }, "the disk is full"},
			{func(t transport.Transport) { t.Close() }, "has left"},
			{func(t transport.Transport) {
				ctx, stop := context.WithTimeout(context.Background(), 30*time.Millisecond)
				defer stop()
				// The others do the same, for longer.
				if err := t.(*Group).await(ctx); !errors.Is(err, context.DeadlineExceeded) {
					panic(err)
				}
			}, "it was stopped: context deadline exceeded"},
		} {
			if err := kit.Lost(open, 1, c.lose, c.words); err != nil {
				t.Errorf("%s: %v", c.words, err)
			}
		}
		ranks := must(open())(t)
		if err := kit.Disagreement(ranks, 1); err != nil {
			t.Error(err)
		}
		for _, r := range ranks {
			r.Close()
		}
	})
}

// await waits for nothing that comes.
func (g *Group) await(ctx context.Context) error {
	never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	return (&swapping{g, &said{Pending: nothing{}}, nil, never, never}).Arrived(ctx)
}

type nothing struct{}

func (nothing) Wait(context.Context) error { return nil }

// Arrays on the devices go from one to the other, in the order of the streams, and are counted.
func TestSwap(t *testing.T) {
	each(t, func(t *testing.T, open func() ([]transport.Transport, error)) {
		list := must(open())(t)
		if err := kit.Group(list, swaps); err != nil {
			t.Error(err)
		}
		closeAll(t, list)
	})
}

// swaps swaps a message of 1000 bytes with each rank, itself among them, five times, and writes others to where it has sent from and received.
func swaps(t transport.Transport) error {
	g, ctx := t.(*Group), context.Background()
	var out, in []transport.Span
	for range g.Size() {
		p, err := g.work.Alloc(2000)
		if err != nil {
			return err
		}
		defer g.work.Free(p)
		out, in = append(out, transport.Span{Address: uint64(p), Bytes: 1000}), append(in, transport.Span{Address: uint64(p) + 1000, Bytes: 1000})
	}
	var err error
	for round := range 5 {
		text := func(from, to int) []byte { return bytes.Repeat([]byte{byte(64*round + 8*from + to)}, 1000) }
		for r := range out {
			err = errors.Join(err, g.work.Upload(cuda.Ptr(out[r].Address), text(g.Rank(), r)))
		}
		before := g.Sent()
		failed := swap(ctx, g, out, in)
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		for r := range in {
			err = errors.Join(err, g.work.Set8(cuda.Ptr(out[r].Address), 0xff, 1000))
			got := make([]byte, 1000)
			err = errors.Join(err, g.work.Download(got, cuda.Ptr(in[r].Address)))
			if want := text(r, g.Rank()); !bytes.Equal(got, want) {
				err = errors.Join(err, fmt.Errorf("rank %d has %d… of rank %d, want %d", g.Rank(), got[0], r, want[0]))
			}
			want := transport.Traffic{Messages: 1, Bytes: 1000}
			if r == g.Rank() {
				want = transport.Traffic{}
			}
			if sent := g.Sent()[r]; sent.Bytes-before[r].Bytes != want.Bytes || sent.Messages-before[r].Messages != want.Messages {
				err = errors.Join(err, fmt.Errorf("rank %d has sent %+v to rank %d, %+v before", g.Rank(), sent, r, before[r]))
			}
		}
	}
	return err
}

// swap is a whole swap, after what the rank has put into its stream.
func swap(ctx context.Context, g *Group, out, in []transport.Span) error {
	here, err := g.Mark(nil)
	if err != nil {
		return err
	}
	s, err := g.Swap(ctx, out, in, here, here)
	if err != nil {
		return err
	}
	if err := s.Arrived(ctx); err != nil {
		return err
	}
	if err := s.Sent(ctx); err != nil {
		return err
	}
	g.keep(here.(*mark))
	return nil
}

// Ranks that do not agree about a swap end, on both sides.
func TestMismatch(t *testing.T) {
	each(t, func(t *testing.T, open func() ([]transport.Transport, error)) {
		for _, c := range []struct {
			name, want string
			other      func(ctx context.Context, g *Group) error
		}{
			{"lengths", "bytes to rank", func(ctx context.Context, g *Group) error { return swapOf(ctx, g, 80) }},
			{"calls", "is in Start", func(ctx context.Context, g *Group) error { return transport.Barrier(ctx, g) }},
		} {
			list := must(open())(t)
			ctx, stop := context.WithTimeout(context.Background(), kit.Patience)
			err := kit.Group(list, func(t transport.Transport) error {
				g := t.(*Group)
				var err error
				if g.Rank() == 1 {
					err = c.other(ctx, g)
				} else {
					err = swapOf(ctx, g, 160)
				}
				if of := new(transport.Error); !errors.As(err, &of) || !strings.Contains(err.Error(), c.want) {
					return fmt.Errorf("%s: rank %d says %v", c.name, g.Rank(), err)
				}
				return nil
			})
			stop()
			if err != nil {
				t.Error(err)
			}
			for _, r := range list {
				r.Close()
			}
		}
	})
}

// swapOf swaps n bytes with each other rank.
func swapOf(ctx context.Context, g *Group, n int64) error {
	out, in := make([]transport.Span, g.Size()), make([]transport.Span, g.Size())
	for r := range out {
		if r == g.Rank() {
			continue
		}
		p, err := g.work.Alloc(uint64(2 * n))
		if err != nil {
			return err
		}
		out[r], in[r] = transport.Span{Address: uint64(p), Bytes: n}, transport.Span{Address: uint64(p) + uint64(n), Bytes: n}
	}
	if err := swap(ctx, g, out, in); err != nil {
		return err
	}
	return g.Synchronize(ctx)
}

// Whatever function of NCCL fails, all ranks hear of it, and nothing is left.
func TestFailures(t *testing.T) {
	for _, name := range []string{"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommGetAsyncError", "ncclGroupStart", "ncclGroupEnd", "ncclSend", "ncclRecv", "ncclCommFinalize"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.fail(name)
			groups, err := Open(context.Background(), 0, 1)
			if err == nil {
				err = kit.Group([]transport.Transport{groups[0], groups[1]}, func(t transport.Transport) error {
					return errors.Join(swapOf(context.Background(), t.(*Group), 8), t.Close())
				})
			}
			if err == nil || !strings.Contains(err.Error(), name+": invalid usage") {
				t.Errorf("error %v", err)
			}
			if n := f.control("fake_live"); n != 0 {
				t.Errorf("%d communicators are not given back", n)
			}
		})
	}
}

func TestJoinNeedsGPUsOfTheirOwn(t *testing.T) {
	newFake(t)
	err := ranks.Run(context.Background(), 2, ranks.Faults{}, func(ctx context.Context, t transport.Transport) error {
		_, err := Join(ctx, t, 0)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "Duplicate GPU") {
		t.Errorf("error %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		spec  func(t *testing.T) string
		words []string
	}{
		{func(*testing.T) string { return "off" }, []string{"switched off (LACUNA_NCCL=off)"}},
		{func(*testing.T) string { return "/no/such/libnccl.so" }, []string{"/no/such/libnccl.so: no such file", "PyTorch", "LACUNA_NCCL"}},
		{func(*testing.T) string { return "libm.so.6" }, []string{"libm.so.6: it lacks ncclCommAbort, ncclCommDestroy, 11 more: it is no NCCL 2.14"}},
		{func(t *testing.T) string { return fakecuda.Compile(t, "libnccl.so.2", source, "-DVERSION=2804") }, []string{"it is NCCL 2.8.4; 2.14 or newer is needed"}},
	} {
		t.Setenv(EnvVar, c.spec(t))
		_, err := load()
		if _, ok := errors.AsType[*NotFoundError](err); !ok {
			t.Errorf("error %v", err)
			continue
		}
		if os.Getenv(EnvVar) != "off" { // what is named is not done without
			t.Setenv(cuda.EnvVar, fakecuda.Build(t))
			if _, opened := Open(t.Context(), 0, 1); opened == nil || opened.Error() != err.Error() {
				t.Errorf("Open: error %v, want %v", opened, err)
			}
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("no %q in %q", w, err)
			}
		}
	}
}

// NCCL is looked for where the Python in use keeps it.
func TestCandidates(t *testing.T) {
	t.Setenv(EnvVar, "")
	t.Setenv("VIRTUAL_ENV", "/no/such/environment")
	list := candidates()
	if list[0] != "libnccl.so.2" || !slices.Contains(pythons(), "/no/such/environment") {
		t.Errorf("candidates %q of %q", list, pythons())
	}
}

// On real GPUs: NCCL on as many as there are, and copies among three ranks that share the first two.
func TestGPU(t *testing.T) {
	driver, err := cuda.Open()
	if err != nil {
		t.Skip(err)
	}
	all, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	var one []int // rank on each
	for n := range all {
		one = append(one, n)
	}
	for name, c := range map[string]struct {
		carrier  string
		ordinals []int
	}{
		"NCCL":  {"NCCL ", one},
		"peers": {"peer copies", append(one, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "NCCL" {
				l, err := load()
				if err != nil {
					t.Skip(err)
				}
				t.Setenv(EnvVar, l.path)
			}
			start := opener(c.carrier, c.ordinals...)
			list := must(start())(t)
			t.Logf("%d ranks on %d GPUs, by %s", len(list), len(all), list[0].(*Group).Carrier())
			if err := kit.Group(list, swaps); err != nil {
				t.Error(err)
			}
			closeAll(t, list)
			if len(list) == 1 {
				return
			}
			if err := kit.Lost(start, 1, func(t transport.Transport) { t.Abort("the disk is full") }, "the disk is full"); err != nil {
				t.Error(err)
			}
			list = must(start())(t)
			measure(t, list, 2)
			measure(t, list, len(list))
			closeAll(t, list)
		})
	}
}

// measure logs how fast long messages go, from each of the first ranks to all others of them.
func measure(t *testing.T, list []transport.Transport, first int) {
	const n, times = 256 << 20, 20
	ctx := context.Background()
	err := kit.Group(list, func(r transport.Transport) error {
		g := r.(*Group)
		out, in := make([]transport.Span, g.Size()), make([]transport.Span, g.Size())
		if g.Rank() < first {
			p, err := g.work.Alloc(uint64(first * n))
			if err != nil {
				return err
			}
			defer g.work.Free(p)
			for r := range first {
				if r != g.Rank() {
					out[r], in[r] = transport.Span{Address: uint64(p), Bytes: n}, transport.Span{Address: uint64(p) + n*uint64(1+(r+first-g.Rank()-1)%first), Bytes: n}
				}
			}
		}
		var began time.Time
		for i := range times + 2 {
			if i == 2 {
				if err := g.Synchronize(ctx); err != nil {
					return err
				}
				began = time.Now()
			}
			if err := swap(ctx, g, out, in); err != nil {
				return err
			}
		}
		if err := g.Synchronize(ctx); err != nil {
			return err
		}
		if g.Rank() == 0 {
			t.Logf("256 MiB to and from each of %d other ranks at the same time: %.1f GB/s each way", first-1, float64(n*times*(first-1))/time.Since(began).Seconds()/1e9)
		}
		return transport.Barrier(ctx, g)
	})
	if err != nil {
		t.Error(err)
	}
}

// must returns a value unless there is an error, which ends the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
