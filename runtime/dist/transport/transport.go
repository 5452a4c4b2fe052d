// Package transport is what a group of ranks needs of the library that carries its messages. Ranks are numbered
// from 0; each has one Transport of the group. What stands above it, package dist, is the same for goroutines of one
// process, MPI and NCCL.
//
// A transport carries bytes and never adds them up: the order in which libraries add varies, and with it the bits of sums.
package transport

import (
	"context"
	"fmt"
	"unsafe"
)

// Transport is one rank's end of a group. Exchange, Start and Vote are collective: every rank calls the same
// ones in the same order, each from one goroutine at a time. Several exchanges may be pending at once.
//
// A rank that cannot go on calls Abort. From then on, and within ten seconds, every call of every rank, pending ones among
// them, returns an *Error (or the library ends the process with the reason on standard error, as MPI_Abort does). The same
// holds when a rank dies, when it closes its end while others wait for it, and when the context of one of its calls
// ends: what the others hear is then why. A group that has failed stays so.
type Transport interface {
	// Rank is this rank's number, of 0 to Size()-1.
	Rank() int
	// Size is the number of ranks.
	Size() int

	// Exchange sends out[r] to each rank r and returns what each has sent to this one: in[r] is r's. Lengths are not
	// known beforehand. out has Size() elements, of which any may be nil; out[Rank()] comes back as in[Rank()], as a copy.
	// What is returned belongs to the caller, and out may be written to as soon as the call has returned.
	Exchange(ctx context.Context, out [][]byte) (in [][]byte, err error)

	// Start begins an exchange whose lengths both sides know: in[r] is as long as what r sends. Nothing is sent where
	// the length is 0. All slices are of Buffer, and out must not be written to, nor in be read, before Wait of the
	// handle has returned. out[Rank()] is copied to in[Rank()].
	// The error says that the group has failed, or that lengths are wrong.
	Start(ctx context.Context, out, in [][]byte) (Pending, error)

	// Vote begins to ask whether all ranks say yes. It may be under way while others calls are made, but for another vote.
	Vote(ctx context.Context, yes bool) (Voting, error)

	// Buffer allocates n bytes for Start, aligned for any element type: off the Go heap where the library works on
	// them in the background. Free gives them back; slices of them are no longer valid then.
	Buffer(n int) ([]byte, error)
	Free(b []byte)

	// Sent tells, by rank, what Exchange and Start have sent to it so far: the bytes of out and the number of messages that
	// are not empty. What the library adds to them is not counted, nor is what a rank keeps for itself.
	Sent() []Traffic

	// Abort ends the group for the reason given; it may be called by any goroutine, and again.
	Abort(reason string)

	// Failed is closed when the group has failed: Vote says why.
	Failed() <-chan struct{}

	// Close leaves the group, after which no other method may be called. Where the group is well it waits for the others to
	// do so, but for no longer than ten seconds; with MPI for as long as they live, for MPI_Finalize needs them all.
	Close() error
}

// Direct is a transport whose messages also go between arrays in the memory of the ranks' devices, without a stop in the host's.
type Direct interface {
	Transport

	// Mark is the place that is reached in the order of the work of the rank's engine. A mark that was made before, and that no exchange
	// under way has, may be given to be set there; nil: a new one.
	Mark(m Mark) (Mark, error)

	// Reached waits until the engine's work has reached a mark.
	Reached(ctx context.Context, m Mark) error

	// Swap begins an exchange of messages between arrays on the devices. It is collective, as Start is, and both sides know the lengths;
	// out[Rank()] is copied to in[Rank()]. The messages go beside the engine's work: out is read when it has reached made, and in
	// written when it has reached idle. Nothing makes the host wait for the device.
	Swap(ctx context.Context, out, in []Span, made, idle Mark) (Swapping, error)

	// Unused is how many bytes of the device's memory nobody uses.
	Unused() (int64, error)
}

// Mark is a place in the order of the work of an engine.
type Mark any

// Swapping is an exchange between devices that has begun. Both are called once, Arrived first.
type Swapping interface {
	// Arrived makes the engine's work that comes later wait for what comes.
	Arrived(ctx context.Context) error
	// Sent makes the engine's work that comes later wait until out may be written to again.
	Sent(ctx context.Context) error
}

// Span is memory of a device: an address, such as a CUdeviceptr, and a length.
type Span struct {
	Address uint64
	Bytes   int64
}

// Pending is an exchange that has begun.
type Pending interface {
	// Wait returns when in has been filled and out may be written to again. It must be called once, whatever happens.
	Wait(ctx context.Context) error
}

// Voting is a vote that has begun.
type Voting interface {
	// Wait returns when all have voted, and whether all say yes. It must be called once, whatever happens.
	Wait(ctx context.Context) (bool, error)
}

// Barrier returns when all ranks have called it.
func Barrier(ctx context.Context, t Transport) error {
	v, err := t.Vote(ctx, true)
	if err == nil {
		_, err = v.Wait(ctx)
	}
	return err
}

// Traffic is what has been sent to one rank.
type Traffic struct {
	Messages, Bytes int64
}

// Error says that a group has failed: which rank was the first that could not go on, and why.
type Error struct {
	Rank   int // -1: not known
	Reason string
}

// Error names the rank and the reason.
func (e *Error) Error() string {
	if e.Rank < 0 {
		return "the group of ranks has failed: " + e.Reason
	}
	return fmt.Sprintf("rank %d: %s", e.Rank, e.Reason)
}

// CheckLengths reports whether out and in of Start have an element for each of size ranks, and this rank sends
// itself as much as it receives.
func CheckLengths(rank, size int, out, in [][]byte) error {
	return checkLengths(rank, size, out, in, func(b []byte) int64 { return int64(len(b)) })
}

// CheckSpans is CheckLengths for Swap.
func CheckSpans(rank, size int, out, in []Span) error {
	return checkLengths(rank, size, out, in, func(s Span) int64 { return s.Bytes })
}

func checkLengths[T any](rank, size int, out, in []T, length func(T) int64) error {
	switch {
	case len(out) != size:
		return fmt.Errorf("an exchange among %d ranks sends %d messages", size, len(out))
	case len(in) != size:
		return fmt.Errorf("an exchange among %d ranks receives %d messages", size, len(in))
	case length(out[rank]) != length(in[rank]):
		return fmt.Errorf("rank %d sends itself %d bytes and receives %d", rank, length(out[rank]), length(in[rank]))
	}
	return nil
}

// Aligned is memory of the Go heap, aligned for any element type.
func Aligned(n int) []byte {
	words := make([]complex128, (n+15)/16)
	if n == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}
