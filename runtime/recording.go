package runtime

import (
	"context"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// Recording is what runs under way have told a device, to be told again for operands with the same patterns: where the device is
// done with a small program in microseconds, what the host does for it takes longer. A run that reads something back, or brings something
// to the device, cannot be told again, as what it does then may depend on that. The zero value is ready to be named in
// an Underway; what is recorded is not changed any more, and may be played by several goroutines at once.
type Recording struct {
	device accelerator
	told   []telling
	blocks []gridBuffer // that were allocated, in that order
	// operands are the other arrays that runs have used, and pinned those from which more followed than what was told.
	operands, pinned []*residentBlock
	results          []recordedResult
	exchanged        []int // operands in whose places others may come, -1 for none
	spoilt           bool
}

// recordedResult is a block that the caller is given, and how many bytes of it.
type recordedResult struct {
	block int
	bytes int64
}

// telling is one thing that a queue is told.
type telling struct {
	what   tellingKind
	bytes  int64
	fill   alloc.Fill
	kernel gridKernel
	blocks int64
	call   gridCall    // without addresses: they are in refs, that of the status last
	refs   []reference // or of a copy: to and from; or of what is cleared or freed
}

type tellingKind uint8

const (
	toAlloc tellingKind = iota
	toAllocResident
	toFindScratch
	toFree
	toClear
	toCopy
	toLaunch
)

// reference is an address in one of the blocks or operands, or none if number is negative.
type reference struct {
	operand bool
	number  int
	offset  block
}

// Good reports whether what was recorded can be told again.
func (r *Recording) Good() bool { return !r.spoilt && r.device != nil }

// Result says that a run's result is one of those that playing makes, in this order.
func (r *Recording) Result(on *Resident) {
	ref := r.refer(on.at.at)
	r.spoilt = r.spoilt || ref.operand || ref.number < 0 || ref.offset != 0
	r.results = append(r.results, recordedResult{ref.number, on.bytes})
}

// Exchange tells the arrays of all arguments of the runs, and returns those of the wanted ones in whose places others may come when the
// recording is played: nothing follows from what is in them but what kernels read, and they stand for one argument alone.
func (r *Recording) Exchange(arrays []*Resident, wanted []bool) (may []bool) {
	for i, on := range arrays {
		once := !slices.ContainsFunc(arrays[:i], on.same) && !slices.ContainsFunc(arrays[i+1:], on.same)
		may = append(may, wanted[i] && once && !slices.Contains(r.pinned, on.at))
		if may[i] {
			r.exchanged = append(r.exchanged, slices.Index(r.operands, on.at))
		}
	}
	return may
}

// same reports whether two arrays are one.
func (r *Resident) same(other *Resident) bool { return r.at == other.at }

// spoil says that what is recorded must not be told again.
func (r *Recording) spoil() {
	if r != nil {
		r.spoilt = true
	}
}

// pin says that what is told follows from what is in an array.
func (r *Recording) pin(b *residentBlock) {
	if r != nil {
		r.pinned = append(r.pinned, b)
	}
}

// uses notes arrays that a run uses.
func (r *Recording) uses(held []*residentBlock) {
	if r == nil {
		return
	}
	for _, b := range held {
		if r.refer(b.at).number < 0 {
			r.operands = append(r.operands, b)
		}
	}
}

// refer finds an address: addresses of blocks that were given back may come again, so in the latest block.
func (r *Recording) refer(at block) reference {
	if at != 0 {
		for i, b := range slices.Backward(r.blocks) {
			if at >= b.at && at < b.at+block(b.bytes) {
				return reference{number: i, offset: at - b.at}
			}
		}
		for i, b := range r.operands {
			if at == b.at {
				return reference{operand: true, number: i}
			}
		}
	}
	return reference{number: -1}
}

// tell records something with the addresses that it has.
func (r *Recording) tell(t telling, addresses ...block) {
	for _, at := range addresses {
		ref := r.refer(at)
		r.spoilt = r.spoilt || at != 0 && ref.number < 0
		t.refs = append(t.refs, ref)
	}
	r.told = append(r.told, t)
}

// allocated records a block, if it is there.
func (r *Recording) allocated(what tellingKind, at block, bytes int64, fill alloc.Fill, ok bool) {
	r.spoilt = r.spoilt || !ok
	r.told = append(r.told, telling{what: what, bytes: bytes, fill: fill})
	r.blocks = append(r.blocks, gridBuffer{at: at, bytes: bytes})
}

// recorder is a queue that records what it is told.
type recorder struct {
	queue
	r *Recording
}

func (q recorder) alloc(bytes int64) (block, error) {
	b, err := q.queue.alloc(bytes)
	q.r.allocated(toAlloc, b, bytes, alloc.Anything, err == nil)
	return b, err
}

func (q recorder) allocResident(bytes int64) (block, error) {
	b, err := q.queue.allocResident(bytes)
	q.r.allocated(toAllocResident, b, bytes, alloc.Anything, err == nil)
	return b, err
}

func (q recorder) scratch(bytes int64, fill alloc.Fill) (block, bool) {
	b, ok := q.queue.scratch(bytes, fill)
	if ok { // else the run allocates
		q.r.allocated(toFindScratch, b, bytes, fill, true)
	}
	return b, ok
}

func (q recorder) free(b block, bytes int64) {
	q.r.tell(telling{what: toFree}, b)
	if n := q.r.refer(b).number; n >= 0 {
		q.r.blocks[n] = gridBuffer{} // its address may be somebody else's from now on
	}
	q.queue.free(b, bytes)
}

func (q recorder) clear(b block, bytes int64) error {
	q.r.tell(telling{what: toClear, bytes: bytes}, b)
	return q.queue.clear(b, bytes)
}

func (q recorder) copy(to, from block, bytes int64) error {
	q.r.tell(telling{what: toCopy, bytes: bytes}, to, from)
	return q.queue.copy(to, from, bytes)
}

func (q recorder) launch(k gridKernel, blocks int64, c *gridCall) error {
	var at []block
	for _, b := range c.bufs {
		at = append(at, b.at)
	}
	q.r.tell(telling{what: toLaunch, kernel: k, blocks: blocks, call: gridCall{bufs: slices.Clone(c.bufs), args: slices.Clone(c.args)}}, append(at, c.status)...)
	return q.queue.launch(k, blocks, c)
}

func (q recorder) upload(b block, from unsafe.Pointer, bytes int64) error {
	q.r.spoil()
	return q.queue.upload(b, from, bytes)
}

func (q recorder) download(ctx context.Context, to unsafe.Pointer, b block, offset, bytes int64) error {
	q.r.spoil()
	return q.queue.download(ctx, to, b, offset, bytes)
}

// Play tells the device again what was recorded, as one run of u. The arrays given come in the places of those that may be exchanged, in that
// order, and are as long as they. It is not ok where an array or memory is not to be had any more. In any case u is to be waited for.
func (r *Recording) Play(ctx context.Context, u *Underway, given []*Resident) (results []*Resident, ok bool, err error) {
	q, ok, err := u.begin(ctx, r.device)
	if !ok {
		return nil, false, err
	}
	p := player{Recording: r, q: q, blocks: make([]playedBlock, 0, len(r.blocks)), operands: slices.Clone(r.operands)}
	for i, number := range r.exchanged {
		if number >= 0 {
			p.operands[number] = given[i].at
		}
	}
	held := 0
	for held < len(p.operands) && p.operands[held].use(u) {
		held++
	}
	if ok = held == len(p.operands); ok {
		ok, err = p.play()
		q.rewind() // so that the device begins
	}
	if ok {
		for _, res := range r.results {
			b := &p.blocks[res.block]
			on := newResident(r.device, b.at, res.bytes, b.bytes)
			on.at.under = u
			results = append(results, on)
			b.what = toFree
		}
	}
	for _, b := range p.blocks {
		switch b.what {
		case toAlloc:
			q.free(b.at, b.bytes)
		case toAllocResident: // which only later runs have read
			stays := newResidentBlock(r.device, b.at, b.bytes)
			stays.under = u
			u.keep(stays)
		}
	}
	u.leave(p.operands[:held], false)
	return results, ok, err
}

// player is a recording that is played.
type player struct {
	*Recording
	q        queue
	blocks   []playedBlock
	operands []*residentBlock
	call     gridCall
}

// playedBlock is a block and what it was had by; that of one which was given back is toFree.
type playedBlock struct {
	at    block
	bytes int64
	what  tellingKind
}

// play tells all. It is not ok where memory is short.
func (p *player) play() (ok bool, err error) {
	for i := range p.told {
		t := &p.told[i]
		switch t.what {
		case toAlloc, toAllocResident, toFindScratch:
			if !p.allocate(t) {
				return false, nil
			}
		case toFree:
			b := &p.blocks[t.refs[0].number]
			p.q.free(b.at, b.bytes)
			b.what = toFree
		case toClear:
			err = p.q.clear(p.at(t.refs[0]), t.bytes)
		case toCopy:
			err = p.q.copy(p.at(t.refs[0]), p.at(t.refs[1]), t.bytes)
		case toLaunch:
			c, status := &p.call, len(t.call.bufs)
			c.bufs, c.args = append(c.bufs[:0], t.call.bufs...), t.call.args
			for j := range c.bufs {
				c.bufs[j].at = p.at(t.refs[j])
			}
			c.status = p.at(t.refs[status])
			err = p.q.launch(t.kernel, t.blocks, c)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// allocate makes a block. What runs found in scratch memory one after the other is all needed at once, for which that may be too small.
func (p *player) allocate(t *telling) bool {
	b := playedBlock{bytes: t.bytes, what: t.what}
	var err error
	switch t.what {
	case toAllocResident:
		b.at, err = p.q.allocResident(t.bytes)
	case toAlloc:
		b.at, err = p.q.alloc(t.bytes)
	default:
		var ok bool
		if b.at, ok = p.q.scratch(t.bytes, t.fill); ok {
			break
		}
		b.what = toAlloc
		if b.at, err = p.q.alloc(t.bytes); err == nil && t.fill == alloc.Zeroed {
			err = p.q.clear(b.at, t.bytes)
		}
	}
	if err == nil {
		p.blocks = append(p.blocks, b)
	}
	return err == nil
}

// at is the address of a reference.
func (p *player) at(r reference) block {
	switch {
	case r.number < 0:
		return 0
	case r.operand:
		return p.operands[r.number].at + r.offset
	}
	return p.blocks[r.number].at + r.offset
}
