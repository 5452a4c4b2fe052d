package runtime

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
)

// The driver takes microseconds for each launch, which is as long as a small kernel takes; a graph of launches takes one for all of them.
// A queue therefore keeps what it is told to do until a run ends or somebody waits, and compares it with what it did before: where a
// program runs again on the same arrays, and its results come to lie where they lay, that is the same to the last address, and the graph that was
// recorded of it is put into the stream instead.

// streamOp is a thing to do: a launch, or without a kernel a copy, or without a source a clearing.
type streamOp struct {
	kernel    *cuda.Function
	grid      cuda.Grid
	end       int // of its parameters in the batch
	at, from  cuda.Ptr
	byteCount uint64
}

// batch is what a queue puts into its stream at once.
type batch struct {
	ops    []streamOp
	params []byte
}

func (b *batch) equal(c *batch) bool {
	return slices.Equal(b.ops, c.ops) && slices.Equal(b.params, c.params)
}

// issue puts the batch into a stream.
func (b *batch) issue(s *cuda.Stream) error {
	from := 0
	for i := range b.ops {
		var err error
		switch op := &b.ops[i]; {
		case op.kernel != nil:
			err = op.kernel.Launch(s, op.grid, b.params[from:op.end])
			from = op.end
		case op.from != 0:
			err = s.CopyOnDevice(op.at, op.from, op.byteCount)
		default:
			err = s.Set8(op.at, 0, op.byteCount)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replay is the batches of a queue: the one that grows, and those of late.
type replay struct {
	next  batch
	known []*knownBatch // the one of latest use first
	// freed are blocks that next may use, to be given back behind it.
	freed      []cuda.Ptr
	freedBytes int64
	err        error // of a flush, that of all later ones too
}

// knownBatch is a batch that was done.
type knownBatch struct {
	batch
	times int
	graph *cuda.Graph // nil before timesToRecord, and where the driver cannot make one
}

const (
	// timesToRecord is how often a batch is seen before a graph is made of it, which takes as long as tens of launches.
	timesToRecord = 3
	// mostKnown is how many batches a queue knows: programs that take turns have some each.
	mostKnown = 64
	// mostOps is how many things are kept back, as the device has nothing to do meanwhile, and mostFreed how many bytes.
	mostOps   = 256
	mostFreed = 64 << 20
)

// flush puts what was kept back into the stream, as a graph if it may.
func (r *replay) flush(s *cuda.Stream, graphs bool) error {
	if len(r.next.ops) > 0 {
		if r.err == nil && graphs {
			r.err = r.put(s)
		} else if r.err == nil {
			r.err = r.next.issue(s)
		}
		r.next.ops, r.next.params = r.next.ops[:0], r.next.params[:0]
	}
	for _, p := range r.freed {
		_ = s.Free(p) // only a lost device fails to, and then all memory is lost
	}
	r.freed, r.freedBytes = r.freed[:0], 0
	return r.err
}

func (r *replay) put(s *cuda.Stream) error {
	k := r.find()
	if k.times++; k.times == timesToRecord {
		// Without a graph all is as before.
		k.graph, _ = s.Record(func() error { return k.issue(s) })
	}
	if k.graph != nil {
		if k.graph.Launch(s) == nil {
			return nil
		}
		k.drop() // its first launch takes memory of the device; a lost device says so again
	}
	return r.next.issue(s)
}

// drop gives the graph back.
func (k *knownBatch) drop() {
	if k.graph != nil {
		_ = k.graph.Close() // only a lost device fails to
		k.graph = nil
	}
}

// forget gives back all that is known.
func (r *replay) forget() {
	for _, k := range r.known {
		k.drop()
	}
	r.known = nil
}

// find is next among the known batches, which it joins: in place of the one that was not used for longest, where there are many.
func (r *replay) find() *knownBatch {
	i := slices.IndexFunc(r.known, func(k *knownBatch) bool { return k.equal(&r.next) })
	var k *knownBatch
	switch {
	case i >= 0:
		k = r.known[i]
	case len(r.known) < mostKnown:
		i = len(r.known)
		k = &knownBatch{}
		r.known = append(r.known, k)
	default:
		i = mostKnown - 1
		k = r.known[i]
		k.drop()
		k.times = 0
	}
	if k.times == 0 {
		k.ops, k.params = append(k.ops[:0], r.next.ops...), append(k.params[:0], r.next.params...)
	}
	copy(r.known[1:i+1], r.known[:i])
	r.known[0] = k
	return k
}
