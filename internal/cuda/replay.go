package cuda

import (
	"encoding/binary"
	"slices"
)

// The driver takes microseconds for each launch, which is as long as a small kernel takes; a graph of launches takes one for all of them.
// A queue therefore keeps what it is told to do until a run ends or somebody waits, and compares it with what it did before: where a
// program runs again on the same arrays, and its results come to lie where they lay, that is the same to the last address, and the graph that was
// recorded of it is put into the stream instead.

// Op is a thing to do: a launch, or without a kernel a copy, or without a source a clearing.
type Op struct {
	Kernel   *Function
	Grid     Grid
	At, From Ptr
	Bytes    uint64
	end      int // of its parameters in the batch
}

// batch is what a queue puts into its stream at once.
type batch struct {
	ops    []Op
	params []byte
}

func (b *batch) equal(c *batch) bool {
	return slices.Equal(b.ops, c.ops) && slices.Equal(b.params, c.params)
}

// issue puts the batch into a stream.
func (b *batch) issue(s *Stream) error {
	from := 0
	for i := range b.ops {
		var err error
		switch op := &b.ops[i]; {
		case op.Kernel != nil:
			err = op.Kernel.Launch(s, op.Grid, b.params[from:op.end])
			from = op.end
		case op.From != 0:
			err = s.CopyOnDevice(op.At, op.From, op.Bytes)
		default:
			err = s.Set8(op.At, 0, op.Bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Replay is the batches of a queue: the one that grows, and those of late.
type Replay struct {
	next  batch
	known []*knownBatch // the one of latest use first
	// freed are blocks that next may use, to be given back behind it.
	freed      []Ptr
	freedBytes int64
	err        error // of a flush, that of all later ones too
}

// knownBatch is a batch that was done.
type knownBatch struct {
	batch
	times int
	graph *Graph // nil before timesToRecord, and where the driver cannot make one
}

// MostKnown is how many batches a queue knows: programs that take turns have some each.
const MostKnown = 64

const (
	// timesToRecord is how often a batch is seen before a graph is made of it, which takes as long as tens of launches.
	timesToRecord = 3
	// mostOps is how many things are kept back, as the device has nothing to do meanwhile, and mostFreed how many bytes.
	mostOps   = 256
	mostFreed = 64 << 20
)

// Param adds a parameter of the next launch.
func (r *Replay) Param(v uint64) { r.next.params = binary.LittleEndian.AppendUint64(r.next.params, v) }

// Put adds something to do, and says whether that is as much as should be kept back.
func (r *Replay) Put(op Op) (full bool) {
	op.end = len(r.next.params)
	r.next.ops = append(r.next.ops, op)
	return len(r.next.ops) == mostOps
}

// Empty reports whether nothing is kept back.
func (r *Replay) Empty() bool { return len(r.next.ops) == 0 }

// Free gives a block back behind what is kept back, and says whether that is as much as should be.
func (r *Replay) Free(p Ptr, bytes int64) (full bool) {
	r.freed, r.freedBytes = append(r.freed, p), r.freedBytes+bytes
	return r.freedBytes > mostFreed
}

// Known is how many batches the queue knows, and of how many it has graphs.
func (r *Replay) Known() (batches, graphs int) {
	for _, k := range r.known {
		if k.graph != nil {
			graphs++
		}
	}
	return len(r.known), graphs
}

// Flush puts what was kept back into the stream, as a graph if it may.
func (r *Replay) Flush(s *Stream, graphs bool) error {
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

func (r *Replay) put(s *Stream) error {
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

// Forget gives back all that is known.
func (r *Replay) Forget() {
	for _, k := range r.known {
		k.drop()
	}
	r.known = nil
}

// find is next among the known batches, which it joins: in place of the one that was not used for longest, where there are many.
func (r *Replay) find() *knownBatch {
	i := slices.IndexFunc(r.known, func(k *knownBatch) bool { return k.equal(&r.next) })
	var k *knownBatch
	switch {
	case i >= 0:
		k = r.known[i]
	case len(r.known) < MostKnown:
		i = len(r.known)
		k = &knownBatch{}
		r.known = append(r.known, k)
	default:
		i = MostKnown - 1
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
