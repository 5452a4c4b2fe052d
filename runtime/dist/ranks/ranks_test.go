package ranks

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport/kit"
)

func TestKit(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		for _, faults := range []Faults{{}, {Delay: 2 * time.Millisecond, Seed: 7}} {
			t.Run(fmt.Sprintf("%d ranks, delay %v", n, faults.Delay), func(t *testing.T) {
				if err := Run(context.Background(), n, faults, kit.All); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestLost(t *testing.T) {
	open := func() ([]transport.Transport, error) { return New(3, Faults{}) }
	for _, c := range []struct {
		lose  func(transport.Transport)
		words string
	}{
		{func(t transport.Transport) { t.Abort("the disk is full") }, "the disk is full"},
		{func(t transport.Transport) { t.Close() }, "has left"},
		{func(t transport.Transport) {
			ctx, stop := context.WithCancel(context.Background())
			stop()
			transport.Barrier(ctx, t)
		}, "stopped"},
	} {
		if err := kit.Lost(open, 1, c.lose, c.words); err != nil {
			t.Error(err)
		}
	}
}

func TestDisagreement(t *testing.T) {
	list, err := New(4, Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if err := kit.Disagreement(list, 2); err != nil {
		t.Error(err)
	}
}

// Ranks that die, panic or fail end the group with what they say.
func TestRun(t *testing.T) {
	barriers := func(ctx context.Context, t transport.Transport) error {
		for range 10 {
			if err := transport.Barrier(ctx, t); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		faults Faults
		f      func(context.Context, transport.Transport) error
		want   string
	}{
		{Faults{}, barriers, ""},
		{Faults{Lose: map[int]int{2: 5}}, barriers, "rank 2: it has died"},
		{Faults{}, func(ctx context.Context, t transport.Transport) error {
			if t.Rank() == 1 {
				return errors.New("no such file")
			}
			return barriers(ctx, t)
		}, "no such file"},
		{Faults{}, func(ctx context.Context, t transport.Transport) error {
			if t.Rank() == 1 {
				panic("oops")
			}
			return barriers(ctx, t)
		}, "BUG: oops"},
		{Faults{}, func(ctx context.Context, t transport.Transport) error {
			if t.Rank() == 0 {
				goruntime.Goexit()
			}
			return barriers(ctx, t)
		}, "rank 0: it has died"},
		{Faults{}, func(ctx context.Context, t transport.Transport) error {
			if t.Rank() == 2 {
				_, err := t.Exchange(ctx, make([][]byte, 3))
				return err
			}
			return transport.Barrier(ctx, t)
		}, "is in "},
	} {
		began := time.Now()
		err := Run(context.Background(), 3, c.faults, c.f)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if took := time.Since(began); took > kit.Patience {
			t.Errorf("took %v", took)
		}
	}
	if _, err := New(0, Faults{}); err == nil {
		t.Error("a group of nobody")
	}
}

// What is not of the length that the other side expects is told.
func TestLengths(t *testing.T) {
	err := Run(context.Background(), 2, Faults{}, func(ctx context.Context, t transport.Transport) error {
		n := []int{8, 16}[t.Rank()]
		p, err := t.Start(ctx, [][]byte{make([]byte, 8), make([]byte, 8)}, [][]byte{make([]byte, 8), make([]byte, 8)})
		if err != nil {
			return err
		}
		if err := p.Wait(ctx); err != nil {
			return err
		}
		other := 1 - t.Rank()
		out, in := make([][]byte, 2), make([][]byte, 2)
		out[other], in[other] = make([]byte, n), make([]byte, n)
		p, err = t.Start(ctx, out, in)
		if err != nil {
			return err
		}
		return p.Wait(ctx)
	})
	if err == nil || !strings.Contains(err.Error(), "which expects") {
		t.Errorf("got %v", err)
	}
}
