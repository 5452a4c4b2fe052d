package interp

import (
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Instrumented is a function made ready to run that tells of its loops (ir/loop/instrument.go).
type Instrumented struct {
	*Kernel
	Loops []loop.InstrumentedLoop
}

// CompileInstrumented is Compile of a function that tells of its loops.
func CompileInstrumented(f *loop.Func, lookup func(string) (*loop.Scalar, bool)) (*Instrumented, error) {
	c := &compiler{lookup: lookup, loops: loop.InstrumentedLoops(f), numbers: map[loop.Stmt]int{}}
	for i, l := range c.loops {
		c.numbers[l.Loop] = i
	}
	k, err := compile(f, c)
	if err != nil {
		return nil, err
	}
	return &Instrumented{k, c.loops}, nil
}

// RunUntil is that of the kernel. Others may look at the first of the instruments meanwhile; leave, if it is not nil, is told that each time
// before it changes.
func (k *Instrumented) RunUntil(stop *atomic.Uint32, bufs []Memory, args []int64, chunk, lo, hi int64, tell loop.Instruments, leave func(in int64)) (status int64, err error) {
	return k.runUntil(tell, leave, stop, bufs, args, chunk, lo, hi)
}

// instrumented has a loop's code tell of it, with its iterations if these are known before.
func (c *compiler) instrumented(s loop.Stmt, iterations func(*frame) int64, run exec) exec {
	number, told := c.numbers[s]
	if !told || c.err != nil {
		return run
	}
	around, at := int64(1+c.loops[number].Around), loop.VisitsAt(number)
	return func(fr *frame) int64 {
		fr.tell[at]++
		if iterations != nil {
			fr.tell[at+1] += max(iterations(fr), 0)
		}
		fr.goTo(int64(1 + number))
		status := run(fr)
		fr.goTo(around)
		return status
	}
}

// goTo tells that a call is in a loop.
func (fr *frame) goTo(number int64) {
	if fr.leave != nil {
		fr.leave(fr.tell[0])
	}
	atomic.StoreInt64(&fr.tell[0], number)
}

// counted has the body of a while count iterations.
func (c *compiler) counted(s *loop.While, body exec) exec {
	number, told := c.numbers[s]
	if !told || c.err != nil {
		return body
	}
	at := loop.VisitsAt(number) + 1
	return func(fr *frame) int64 {
		fr.tell[at]++
		return body(fr)
	}
}
