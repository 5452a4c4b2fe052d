// Package support is the part of generated packages that is the same in all of them: it
// is copied into each, under its name, so that they depend on package tensor and
// purego only. Nothing imports it; its own tests run through the packages that
// gopackage generates.
//
// It lays out the structures of lacuna.h, calls the step function of a kernel
// until that is done, gives it memory, runs chunks on goroutines, and makes tensors of
// the results.
package support

//lint:file-ignore U1000 each package uses what its kernels need

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Error is what a kernel finds wrong with its operands, or with what it computes of them.
type Error struct {
	Kernel  string // the function
	Operand string // the operand or result that it is about; "" for none
	Code    int    // of lacuna.h, such as -9 for extents that do not fit each other; 0 if the function itself found it
	Message string
}

// Error says what is wrong.
func (e *Error) Error() string { return e.Kernel + ": " + e.Message }

// threads is the largest number of goroutines that run a kernel; 0 means GOMAXPROCS.
var threads atomic.Int64

// SetThreads bounds the number of goroutines that run one kernel at once. 0, as at the
// start, means GOMAXPROCS, which is never exceeded. The results do not depend on it.
func SetThreads(n int) { threads.Store(int64(max(n, 0))) }

// Of lacuna.h.
const (
	abiVersion = 1
	flagChunks = 2

	roleTemporary = 1
	zeroAgain     = 2

	statusOK     = 0
	statusNeed   = 1
	statusChunks = 3

	codeMemory  = -15
	codeStopped = -17
)

// The structures of lacuna.h. Addresses are integers: the collector does not look at
// what machine code writes, and whatever they point to is kept alive by a call.
type (
	arrayWords struct {
		data     uintptr
		len, cap int64
		typ      int64
	}
	levelWords  struct{ pointers, indices arrayWords }
	tensorWords struct {
		rank    int64
		format  uintptr
		extents uintptr
		levels  uintptr
		values  arrayWords
		fill    uintptr
	}
	needWords struct {
		data                                    uintptr
		bytes, zero, role, tensor, level, array int64
	}
	callWords struct {
		abi, flags, count int64
		tensors           uintptr
		state             uintptr
		stateWords        int64
		stop              uintptr
		threads           int64
		need              needWords
		chunks, stage     int64
		tensor            int64
		message           uintptr
	}
)

// arrayTypes are the types of the index arrays of a level; Invalid for one that is not there.
type arrayTypes struct{ pointers, indices tensor.DType }

// description is what is known of an operand or result.
type description struct {
	name   string
	format string
	rank   int
	dtype  tensor.DType
	levels []arrayTypes
	// Of a result: its fill, unless the kernel writes it.
	fill    tensor.Scalar
	hasFill bool

	parsed tensor.Format
}

// kernel is a compiled kernel.
type kernel struct {
	name        string
	step, chunk func() uintptr // the addresses of its functions; 0 where they are not there
	operands    int
	stateWords  int
	tensors     []description

	once  sync.Once
	err   error
	calls sync.Pool // of *call
}

// call is one run of a kernel.
type call struct {
	kernel  *kernel
	words   callWords
	stop    atomic.Int32
	state   []int64
	tensors []tensorWords
	levels  [][]levelWords
	extents [][]int64
	fills   [][2]uint64      // by tensor: its fill
	scalars [][2]uint64      // by tensor: the value of an operand of rank 0
	pinned  []*tensor.Tensor // operands
	keep    []unsafe.Pointer // memory of the caller's
	made    []made           // memory made for results
	err     error            // the first thing wrong with the operands

	// temporaries is memory for those of the kernel, in the order in which a run asks for them: the next
	// run that has the call asks for the same again, and finds them warm. The pool of calls is emptied
	// by the garbage collector.
	temporaries []temporary
	asked       int  // how many this run has asked for
	done        bool // it has come to its end
}

// made is memory made for an array of a result.
type made struct {
	memory               tensor.Array
	tensor, level, array int64
}

// temporary is memory for one of a kernel's temporaries.
type temporary struct {
	memory tensor.Array
	dirty  bool // some of it may not be zero
}

// maxKept is how many bytes of a temporary are kept for the next run, for each thread.
const maxKept = 32 << 20

// prepare reads the formats, once.
func (k *kernel) prepare() {
	for i := range k.tensors {
		d := &k.tensors[i]
		if d.parsed, k.err = tensor.ParseFormat(d.format, d.rank); k.err != nil {
			return
		}
	}
	k.calls.New = func() any { return newCall(k) }
}

func newCall(k *kernel) *call {
	n := len(k.tensors)
	c := &call{
		kernel: k, state: make([]int64, k.stateWords), tensors: make([]tensorWords, n),
		levels: make([][]levelWords, n), extents: make([][]int64, n), fills: make([][2]uint64, n), scalars: make([][2]uint64, n),
	}
	for i := range k.tensors {
		rank := k.tensors[i].rank
		c.levels[i], c.extents[i] = make([]levelWords, max(rank, 1)), make([]int64, max(rank, 1))
		c.tensors[i] = tensorWords{
			rank: int64(rank), extents: addressOf(&c.extents[i][0]), levels: addressOf(&c.levels[i][0]), fill: addressOf(&c.fills[i]),
		}
	}
	c.words = callWords{
		abi: abiVersion, count: int64(n), tensors: addressOf(&c.tensors[0]),
		state: addressOf(unsafe.SliceData(c.state)), stateWords: int64(len(c.state)), stop: addressOf(&c.stop),
	}
	return c
}

// addressOf is the address of memory that stays where it is: of the heap.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// begin starts a run. Operands are given to it next, then it runs, then results are
// taken, and in the end it must be given back.
func (k *kernel) begin() (*call, error) {
	k.once.Do(k.prepare)
	if k.err != nil {
		return nil, k.err
	}
	c := k.calls.Get().(*call)
	c.words.flags, c.words.threads = 0, 0
	c.words.tensor, c.words.message = -1, 0
	c.stop.Store(0)
	return c, nil
}

// end lets go of all memory but some for temporaries, and keeps the call for the next run.
func (c *call) end() {
	clear(c.state)
	for i := range c.temporaries {
		// A run that stopped half-way may have left anything anywhere.
		if t := &c.temporaries[i]; !c.done || int64(t.memory.Len()) > maxKept*max(c.words.threads, 1) {
			*t = temporary{}
		}
	}
	c.asked, c.done = 0, false
	for _, t := range c.pinned {
		t.Unpin()
	}
	clear(c.pinned)
	clear(c.keep)
	clear(c.made)
	c.pinned, c.keep, c.made, c.err = c.pinned[:0], c.keep[:0], c.made[:0], nil
	for i := range c.tensors[c.kernel.operands:] {
		i += c.kernel.operands
		c.tensors[i].values = arrayWords{}
		clear(c.levels[i])
		clear(c.extents[i])
	}
	c.kernel.calls.Put(c)
}

// wrong records what is wrong with operand i.
func (c *call) wrong(i int, format string, args ...any) {
	if c.err == nil {
		name := c.kernel.tensors[i].name
		c.err = &Error{Kernel: c.kernel.name, Operand: name, Message: name + " " + fmt.Sprintf(format, args...)}
	}
}

// give gives operand i as a tensor.
func (c *call) give(i int, t *tensor.Tensor) {
	d := &c.kernel.tensors[i]
	switch {
	case t == nil:
		c.wrong(i, "is nil")
		return
	case t.DType() != d.dtype:
		c.wrong(i, "holds %s: want %s", t.DType(), d.dtype)
		return
	case t.Rank() != d.rank:
		c.wrong(i, "has rank %d: want %d", t.Rank(), d.rank)
		return
	case !t.IsCanonical():
		c.wrong(i, "is stored as %s (%s), which kernels do not take: use its method Canonical", t.Format(), t.Structure())
		return
	case t.Format() != d.parsed:
		c.wrong(i, "is stored as %s: want %s (use its method Convert)", t.Format(), d.format)
		return
	}
	if err := t.Pin(); err != nil {
		c.wrong(i, "cannot be read: %v", err)
		return
	}
	c.pinned = append(c.pinned, t)
	copy(c.extents[i], t.Dims())
	for l, types := range d.levels {
		level := t.LevelAt(l)
		c.levels[i][l] = levelWords{
			pointers: c.indexWords(i, level.Pos, types.pointers, int64(level.Crd.Len())),
			indices:  c.indexWords(i, level.Crd, types.indices, level.Size-1),
		}
	}
	c.tensors[i].values = wordsOf(t.Values())
	lo, hi := t.Fill().Bits()
	if d.dtype == tensor.Complex64 {
		lo |= hi << 32
	}
	c.fills[i] = [2]uint64{lo, hi}
}

// indexWords is an index array of operand i, whose values are at most largest, as kernels
// take it: a copy if it has another type than the kernel was built for.
func (c *call) indexWords(i int, a tensor.Array, dt tensor.DType, largest int64) arrayWords {
	if a.DType() == dt || !dt.Valid() || !a.DType().Valid() {
		return wordsOf(a)
	}
	if bits := 8 * dt.Size(); bits < 64 && largest>>bits > 0 {
		c.wrong(i, "has index arrays of type %s with values up to %d: the kernel was built for %s", a.DType(), largest, dt)
		return arrayWords{}
	}
	memory, err := c.temporary(int64(a.Len())*int64(dt.Size()), 0)
	if err != nil {
		c.wrong(i, "has index arrays of type %s and the kernel was built for %s: %s", a.DType(), dt, err)
		return arrayWords{}
	}
	to := tensor.ArrayAt(dt, memory.Pointer(), a.Len())
	switch dt {
	case tensor.Uint8:
		copyIndices[uint8](to, a)
	case tensor.Uint16:
		copyIndices[uint16](to, a)
	case tensor.Uint32:
		copyIndices[uint32](to, a)
	default:
		copyIndices[uint64](to, a)
	}
	return wordsOf(to)
}

type index interface {
	uint8 | uint16 | uint32 | uint64
}

func copyIndices[T index](to, from tensor.Array) {
	values := tensor.View[T](to)
	switch from.DType() {
	case tensor.Uint32:
		convertIndices(values, tensor.View[uint32](from))
	case tensor.Uint64:
		convertIndices(values, tensor.View[uint64](from))
	default:
		for i := range values {
			values[i] = T(from.At64(i))
		}
	}
}

func convertIndices[T, F index](to []T, from []F) {
	for i, v := range from {
		to[i] = T(v)
	}
}

// wordsOf is an array as kernels take it.
func wordsOf(a tensor.Array) arrayWords {
	if !a.DType().Valid() {
		return arrayWords{}
	}
	return arrayWords{data: uintptr(a.Pointer()), len: int64(a.Len()), typ: int64(a.DType())}
}

// giveSlice gives operand i, a dense vector, as a slice.
func giveSlice[T tensor.Element](c *call, i int, s []T) {
	c.extents[i][0] = int64(len(s))
	c.tensors[i].values = sliceWords(c, i, s)
	c.fills[i] = [2]uint64{}
}

// giveScalar gives operand i, of rank 0.
func giveScalar[T tensor.Element](c *call, i int, v T) {
	*(*T)(unsafe.Pointer(&c.scalars[i])) = v
	c.tensors[i].values = arrayWords{data: addressOf(&c.scalars[i]), len: 1, typ: int64(c.kernel.tensors[i].dtype)}
	c.fills[i] = [2]uint64{}
}

// takeSlice gives the memory for result i, a dense vector.
func takeSlice[T tensor.Element](c *call, i int, s []T) {
	c.tensors[i].values = sliceWords(c, i, s)
	c.tensors[i].values.cap = int64(len(s))
}

// sliceWords is a slice as kernels take it. The call keeps it, so that it is on the heap.
func sliceWords[T tensor.Element](c *call, i int, s []T) arrayWords {
	w := arrayWords{len: int64(len(s)), typ: int64(c.kernel.tensors[i].dtype)}
	if len(s) > 0 {
		p := unsafe.Pointer(unsafe.SliceData(s))
		c.keep = append(c.keep, p)
		w.data = uintptr(p)
	}
	return w
}

// run runs the kernel. It ends soon after the context does, with the context's error.
func (c *call) run(ctx context.Context) error {
	k := c.kernel
	switch {
	case c.err != nil:
		return c.err
	case ctx == nil:
		return &Error{Kernel: k.name, Message: "the context is nil: pass context.Background() where there is no other"}
	}
	step := k.step()
	if step == 0 {
		return &Error{Kernel: k.name, Message: "was not built for " + runtime.GOOS + "/" + runtime.GOARCH}
	}
	if ctx.Done() != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		stopped := make(chan struct{})
		release := context.AfterFunc(ctx, func() {
			c.stop.Store(-1)
			close(stopped)
		})
		defer func() {
			if !release() {
				<-stopped // the call is used again
			}
		}()
	}
	if n := c.threads(); n > 1 {
		c.words.flags, c.words.threads = flagChunks, n
	}
	for {
		switch code := invoke(step, unsafe.Pointer(&c.words), 0, 0); code {
		case statusOK:
			c.done = true
			return nil
		case statusNeed:
			if err := c.provide(); err != nil {
				return err
			}
		case statusChunks:
			c.runChunks()
		case codeStopped:
			return ctx.Err()
		default:
			return c.failure(code)
		}
	}
}

// threads is how many goroutines may run chunks.
func (c *call) threads() int64 {
	n := int64(runtime.GOMAXPROCS(0))
	if t := threads.Load(); t > 0 {
		n = min(n, t)
	}
	return n
}

// provide makes the memory that the kernel asks for. What it takes is bounded by what the
// machine has left.
func (c *call) provide() error {
	n := &c.words.need
	var memory tensor.Array
	var err error
	if n.role == roleTemporary {
		memory, err = c.temporary(n.bytes, n.zero)
	} else if memory, err = tensor.MakeArray(tensor.Uint8, int(n.bytes)); err == nil {
		c.made = append(c.made, made{memory, n.tensor, n.level, n.array})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.kernel.name, &Error{Kernel: c.kernel.name, Code: codeMemory, Message: err.Error()})
	}
	n.data, n.zero = uintptr(memory.Pointer()), 0
	return nil
}

// temporary is memory for the next temporary: that of the run before, if it is enough. zero is as in lacuna.h.
func (c *call) temporary(bytes, zero int64) (tensor.Array, error) {
	if c.asked == len(c.temporaries) {
		c.temporaries = append(c.temporaries, temporary{})
	}
	t := &c.temporaries[c.asked]
	c.asked++
	switch {
	case int64(t.memory.Len()) < bytes:
		size := bytes
		if size <= maxKept/2 {
			size += size / 4 // operands that grow a little need not have another each time
		}
		memory, err := tensor.MakeArray(tensor.Uint8, int(size))
		if err != nil {
			return memory, err
		}
		*t = temporary{memory: memory}
	case zero != 0 && t.dirty:
		clear(tensor.View[uint8](t.memory))
		t.dirty = false
	}
	t.dirty = t.dirty || zero != zeroAgain
	return t.memory, nil
}

// runChunks runs the chunks of a stage, each goroutine the next one that is left.
func (c *call) runChunks() {
	chunk, n := c.kernel.chunk(), c.words.chunks
	var next atomic.Int64
	work := func(thread int64) {
		for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
			invoke(chunk, unsafe.Pointer(&c.words), i, thread) // the next step tells of errors
		}
	}
	var wait sync.WaitGroup
	for thread := int64(1); thread < min(c.words.threads, n); thread++ {
		wait.Go(func() { work(thread) })
	}
	work(0)
	wait.Wait()
}

// failure is the error that the kernel has reported.
func (c *call) failure(code int32) error {
	e := &Error{Kernel: c.kernel.name, Code: int(code), Message: fmt.Sprintf("failed with code %d", code)}
	if i := c.words.tensor; i >= 0 && i < int64(len(c.kernel.tensors)) {
		e.Operand = c.kernel.tensors[i].name
	}
	if c.words.message != 0 {
		e.Message = textAt(c.words.message)
	}
	return e
}

// textAt is the constant text at an address in machine code.
func textAt(address uintptr) string {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&address))
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(p), n)
}

// find is the memory of an array of result i that the kernel has asked for; false if it
// has asked for none.
func (c *call) find(i, level, array int) (unsafe.Pointer, bool) {
	for n := len(c.made) - 1; n >= 0; n-- {
		if m := &c.made[n]; m.tensor == int64(i) && m.level == int64(level) && m.array == int64(array) {
			return m.memory.Pointer(), true
		}
	}
	return nil, false
}

// result is result i as a tensor.
func (c *call) result(i int) *tensor.Tensor {
	d := &c.kernel.tensors[i]
	levels := make([]tensor.Level, d.rank)
	for l, types := range d.levels {
		w := &c.levels[i][l]
		levels[l] = tensor.Level{Pos: c.resultArray(i, l, 0, types.pointers, &w.pointers), Crd: c.resultArray(i, l, 1, types.indices, &w.indices)}
	}
	values := c.resultArray(i, -1, 2, d.dtype, &c.tensors[i].values)
	fill := d.fill
	if !d.hasFill {
		lo, hi := c.fills[i][0], c.fills[i][1]
		if d.dtype == tensor.Complex64 {
			lo, hi = lo&(1<<32-1), lo>>32
		}
		fill = tensor.FromBits(d.dtype, lo, hi)
	}
	shape := append([]int64(nil), c.extents[i][:d.rank]...)
	return tensor.NewTrusted(shape, d.parsed, levels, values, fill)
}

// resultArray is an array of a result.
func (c *call) resultArray(i, level, array int, dt tensor.DType, w *arrayWords) tensor.Array {
	if dt == tensor.Invalid {
		return tensor.Array{}
	}
	if p, ok := c.find(i, level, array); ok {
		return tensor.ArrayAt(dt, p, int(w.len))
	}
	empty, err := tensor.MakeArray(dt, 0)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return empty
}

// resultScalar is result i, of rank 0.
func resultScalar[T tensor.Element](c *call, i int) T {
	p, ok := c.find(i, -1, 2)
	if !ok {
		var zero T
		return zero
	}
	return *(*T)(p)
}

// checkSlice checks that result i, a dense vector, filled a slice. Where the slice was too
// short, the kernel has asked for memory of its own.
func checkSlice[T tensor.Element](c *call, i int, s []T) error {
	n := c.tensors[i].values.len
	if int64(len(s)) == n {
		return nil
	}
	name := c.kernel.tensors[i].name
	return &Error{Kernel: c.kernel.name, Operand: name, Message: fmt.Sprintf("%s has %d elements: want %d", name, len(s), n)}
}

// copySlice copies result i, a dense vector that is also an operand, back to that.
func copySlice[T tensor.Element](c *call, i int, s []T) error {
	if err := checkSlice(c, i, s); err != nil {
		return err
	}
	if p, ok := c.find(i, -1, 2); ok {
		copy(s, unsafe.Slice((*T)(p), len(s)))
	}
	return nil
}
