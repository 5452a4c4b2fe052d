package mpi

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// chunk is how much is sent in one message of the library, which counts in 32 bits.
var chunk = 1 << 30

// tags are how many calls may be told apart at a time; every library has so many.
const tags = 1 << 15

// server is what calls the library, for whoever has the turn.
type server struct {
	*Group
	*requests
	lib           *library
	data, control uintptr // communicators

	pending []*operation
	over    bool // it is not to be called any more
	peers
}

// serve joins the group, and leaves it when all is said: a library wants to be ended by the thread that started it.
func serve(g *Group, l *launcher, ready chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(g.stopped)
	s := &server{Group: g}
	err := s.join(l)
	g.server = s
	ready <- err
	if err != nil {
		return
	}
	said := make(chan struct{})
	go s.attend(said)
	if <-said; g.failure() != nil {
		return
	}
	close(g.finalising)
	if err := s.lib.call(&s.lib.finalize); err != nil {
		s.fail(&transport.Error{Rank: s.rank, Reason: err.Error()})
	}
}

// attend looks now and then, while nobody else may, until the group is left.
func (s *server) attend(said chan<- struct{}) {
	defer close(said)
	for over := false; !over; {
		s.turn.Lock()
		s.over = s.finished(s.look())
		over = s.over
		length := longPause
		if s.busy() {
			length = shortPause
		}
		s.turn.Unlock()
		t := time.NewTimer(length)
		select {
		case <-s.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// busy reports whether something is under way that goes on only while somebody looks.
func (s *server) busy() bool {
	return s.untold > 0 || !s.leaving.IsZero() || slices.ContainsFunc(s.pending, func(op *operation) bool { return op.long })
}

// look lets the library work, and looks after the others.
func (s *server) look() (now time.Time) {
	if err := s.poll(); err != nil {
		s.giveUp(err)
	}
	now = time.Now()
	s.watch(now)
	return now
}

// join loads and starts the library.
func (s *server) join(l *launcher) error {
	var err error
	if s.lib, err = load(l.library); err != nil {
		return err
	}
	s.requests = &requests{lib: s.lib}
	if err := s.lib.initialise(); err != nil {
		return err
	}
	s.library = s.lib.version()
	if s.rank, s.size, err = s.lib.place(); err != nil {
		return err
	}
	if n := number(l.size, s.size); n != s.size {
		return fmt.Errorf("mpirun has started %d processes, of which %s (%s) sees %d: library and mpirun are of different installations", n, s.lib.path, s.library, s.size)
	}
	if s.data, err = s.lib.duplicate(); err != nil {
		return err
	}
	if s.control, err = s.lib.duplicate(); err != nil {
		return err
	}
	s.sent = make([]transport.Traffic, s.size)
	return s.meet()
}

// Who begins or awaits a call looks himself, so that no thread need be woken for it: one that wakes takes the processor from a kernel, for some 45 µs where the machine is virtual.
const (
	hoping     = 20 * time.Microsecond // looks after a call has begun, where there is room: other ranks may be as far
	spinning   = time.Millisecond      // the same of who waits, who naps between looks after that
	napping    = 50 * time.Microsecond
	shortPause = time.Millisecond      // between looks that nobody waits for, while long messages are under way
	longPause  = 10 * time.Millisecond // else
)

// longMessage is from how many bytes on a message is long: libraries send it in steps, or when the other side is ready.
const longMessage = 64 << 10

// start posts a collective call.
func (s *server) start(op *operation) {
	s.started = op.call + 1
	s.kinds[op.call%len(s.kinds)] = op.kind
	if s.failure() != nil {
		return
	}
	for r, calls := range s.left {
		if calls <= op.call {
			s.giveUp(&transport.Error{Rank: r, Reason: gone})
			return
		}
	}
	s.pending = append(s.pending, op)
	op.left = 1 // until all is posted
	if err := op.post(s, op); err != nil {
		s.giveUp(err)
		return
	}
	s.part(op)
}

// part notes that one of an operation's requests is done.
func (s *server) part(op *operation) {
	if op.left--; op.left == 0 {
		op.ended()
		s.pending = slices.DeleteFunc(s.pending, func(p *operation) bool { return p == op })
		close(op.done)
	}
}

// request is one of an operation.
func (s *server) request(op *operation) request {
	op.left++
	return request{done: func(o outcome) error {
		s.part(op)
		return o.err
	}}
}

// alltoall sends n bytes of out to each rank, and takes n of each.
func (s *server) alltoall(op *operation, out, in []byte, n int) error {
	b := s.lib.byteType
	return s.post(s.request(op), &s.lib.ialltoall, address(out), uintptr(n), b, address(in), uintptr(n), b, s.data)
}

// allreduce finds the bits that are set by some rank.
func (s *server) allreduce(op *operation, mine, all []byte) error {
	return s.post(s.request(op), &s.lib.iallreduce, address(mine), address(all), uintptr(len(mine)), s.lib.byteType, s.lib.either, s.data)
}

// headBytes is how many bytes go before each message: its length. A receive that a library has to cut off would be its undoing: Open
// MPI 4.1 writes what does not fit behind the end of the buffer, so one is posted only when its length is known to be right.
const headBytes = 8

// swap sends and receives messages between this rank and others, receives first.
func (s *server) swap(op *operation, out, in [][]byte) error {
	if !s.any(out) && !s.any(in) {
		return nil
	}
	heads, base, err := s.lib.allocate(2 * headBytes * s.size)
	if err != nil {
		return err
	}
	op.ended = func() { s.free(base) }
	for r, b := range in {
		if err := s.receive(op, r, heads[headBytes*r:][:headBytes], others(s.rank, r, b)); err != nil {
			return err
		}
	}
	for r, b := range out {
		if err := s.send(op, r, heads[headBytes*(s.size+r):][:headBytes], others(s.rank, r, b)); err != nil {
			return err
		}
	}
	return nil
}

// any reports whether there is a message to or from another rank.
func (s *server) any(messages [][]byte) bool {
	for r, b := range messages {
		if r != s.rank && len(b) > 0 {
			return true
		}
	}
	return false
}

// others is a message, but for one to oneself.
func others(self, r int, b []byte) []byte {
	if r == self {
		return nil
	}
	return b
}

// send posts a message that is not empty, its length first.
func (s *server) send(op *operation, to int, head, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	op.long = op.long || len(b) >= longMessage
	binary.NativeEndian.PutUint64(head, uint64(len(b)))
	for _, part := range slices.Concat([][]byte{head}, slices.Collect(slices.Chunk(b, chunk))) {
		if err := s.post(s.request(op), &s.lib.isend, address(part), uintptr(len(part)), s.lib.byteType, uintptr(to), uintptr(op.call%tags), s.data); err != nil {
			return err
		}
	}
	return nil
}

// receive posts what takes the length of a message that is not empty, and after that the message. It must be as long as is expected.
func (s *server) receive(op *operation, from int, head, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	op.long = op.long || len(b) >= longMessage
	return s.take(op, from, head, func() error {
		switch n := int(binary.NativeEndian.Uint64(head)); {
		case n < len(b):
			return &transport.Error{Rank: from, Reason: fmt.Sprintf("it sends %d bytes less to rank %d than the %d that are expected", len(b)-n, s.rank, len(b))}
		case n > len(b):
			return &transport.Error{Rank: from, Reason: fmt.Sprintf("it sends %d bytes more to rank %d than the %d that are expected", n-len(b), s.rank, len(b))}
		}
		for part := range slices.Chunk(b, chunk) {
			if err := s.take(op, from, part, func() error { return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}

// take posts the receive of one message of the library, and calls then when it has come.
func (s *server) take(op *operation, from int, b []byte, then func() error) error {
	r := s.request(op)
	r.receives = true
	done := r.done
	r.done = func(o outcome) error {
		switch {
		case o.err != nil:
			return &transport.Error{Rank: from, Reason: fmt.Sprintf("what it sends to rank %d does not come: %v", s.rank, o.err)}
		case o.bytes != len(b):
			return &transport.Error{Rank: from, Reason: fmt.Sprintf("%d bytes come to rank %d where %d are announced", o.bytes, s.rank, len(b))}
		}
		if err := then(); err != nil {
			return err
		}
		return done(o)
	}
	return s.post(r, &s.lib.irecv, address(b), uintptr(len(b)), s.lib.byteType, uintptr(from), uintptr(op.call%tags), s.data)
}

// free gives memory of the library back.
func (s *server) free(base uintptr) {
	if err := s.lib.call(&s.lib.freeMem, base); err != nil {
		s.giveUp(err)
	}
}
