// Package nccl is a group of ranks that have a GPU each: messages between arrays on the GPUs go from one to the other
// without a stop in the host's memory. NVIDIA's NCCL carries them, loaded at run time, in one process or in many; where it is
// not to be had, the ranks of one process copy between GPUs by the driver.
//
//	Open       ranks that are goroutines, one a GPU            group.go
//	Join       the ranks of a transport, each with its GPU     group.go
//	Swap       messages between arrays on the GPUs             group.go
//	lanes      streams for work and for messages                lanes.go
//	comm       NCCL: sends and receives, never a reduction     comm.go, library.go
//	peers      the driver's copies between GPUs                peers.go
//
// What is in the host's memory, and what concerns failures, goes through the transport underneath: NCCL waits for ever for a rank that has died, so that its
// work is ended (ncclCommAbort) when that transport says that the group has failed.
package nccl

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// carrier brings messages from GPU to GPU.
type carrier interface {
	// name says what it is.
	name() string
	// swap begins an exchange. arrived and sent, which end when ctx does or at abort, are those of transport.Swapping.
	swap(out, in []transport.Span, made, idle *mark) (arrived, sent func(context.Context) error, err error)
	// abort ends what is under way; nothing comes after.
	abort()
	// close gives back what the carrier has; nothing is under way.
	close(ctx context.Context) error
}
