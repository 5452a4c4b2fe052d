package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Group is this process's end of a group of processes. It implements transport.Transport.
type Group struct {
	rank, size int
	library    string

	processors float64     // that are this process's
	roomy      atomic.Bool // it has one for itself, and may wait by asking all the time

	turn   sync.Mutex // whose turn it is to call the library
	server *server
	wake   chan struct{} // ends a pause of who looks when nobody else may

	mu      sync.Mutex
	calls   int // collective calls so far
	closed  bool
	sent    []transport.Traffic
	both    []byte            // the lengths of messages to others and from them
	ballot  []byte            // what this rank votes, and all
	buffers map[*byte]uintptr // of Buffer, with the addresses to free

	failing sync.Once
	failed  chan struct{} // closed when err is set
	err     *transport.Error
	own     atomic.Pointer[transport.Error] // what this rank has found out by itself
	told    map[int]string                  // the server's: what others have found out, by rank

	finalising, stopped chan struct{}
}

// joining is how long MPI_Init may take, which ends when all ranks are there. Of large machines it takes some seconds.
var joining = time.Minute

// opened says that this process has joined its group, which it can do once.
var opened atomic.Bool

// Open joins the group of the processes that mpirun has started with this one, all of which call it. It can be called once in a
// process, and Close must be called before the process ends: otherwise mpirun takes it for lost. GOMAXPROCS becomes 2 at least, as the library
// needs a thread that goes on while another computes, even where mpirun has bound the process to one processor.
func Open() (*Group, error) {
	l := launched()
	if l == nil {
		return nil, errors.New("this process was not started by mpirun: mpirun -n 4 PROGRAM starts four")
	}
	if !opened.CompareAndSwap(false, true) {
		return nil, errors.New("this process has joined its group of ranks already")
	}
	g := &Group{
		wake: make(chan struct{}, 1), buffers: map[*byte]uintptr{}, told: map[int]string{},
		failed: make(chan struct{}), finalising: make(chan struct{}), stopped: make(chan struct{}),
	}
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	ready := make(chan error, 1)
	go serve(g, l, ready)
	select {
	case err := <-ready:
		if err != nil {
			return nil, err
		}
	case <-time.After(joining):
		return nil, fmt.Errorf("MPI_Init has not ended after %v: does a rank not run, or was it stopped?", joining)
	}
	g.share(context.Background())
	return g, nil
}

// Rank implements transport.Transport.
func (g *Group) Rank() int { return g.rank }

// Size implements transport.Transport.
func (g *Group) Size() int { return g.size }

// Library is what the library of MPI calls itself.
func (g *Group) Library() string { return g.library }

// Sent implements transport.Transport.
func (g *Group) Sent() []transport.Traffic {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.sent)
}

// command does something with the library, and reports whether it is still there. What that begins may end at once, where the others are as far.
func (g *Group) command(do func(*server)) bool {
	g.turn.Lock()
	defer g.turn.Unlock()
	s := g.server
	if s.over {
		return false
	}
	do(s)
	began := time.Now()
	for now := began; len(s.pending) > 0 && g.roomy.Load() && now.Sub(began) < hoping; {
		now = s.look()
	}
	if s.busy() {
		select {
		case g.wake <- struct{}{}:
		default: // it will look
		}
	}
	return true
}

// Buffer implements transport.Transport.
func (g *Group) Buffer(n int) ([]byte, error) {
	if n <= 0 {
		return nil, nil
	}
	var b []byte
	var base uintptr
	var err error
	if !g.command(func(s *server) { b, base, err = s.lib.allocate(n) }) {
		return nil, errors.New("the group of ranks is closed")
	}
	if err != nil {
		return nil, fmt.Errorf("no memory for messages of %d bytes: %w", n, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.buffers[unsafe.SliceData(b)] = base
	return b, nil
}

// Free implements transport.Transport.
func (g *Group) Free(b []byte) {
	if len(b) == 0 {
		return
	}
	g.mu.Lock()
	base, ok := g.buffers[unsafe.SliceData(b)]
	delete(g.buffers, unsafe.SliceData(b))
	g.mu.Unlock()
	if ok && g.failure() == nil { // else the library may be at work on it still
		g.command(func(s *server) { s.free(base) })
	}
}

// failure is why the group has failed; nil: it has not.
func (g *Group) failure() error {
	select {
	case <-g.failed:
		return g.err
	default:
		return nil
	}
}

// fail ends the group on this rank, the first time.
func (g *Group) fail(e *transport.Error) {
	g.failing.Do(func() {
		g.err = e
		close(g.failed)
	})
}

// Abort implements transport.Transport. It returns when the others have been told, or do not listen.
func (g *Group) Abort(reason string) { g.abort(&transport.Error{Rank: g.rank, Reason: reason}) }

// abort ends the group and tells the others, unless they know that.
func (g *Group) abort(e *transport.Error) {
	g.fail(e)
	if e != g.err && strings.Contains(e.Reason, g.err.Reason) || !g.own.CompareAndSwap(nil, e) {
		return
	}
	told := make(chan struct{})
	if !g.command(func(s *server) { s.tellFailure(e, told) }) {
		return
	}
	select {
	case <-told:
	case <-g.stopped:
	case <-time.After(time.Second):
	}
}

// Failed implements transport.Transport.
func (g *Group) Failed() <-chan struct{} { return g.failed }

// Close implements transport.Transport. It waits for the other ranks as long as they live, for mpirun ends all when one ends
// before MPI_Finalize, which ends when all are there; but not long for what does not come once the group has failed.
func (g *Group) Close() error {
	g.mu.Lock()
	calls, again := g.calls, g.closed
	g.closed = true
	g.mu.Unlock()
	if again {
		return nil
	}
	g.command(func(s *server) { s.leave(calls) })
	select {
	case <-g.stopped:
		return g.failure()
	case <-g.finalising:
	}
	select {
	case <-g.stopped:
		return g.failure()
	case <-time.After(patience):
		return fmt.Errorf("MPI_Finalize has not ended after %v: have other ranks died?", patience)
	}
}

// Reports says, after Close, whether it is for this rank to tell people why the group has failed: it has found out by itself, and no
// rank before it has found the same.
func (g *Group) Reports() bool {
	own := g.own.Load()
	if own == nil {
		return false
	}
	for r, reason := range g.told {
		if r < g.rank && reason == own.Reason {
			return false
		}
	}
	return true
}

// wait waits for a collective call. It looks itself, so that no other thread need be woken.
func (g *Group) wait(ctx context.Context, op *operation) error {
	for began := time.Now(); ; {
		select {
		case <-op.done:
			return nil
		default:
		}
		select {
		case <-g.failed:
			return g.err
		case <-ctx.Done():
			g.Abort("it was stopped: " + ctx.Err().Error())
			return ctx.Err()
		default:
		}
		now := g.look()
		if !g.roomy.Load() || now.Sub(began) >= spinning {
			nap(napping)
		}
	}
}

// look lets the library work, if it is still there.
func (g *Group) look() time.Time {
	g.turn.Lock()
	defer g.turn.Unlock()
	if g.server.over {
		return time.Now()
	}
	return g.server.look()
}
