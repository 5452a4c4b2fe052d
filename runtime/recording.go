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
	told   []func(*player) error
	blocks []gridBuffer // that were allocated, in that order; without bytes once they are given back, with the length in bytes where one is a result
	// operands are the other arrays that runs have used, and pinned those from which more followed than what was told.
	operands, pinned   []*residentBlock
	results, exchanged []int // of the blocks; and operands in whose places others may come, -1 for none
	spoilt             bool
}

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
	if ref.operand || ref.number < 0 || ref.offset != 0 {
		r.spoilt = true
		return
	}
	r.blocks[ref.number].len = on.bytes
	r.results = append(r.results, ref.number)
}

// Exchange tells the arrays of all arguments of the runs, and returns those of the wanted ones in whose places others may come when the
// recording is played: nothing follows from what is in them but what kernels read, and they stand for one argument alone.
func (r *Recording) Exchange(arrays []*Resident, wanted []bool) (may []bool) {
	times := map[block]int{} // by address, as several arrays of somebody else's may be the same memory
	for _, on := range arrays {
		times[on.at.at]++
	}
	for i, on := range arrays {
		may = append(may, wanted[i] && times[on.at.at] == 1 && !slices.Contains(r.pinned, on.at))
		if may[i] {
			r.exchanged = append(r.exchanged, slices.Index(r.operands, on.at))
		}
	}
	return may
}

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
		if ref := r.refer(b.at); ref.number < 0 || ref.operand && !slices.Contains(r.operands, b) {
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

// known is refer for an address that there is, if it is not 0.
func (r *Recording) known(at block) reference {
	ref := r.refer(at)
	r.spoilt = r.spoilt || at != 0 && ref.number < 0
	return ref
}

// recorder is a queue that records what it is told.
type recorder struct {
	queue
	r *Recording
}

func (q recorder) tell(again func(*player) error) { q.r.told = append(q.r.told, again) }

// allocated records a block, if it is there.
func (q recorder) allocated(b block, bytes int64, ok bool, again func(*player) error) {
	q.r.spoilt = q.r.spoilt || !ok
	q.r.blocks = append(q.r.blocks, gridBuffer{at: b, bytes: bytes})
	q.tell(again)
}

func (q recorder) alloc(bytes int64) (block, error) {
	b, err := q.queue.alloc(bytes)
	q.allocated(b, bytes, err == nil, func(p *player) error { return p.allocate(bytes, ofRun) })
	return b, err
}

func (q recorder) allocResident(bytes int64) (block, error) {
	b, err := q.queue.allocResident(bytes)
	q.allocated(b, bytes, err == nil, func(p *player) error { return p.allocate(bytes, stays) })
	return b, err
}

func (q recorder) scratch(bytes int64, fill alloc.Fill) (block, bool) {
	b, ok := q.queue.scratch(bytes, fill)
	if ok { // else the run allocates
		q.allocated(b, bytes, true, func(p *player) error { return p.find(bytes, fill) })
	}
	return b, ok
}

func (q recorder) free(b block, bytes int64) {
	if ref := q.r.known(b); ref.number >= 0 {
		q.r.blocks[ref.number].bytes = 0 // its address may be somebody else's from now on
		q.tell(func(p *player) error { p.free(&p.blocks[ref.number]); return nil })
	}
	q.queue.free(b, bytes)
}

func (q recorder) clear(b block, bytes int64) error {
	ref := q.r.known(b)
	q.tell(func(p *player) error { return p.q.clear(p.at(ref), bytes) })
	return q.queue.clear(b, bytes)
}

func (q recorder) copy(to, from block, bytes int64) error {
	toRef, fromRef := q.r.known(to), q.r.known(from)
	q.tell(func(p *player) error { return p.q.copy(p.at(toRef), p.at(fromRef), bytes) })
	return q.queue.copy(to, from, bytes)
}

func (q recorder) launch(k gridKernel, blocks int64, c *gridCall) error {
	bufs, args, status := slices.Clone(c.bufs), slices.Clone(c.args), q.r.known(c.status)
	refs := make([]reference, len(bufs))
	for i := range bufs {
		refs[i] = q.r.known(bufs[i].at)
	}
	q.tell(func(p *player) error {
		p.call = gridCall{append(p.call.bufs[:0], bufs...), args, p.at(status)}
		for i := range p.call.bufs {
			p.call.bufs[i].at = p.at(refs[i])
		}
		return p.q.launch(k, blocks, &p.call)
	})
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

// player is a recording that is told to a queue.
type player struct {
	q        queue
	blocks   []gridBuffer // without bytes once they are given back; owned are those of the run
	operands []*residentBlock
	call     gridCall
}

// Play tells the device again what was recorded, as one run of u. The arrays given come in the places of those that may be exchanged, in that
// order, and are as long as they. It is not ok where that cannot be done, as an array or memory is not to be had any more. In any case u is to be waited for.
func (r *Recording) Play(ctx context.Context, u *Underway, given []*Resident) (results []*Resident, ok bool) {
	q, ok, err := u.begin(ctx, r.device)
	if !ok || err != nil {
		return nil, false
	}
	p := player{q: q, blocks: make([]gridBuffer, 0, len(r.blocks)), operands: slices.Clone(r.operands)}
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
		ok = !slices.ContainsFunc(r.told, func(again func(*player) error) bool { return again(&p) != nil })
		q.rewind() // so that the device begins
	}
	if ok {
		for _, n := range r.results {
			b := &p.blocks[n]
			on := newResident(r.device, b.at, r.blocks[n].len, b.bytes)
			on.at.under = u
			results = append(results, on)
			b.bytes = 0
		}
	}
	for i := range p.blocks {
		if b := &p.blocks[i]; b.owned {
			p.free(b)
		} else if b.bytes > 0 { // what only later runs have read
			left := newResidentBlock(r.device, b.at, b.bytes)
			left.under = u
			u.keep(left)
		}
	}
	u.leave(p.operands[:held], false)
	return results, ok
}

func (p *player) allocate(bytes int64, life lifetime) error {
	at, err := allocateOnce(p.q, bytes, life)
	if err == nil {
		p.blocks = append(p.blocks, gridBuffer{at: at, bytes: bytes, owned: life == ofRun})
	}
	return err
}

// find is allocate for what was scratch memory. What runs had one after the other is all needed at once, for which that may be too small.
func (p *player) find(bytes int64, fill alloc.Fill) error {
	if at, ok := p.q.scratch(bytes, fill); ok {
		p.blocks = append(p.blocks, gridBuffer{at: at})
		return nil
	}
	err := p.allocate(bytes, ofRun)
	if err == nil && fill == alloc.Zeroed {
		err = p.q.clear(p.blocks[len(p.blocks)-1].at, bytes)
	}
	return err
}

// free gives a block of the run back.
func (p *player) free(b *gridBuffer) {
	p.q.free(b.at, b.bytes)
	*b = gridBuffer{at: b.at}
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
