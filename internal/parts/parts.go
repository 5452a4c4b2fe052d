// Package parts goes through long arrays on several goroutines, for checks that are
// as fast as memory is.
package parts

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// Most is the most parts that there are.
const Most = 64

// Do calls f for consecutive parts of 0 to n-1, numbered from 0 on, at the same time:
// as many as there are processors for, but none shorter than worth. Parts begin at
// multiples of 64. A panic of f is one of the caller, also where it is a fault in a mapped
// file that was cut short, which otherwise ends the process.
func Do(n, worth int, f func(part, lo, hi int)) {
	count := max(1, min(Most, runtime.GOMAXPROCS(0), n/worth))
	if count == 1 {
		f(0, 0, n)
		return
	}
	length := (n/count + 63) &^ 63
	var wg sync.WaitGroup
	var thrown [Most]any
	for part := range count {
		lo := min(part*length, n)
		hi := min(lo+length, n)
		if part == count-1 {
			hi = n
		}
		wg.Go(func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() { thrown[part] = recover() }()
			f(part, lo, hi)
		})
	}
	wg.Wait()
	for _, r := range thrown {
		if r != nil {
			panic(r)
		}
	}
}
