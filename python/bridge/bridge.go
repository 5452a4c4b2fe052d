// Package bridge is the engine as a process in another language sees it: requests and answers are JSON, arrays are
// addresses. Arrays of the caller's become tensors without being copied, and stay his until the garbage collector finds
// that nothing refers to them any more; arrays of results are ours until the caller says that he is done with them.
//
// A request runs as a job, in a goroutine of its own. The caller waits for a job a while at a time, so that what it has
// to do meanwhile, such as to look for an interrupt, needs no thread; and it may cancel it.
//
//	wire.go      what requests and answers hold
//	memory.go    arrays of the caller's
//	operands.go  tensors of them
//	results.go   tensors for the caller
//	run.go       what is done for each kind of request
package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Bridge holds what one process has of the engine: tensors and kernels by handle, jobs, sessions.
type Bridge struct {
	lenders lenders

	mu       sync.Mutex
	last     uint64 // number given out last
	tensors  map[uint64]*tensor.Tensor
	kernels  map[uint64]*lacuna.Kernel
	jobs     map[uint64]*job
	sessions map[sessionKey]*lacuna.Session
}

// job is a request that runs, or has run and was not asked for yet.
type job struct {
	cancel context.CancelFunc
	done   chan struct{}
	answer []byte // once done is closed
}

// New returns a Bridge. released is called, by any goroutine, with the token of each array of the caller's that
// nothing here refers to any more.
func New(released func(token uint64)) *Bridge {
	return &Bridge{
		lenders: lenders{released: released},
		tensors: map[uint64]*tensor.Tensor{}, kernels: map[uint64]*lacuna.Kernel{}, jobs: map[uint64]*job{},
		sessions: map[sessionKey]*lacuna.Session{},
	}
}

// Start begins to serve a request and returns the number of the job.
func (b *Bridge) Start(request []byte) uint64 {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{})}
	b.mu.Lock()
	b.last++
	id := b.last
	b.jobs[id] = j
	b.mu.Unlock()
	go func() {
		defer close(j.done)
		j.answer = b.Serve(ctx, request)
	}()
	return id
}

// Wait waits for a job, but not longer than d. The answer is nil if the job goes on; else the job is over and
// its number means nothing any more.
func (b *Bridge) Wait(id uint64, d time.Duration) []byte {
	b.mu.Lock()
	j := b.jobs[id]
	b.mu.Unlock()
	if j == nil {
		return encode(&answer{Error: &failure{Kind: internalFailure, Message: fmt.Sprintf("there is no job %d", id)}})
	}
	select {
	case <-j.done:
	default:
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-j.done:
		case <-timer.C:
			return nil
		}
	}
	b.mu.Lock()
	delete(b.jobs, id)
	b.mu.Unlock()
	j.cancel()
	return j.answer
}

// Cancel ends a job soon; it must still be waited for.
func (b *Bridge) Cancel(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if j := b.jobs[id]; j != nil {
		j.cancel()
	}
}

// Release says that the caller is done with a tensor or a kernel, and with the arrays of the tensor.
func (b *Bridge) Release(handle uint64) {
	b.mu.Lock()
	t := b.tensors[handle]
	delete(b.tensors, handle)
	delete(b.kernels, handle)
	b.mu.Unlock()
	t.Release()
}

// Close cancels all jobs, and makes sure that released is not called any more.
func (b *Bridge) Close() {
	b.mu.Lock()
	jobs := slices.Collect(maps.Values(b.jobs))
	b.mu.Unlock()
	for _, j := range jobs {
		j.cancel()
	}
	b.lenders.close()
}

// Serve serves a request. The answer tells of errors too.
func (b *Bridge) Serve(ctx context.Context, text []byte) []byte {
	var a answer
	if err := b.serve(ctx, text, &a); err != nil {
		a = answer{Returned: a.Returned, Error: describeFailure(err)}
	}
	return encode(&a)
}

func (b *Bridge) serve(ctx context.Context, text []byte, a *answer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &lacuna.InternalError{Program: "(bridge)", Panic: r, Stack: debug.Stack()}
		}
	}()
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("the request is not one: %w", err)
	}
	serve := operations[r.Op]
	if serve == nil {
		return fmt.Errorf("there is no operation %q", r.Op)
	}
	return serve(b, ctx, &r, a)
}

// keepTensor gives a tensor a handle.
func (b *Bridge) keepTensor(t *tensor.Tensor) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	b.tensors[b.last] = t
	return b.last
}

// keepKernel gives a kernel a handle.
func (b *Bridge) keepKernel(k *lacuna.Kernel) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	b.kernels[b.last] = k
	return b.last
}

// tensorOf is the tensor of a handle.
func (b *Bridge) tensorOf(handle uint64) (*tensor.Tensor, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tensors[handle]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("there is no tensor %d: it was released", handle)
}

// kernelOf is the kernel of a handle.
func (b *Bridge) kernelOf(handle uint64) (*lacuna.Kernel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.kernels[handle]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("there is no kernel %d: it was released", handle)
}
