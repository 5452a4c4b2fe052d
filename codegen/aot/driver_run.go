package aot

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// This file builds NAME, which runs a kernel to its end, with memory from the callbacks. What
// those have given is in a list: if the run fails, it goes back, and the arrays of results are
// as they were.

// The words of an entry of the list of memory that a run's callbacks have given: address,
// size, the array of a result that has it (0: a temporary), and what that was before.
const heldData, heldBytes, heldArray, heldOldData, heldOldCap, heldWords = 0, 1, 2, 3, 4, 5

// drive has what the function is made of.
type drive struct {
	*driver
	args, call, state, list value.Value
}

// runFunc builds NAME. The list has room for everything that the kernel may ask for.
func (d *driver) runFunc(step *ir.Func) *ir.Func {
	giveBack := d.giveBackFunc()
	args := param("args", wordPtr)
	f := d.begin("", types.I32, args)
	r := &drive{driver: d, args: args, call: d.array(callWords, 16), state: d.array(d.size, 16), list: d.array(max(1, d.mostHeld()*heldWords), 16)}
	d.bad(d.icmp(eq, args, nullWords), func() { d.ret(num32(ErrNull)) })
	d.bad(d.icmp(ne, d.load(args, argsABI), num(ABIVersion)), func() { d.ret(num32(ErrABI)) })
	r.open()

	before, again, ended := d.Block, d.NewBlock("step"), d.NewBlock("ended")
	d.jump(again)
	d.Enter(again)
	held := d.counter(before)
	status := d.do(step, r.call)
	need, release := d.NewBlock("need"), d.NewBlock("release")
	d.Block.NewSwitch(status, ended, ir.NewCase(num32(Need), need), ir.NewCase(num32(Release), release))
	goOn := func(held *ir.InstPhi, next value.Value) {
		held.Incs = append(held.Incs, ir.NewIncoming(next, d.Block))
		d.jump(again)
	}
	d.Enter(need)
	allocating, unasked := d.NewBlock("allocating"), d.NewBlock("unasked")
	allocate := d.load(args, argsAllocate)
	d.branch(d.icmp(eq, allocate, num(0)), unasked, allocating)
	d.Enter(unasked)
	goOn(held, held)
	d.Enter(allocating)
	goOn(held, r.allocate(allocate, held))
	d.Enter(release)
	r.release(giveBack, held)
	goOn(held, held)

	d.Enter(ended)
	d.when(d.icmp(slt, status, num32(0)), func() { r.undo(giveBack, held) })
	d.store(args, argsTensor, d.load(r.call, callTensor))
	d.store(args, argsMessage, d.load(r.call, callMessage))
	d.ret(status)
	return f
}

// mostHeld is how many pieces of memory a run may ask for.
func (d *driver) mostHeld() int {
	n := len(d.loops.Partitions)
	for id := range d.loops.Buffers {
		if _, _, _, ok := d.resultArray(loop.BufferID(id)); ok || d.temporary(loop.BufferID(id)) {
			n++
		}
	}
	return n
}

// giveBackFunc builds the function that gives memory back to the callback, if there is one.
func (d *driver) giveBackFunc() *ir.Func {
	args, data, bytes := param("args", wordPtr), param("data"), param("bytes")
	f := d.begin(".giveback", types.Void, args, data, bytes)
	callback := d.load(args, argsRelease)
	d.when(d.icmp(ne, callback, num(0)), func() {
		release := d.pointer(callback, types.NewPointer(types.NewFunc(types.Void, bytePtr, bytePtr, types.I64)))
		user := d.pointer(d.load(args, argsUser), bytePtr)
		d.do(release, user, d.pointer(data, bytePtr), bytes)
	})
	d.ret(nil)
	return f
}

// open makes the call structure and an empty state.
func (r *drive) open() {
	r.do(r.helpers.zero, r.address(r.call), num(8*callWords))
	r.do(r.helpers.zero, r.address(r.state), num(8*r.size))
	for _, word := range []struct {
		at int
		v  value.Value
	}{
		{callABI, num(ABIVersion)}, {callFlags, num(FlagRelease)}, {callCount, r.load(r.args, argsCount)}, {callTensors, r.load(r.args, argsTensors)},
		{callState, r.address(r.state)}, {callStateWords, num(r.size)}, {callStop, r.load(r.args, argsStop)}, {callThreads, num(1)}, {callTensor, num(-1)},
	} {
		r.store(r.call, word.at, word.v)
	}
}

// allocate gets memory from the callback and enters it in the list, of which it returns the
// new length.
func (r *drive) allocate(callback value.Value, held value.Value) value.Value {
	allocate := r.pointer(callback, types.NewPointer(types.NewFunc(bytePtr, bytePtr, types.I64)))
	bytes := r.load(r.call, callNeed+needBytes)
	data := r.address(r.do(allocate, r.pointer(r.load(r.args, argsUser), bytePtr), bytes))
	r.store(r.call, callNeed+needData, data)
	entry := r.entry(held)
	r.store(entry, heldData, data)
	r.store(entry, heldBytes, bytes)
	r.store(entry, heldArray, num(0))
	next := r.add(held, num(1))
	tensor := r.load(r.call, callNeed+needTensor)
	r.when(r.icmp(sge, tensor, num(0)), func() {
		address := r.arrayOfNeed(tensor)
		r.store(entry, heldArray, address)
		array := r.pointer(address)
		r.store(entry, heldOldData, r.load(array, arrayData))
		r.store(entry, heldOldCap, r.load(array, arrayCap))
	})
	return next
}

// entry is a place in the list.
func (r *drive) entry(k value.Value) value.Value { return r.at(r.list, r.mul(k, num(heldWords))) }

// arrayOfNeed is the address of the array that the kernel asks for memory for.
func (r *drive) arrayOfNeed(tensor value.Value) value.Value {
	at := r.add(r.load(r.call, callTensors), r.mul(tensor, num(8*tensorWords)))
	kind := r.load(r.call, callNeed+needArray)
	values, indices, found := r.NewBlock("values"), r.NewBlock("indices"), r.NewBlock("found")
	r.branch(r.icmp(eq, kind, num(ArrayValues)), values, indices)
	r.Enter(values)
	ofValues := r.add(at, num(8*tensorValues))
	r.jump(found)
	r.Enter(indices)
	levels := r.load(r.pointer(at), tensorLevels)
	level := r.add(levels, r.mul(r.load(r.call, callNeed+needLevel), num(8*levelWords)))
	ofIndices := r.add(level, r.mul(kind, num(8*arrayWords)))
	r.jump(found)
	r.Enter(found)
	return r.phi([]value.Value{ofValues, ofIndices}, []*ir.Block{values, indices})
}

// release gives back what the kernel releases.
func (r *drive) release(giveBack *ir.Func, held value.Value) {
	gone, bytes := r.load(r.call, callNeed+needData), r.load(r.call, callNeed+needBytes)
	r.eachHeld(held, func(entry value.Value) {
		r.when(r.icmp(eq, r.load(entry, heldData), gone), func() { r.store(entry, heldData, num(0)) })
	})
	r.do(giveBack, r.args, gone, bytes)
}

// undo gives everything back, and results their memory of before.
func (r *drive) undo(giveBack *ir.Func, held value.Value) {
	r.eachHeld(held, func(entry value.Value) {
		data := r.load(entry, heldData)
		r.when(r.icmp(ne, data, num(0)), func() {
			address := r.load(entry, heldArray)
			r.when(r.icmp(ne, address, num(0)), func() {
				array := r.pointer(address)
				r.store(array, arrayData, r.load(entry, heldOldData))
				r.store(array, arrayCap, r.load(entry, heldOldCap))
			})
			r.do(giveBack, r.args, data, r.load(entry, heldBytes))
		})
	})
}

// eachHeld does something for each entry of the list.
func (r *drive) eachHeld(held value.Value, do func(entry value.Value)) {
	before, test, next, end := r.Block, r.NewBlock("test"), r.NewBlock("next"), r.NewBlock("end")
	r.jump(test)
	r.Enter(test)
	k := r.counter(before)
	r.branch(r.icmp(slt, k, held), next, end)
	r.Enter(next)
	do(r.entry(k))
	r.count(k)
	r.jump(test)
	r.Enter(end)
}
