package mpi

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// requests are the calls under way in the library, as arrays that MPI_Testsome takes.
type requests struct {
	lib     *library
	handles []byte // lib.handle bytes for each
	list    []request

	// What MPI_Testsome returns, for as many as there were.
	finished *int32
	indices  []int32
	statuses []byte
	ended    []ended
}

// request is one call under way.
type request struct {
	receives bool
	done     func(outcome) error
}

// outcome is how a request has ended.
type outcome struct {
	source int // of what is received, and how many bytes it has
	bytes  int
	err    error
}

type ended struct {
	request
	outcome
}

// post makes a call whose last parameter is where its request goes.
func (q *requests) post(r request, f *dl.Function, args ...uintptr) error {
	n := len(q.handles)
	q.handles = append(q.handles, make([]byte, q.lib.handle)...)
	if err := q.lib.call(f, append(args, uintptr(unsafe.Pointer(&q.handles[n])))...); err != nil {
		q.handles = q.handles[:n]
		return err
	}
	q.list = append(q.list, r)
	return nil
}

// poll lets the library work, and tells the requests that are done.
func (q *requests) poll() error {
	n := len(q.list)
	if n == 0 {
		return nil
	}
	if q.finished == nil {
		q.finished = new(int32)
	}
	q.indices = slices.Grow(q.indices[:0], n)[:n]
	q.statuses = slices.Grow(q.statuses[:0], n*q.lib.status)[:n*q.lib.status]
	*q.finished = 0
	code := int32(dl.Call(q.lib.testsome.Address, uintptr(n), address(q.handles), uintptr(unsafe.Pointer(q.finished)),
		uintptr(unsafe.Pointer(&q.indices[0])), address(q.statuses)))
	if code != 0 && *q.finished <= 0 {
		return q.lib.fault(&q.lib.testsome, code)
	}
	if *q.finished <= 0 { // undefined, where no request is active
		return nil
	}
	q.ended = q.ended[:0]
	for i, index := range q.indices[:*q.finished] {
		q.ended = append(q.ended, ended{q.list[index], q.outcome(q.list[index], i, code != 0)})
	}
	q.remove(q.indices[:*q.finished])
	var first error
	for _, e := range q.ended {
		if err := e.done(e.outcome); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// outcome reads the i-th status. Its error is only written where the call as a whole returned one.
func (q *requests) outcome(r request, i int, failed bool) (o outcome) {
	status := q.statuses[i*q.lib.status:][:q.lib.status]
	if failed {
		if code := int32(binary.NativeEndian.Uint32(status[q.lib.failure:])); code != 0 {
			o.err = q.lib.fault(&q.lib.testsome, code)
			return o
		}
	}
	if r.receives {
		o.source = int(int32(binary.NativeEndian.Uint32(status[q.lib.source:])))
		n := new(int32)
		o.err = q.lib.call(&q.lib.getCount, address(status), q.lib.byteType, uintptr(unsafe.Pointer(n)))
		o.bytes = int(*n)
	}
	return o
}

// remove takes requests out of the arrays: the last ones take their places.
func (q *requests) remove(indices []int32) {
	slices.Sort(indices)
	h := q.lib.handle
	for _, i := range slices.Backward(indices) {
		last := len(q.list) - 1
		q.list[i] = q.list[last]
		q.list[last] = request{}
		q.list = q.list[:last]
		copy(q.handles[int(i)*h:], q.handles[last*h:][:h])
		q.handles = q.handles[:last*h]
	}
}

// address is where memory that is not on a stack begins.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
