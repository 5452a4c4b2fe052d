// Package kit is the test that every transport passes. Its functions are called by all ranks of a group at the same
// time, be they goroutines or processes, and compare what comes with what the other side must have sent, which follows from the
// two ranks' numbers.
package kit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Patience is how long a rank may take to hear that another is lost.
const Patience = 10 * time.Second

// message is what rank from sends rank to in a round of a test.
func message(test string, round, from, to, n int) []byte {
	b := make([]byte, n)
	fill(b, test, round, from, to)
	return b
}

func fill(b []byte, test string, round, from, to int) {
	seed := uint64(len(test))
	for _, c := range []byte(test) {
		seed = seed*31 + uint64(c)
	}
	src := rand.NewPCG(seed, uint64(round)<<40|uint64(from)<<20|uint64(to))
	i := 0
	for ; i+8 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], src.Uint64())
	}
	for ; i < len(b); i++ {
		b[i] = byte(src.Uint64())
	}
}

// check compares what has come in with what must have been sent.
func check(test string, round int, t transport.Transport, in [][]byte, size func(from, to int) int) error {
	if len(in) != t.Size() {
		return fmt.Errorf("%s, round %d: rank %d has messages of %d ranks, want %d", test, round, t.Rank(), len(in), t.Size())
	}
	for r, b := range in {
		if want := message(test, round, r, t.Rank(), size(r, t.Rank())); !bytes.Equal(b, want) {
			return fmt.Errorf("%s, round %d: rank %d has other bytes (%d) of rank %d than were sent (%d)", test, round, t.Rank(), len(b), r, len(want))
		}
	}
	return nil
}

// All runs what a group that is well must do, one after the other.
func All(ctx context.Context, t transport.Transport) error {
	for _, f := range []func(context.Context, transport.Transport) error{Exchanges, Starts, Overlapping, Large, Barriers, Votes, Agreement} {
		if err := f(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// sizes of messages in a round: all the same, or as the two ranks say.
var sizes = []func(from, to int) int{
	func(int, int) int { return 0 },
	func(int, int) int { return 1 },
	func(from, to int) int { return from*to%3 + to }, // 0 for some
	func(from, to int) int { return (from*7 + to*13) % 64 },
	func(from, to int) int { // one rank to all
		if from == 0 {
			return 1000
		}
		return 0
	},
	func(from, to int) int { // all to the last: rank 0 does not know its number here
		if to == 0 {
			return 100 + from
		}
		return 0
	},
	func(from, to int) int { return 4096 + from - to },
	func(from, to int) int { return 65537 },
}

// Exchanges sends messages of many sizes, 0 among them, and counts them.
func Exchanges(ctx context.Context, t transport.Transport) error {
	before := t.Sent()
	want := make([]transport.Traffic, t.Size())
	for round, size := range sizes {
		out := make([][]byte, t.Size())
		for r := range out {
			out[r] = message("exchange", round, t.Rank(), r, size(t.Rank(), r))
			count(want, t.Rank(), r, len(out[r]))
		}
		in, err := t.Exchange(ctx, out)
		if err != nil {
			return err
		}
		for r := range out { // they are ours again, and what came is, too
			clear(out[r])
		}
		if err := check("exchange", round, t, in, size); err != nil {
			return err
		}
		for r := range in {
			clear(in[r])
		}
	}
	return sent(t, before, want)
}

func count(want []transport.Traffic, from, to, n int) {
	if from != to && n > 0 {
		want[to].Messages++
		want[to].Bytes += int64(n)
	}
}

func sent(t transport.Transport, before, want []transport.Traffic) error {
	after := t.Sent()
	if len(before) != t.Size() || len(after) != t.Size() {
		return fmt.Errorf("rank %d counts messages to %d ranks, want %d", t.Rank(), len(after), t.Size())
	}
	for r := range want {
		got := transport.Traffic{Messages: after[r].Messages - before[r].Messages, Bytes: after[r].Bytes - before[r].Bytes}
		if got != want[r] {
			return fmt.Errorf("rank %d has counted %+v to rank %d, want %+v", t.Rank(), got, r, want[r])
		}
	}
	return nil
}

// pendingRound is an exchange under way.
type pendingRound struct {
	out, in [][]byte
	wait    transport.Pending
	size    func(from, to int) int
	test    string
	round   int
}

func start(ctx context.Context, t transport.Transport, test string, round int, size func(from, to int) int) (*pendingRound, error) {
	p := &pendingRound{size: size, test: test, round: round}
	for r := range t.Size() {
		out, err := t.Buffer(size(t.Rank(), r))
		if err != nil {
			return nil, err
		}
		fill(out, test, round, t.Rank(), r)
		in, err := t.Buffer(size(r, t.Rank()))
		if err != nil {
			return nil, err
		}
		p.out, p.in = append(p.out, out), append(p.in, in)
	}
	var err error
	p.wait, err = t.Start(ctx, p.out, p.in)
	return p, err
}

func (p *pendingRound) finish(ctx context.Context, t transport.Transport) error {
	if err := p.wait.Wait(ctx); err != nil {
		return err
	}
	if err := check(p.test, p.round, t, p.in, p.size); err != nil {
		return err
	}
	for r := range p.out {
		t.Free(p.out[r])
		t.Free(p.in[r])
	}
	return nil
}

// Starts begins exchanges of known lengths, one at a time, and counts them.
func Starts(ctx context.Context, t transport.Transport) error {
	before := t.Sent()
	want := make([]transport.Traffic, t.Size())
	for round, size := range sizes {
		for r := range want {
			count(want, t.Rank(), r, size(t.Rank(), r))
		}
		p, err := start(ctx, t, "start", round, size)
		if err != nil {
			return err
		}
		if err := p.finish(ctx, t); err != nil {
			return err
		}
	}
	return sent(t, before, want)
}

// Overlapping has many exchanges under way at once, other collective calls between their starts and their ends, and ends
// them in another order.
func Overlapping(ctx context.Context, t transport.Transport) error {
	var under []*pendingRound
	for round := range 24 {
		p, err := start(ctx, t, "overlapping", round, sizes[round%len(sizes)])
		if err != nil {
			return err
		}
		under = append(under, p)
		switch round % 8 {
		case 3:
			in, err := t.Exchange(ctx, repeat(t, "between", round, 10))
			if err != nil {
				return err
			}
			if err := check("between", round, t, in, func(int, int) int { return 10 }); err != nil {
				return err
			}
		case 6:
			if err := transport.Barrier(ctx, t); err != nil {
				return err
			}
		}
	}
	// Ranks need not end them in the same order.
	order := rand.New(rand.NewPCG(1, uint64(t.Rank()))).Perm(len(under))
	for _, i := range order {
		if err := under[i].finish(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func repeat(t transport.Transport, test string, round, n int) [][]byte {
	out := make([][]byte, t.Size())
	for r := range out {
		out[r] = message(test, round, t.Rank(), r, n)
	}
	return out
}

// Large sends messages that no library sends eagerly, 1 MiB, which are not whole numbers of pages.
func Large(ctx context.Context, t transport.Transport) error {
	const n = 1<<20 + 3
	size := func(from, to int) int {
		if (to-from+t.Size())%t.Size() == 1%t.Size() { // round in a ring
			return n
		}
		return 0
	}
	out := make([][]byte, t.Size())
	for r := range out {
		out[r] = message("large", 0, t.Rank(), r, size(t.Rank(), r))
	}
	in, err := t.Exchange(ctx, out)
	if err != nil {
		return err
	}
	if err := check("large", 0, t, in, size); err != nil {
		return err
	}
	p, err := start(ctx, t, "large", 1, size)
	if err != nil {
		return err
	}
	return p.finish(ctx, t)
}

// Barriers passes some.
func Barriers(ctx context.Context, t transport.Transport) error {
	for range 5 {
		if err := transport.Barrier(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// Votes has each rank in turn say no, and none, while other calls are made.
func Votes(ctx context.Context, t transport.Transport) error {
	for who := range t.Size() + 1 {
		v, err := t.Vote(ctx, who != t.Rank())
		if err != nil {
			return err
		}
		p, err := start(ctx, t, "votes", who, func(int, int) int { return 9 })
		if err == nil {
			err = p.finish(ctx, t)
		}
		if err != nil {
			return err
		}
		if who%2 > 0 {
			if _, err := t.Exchange(ctx, repeat(t, "votes", who, 3)); err != nil {
				return err
			}
		}
		all, err := v.Wait(ctx)
		if err != nil {
			return err
		}
		if all != (who == t.Size()) {
			return fmt.Errorf("rank %d hears that all say yes: %v, where rank %d of %d says no", t.Rank(), all, who, t.Size())
		}
	}
	return nil
}

// Agreement agrees on what is the same.
func Agreement(ctx context.Context, t transport.Transport) error {
	return transport.Agree(ctx, t, []transport.Fact{{Name: "program", Value: "y(i) = x(i) 3"}, {Name: "version", Value: ""}})
}

// Group runs f on all ranks of a group of one process, and returns what was wrong on any.
func Group(ranks []transport.Transport, f func(transport.Transport) error) error {
	errs := make([]error, len(ranks))
	var wg sync.WaitGroup
	for r, t := range ranks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[r] = f(t)
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

// waits are the calls in which a rank may wait for others, by their names.
var waits = map[string]func(context.Context, transport.Transport) error{
	"Exchange": func(ctx context.Context, t transport.Transport) error {
		_, err := t.Exchange(ctx, repeat(t, "lost", 0, 100))
		return err
	},
	"Barrier": func(ctx context.Context, t transport.Transport) error { return transport.Barrier(ctx, t) },
	"Wait": func(ctx context.Context, t transport.Transport) error {
		p, err := start(ctx, t, "lost", 0, func(int, int) int { return 100 })
		if err != nil {
			return err
		}
		return p.wait.Wait(ctx)
	},
}

// Waits are the names of the calls in which a rank may wait for others.
func Waits() []string { return slices.Sorted(maps.Keys(waits)) }

// Lost has one rank of a group of one process call lose, in the middle of what the others do with it, and wants them all to
// hear within Patience an error that names it and has the words. Each way to wait is tried: open makes a group for it.
func Lost(open func() ([]transport.Transport, error), who int, lose func(transport.Transport), words string) error {
	for _, name := range Waits() {
		ranks, err := open()
		if err != nil {
			return err
		}
		err = Group(ranks, func(t transport.Transport) error { return LostIn(name, t, who, lose, words) })
		for _, t := range ranks {
			t.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// LostIn is one rank's part in Lost, where the others wait in the call of that name.
func LostIn(name string, t transport.Transport, who int, lose func(transport.Transport), words string) error {
	ctx, stop := context.WithTimeout(context.Background(), 3*Patience)
	defer stop()
	err := Barriers(ctx, t)
	if t.Rank() == who {
		if err == nil {
			lose(t)
		}
		return err
	}
	began := time.Now()
	if err == nil { // else it has heard before it knew that the last barrier was passed
		err = waits[name](ctx, t)
	}
	var of *transport.Error
	switch took := time.Since(began); {
	case !errors.As(err, &of):
		return fmt.Errorf("%s of rank %d says %v, want a *transport.Error", name, t.Rank(), err)
	case of.Rank != who || !strings.Contains(of.Reason, words):
		return fmt.Errorf("%s of rank %d says %q, want rank %d and %q", name, t.Rank(), of, who, words)
	case took > Patience:
		return fmt.Errorf("%s of rank %d took %v to hear of a lost rank", name, t.Rank(), took)
	}
	select {
	case <-t.Failed():
	default:
		return fmt.Errorf("a group that has failed does not say so")
	}
	if err := transport.Barrier(ctx, t); !errors.As(err, &of) { // it stays so
		return fmt.Errorf("a group that has failed goes on: %v", err)
	}
	return nil
}

// Disagreement has one rank of a group of one process say another fact, and wants all to hear which and what.
func Disagreement(ranks []transport.Transport, who int) error {
	return Group(ranks, func(t transport.Transport) error {
		program := "y(i) = A(i,j)*x(j)"
		if t.Rank() == who {
			program = "y(i) = A(i,j)+x(j)"
		}
		ctx, stop := context.WithTimeout(context.Background(), 3*Patience)
		defer stop()
		err := transport.Agree(ctx, t, []transport.Fact{{Name: "version", Value: "1"}, {Name: "program", Value: program}})
		var of *transport.Error
		if !errors.As(err, &of) || of.Rank != who || !strings.Contains(of.Reason, "its program is y(i) = A(i,j)+x(j)") {
			return fmt.Errorf("rank %d says %v, want that rank %d has another program", t.Rank(), err, who)
		}
		return nil
	})
}
