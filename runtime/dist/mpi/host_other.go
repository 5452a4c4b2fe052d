//go:build !linux

package mpi

import (
	"runtime"
	"time"
)

// mayUse says that each process may use all processors.
func mayUse() (a affinity) {
	for p := range min(runtime.NumCPU(), 8*len(a)) {
		a[p/8] |= 1 << (p % 8)
	}
	return a
}

func nap(length time.Duration) { time.Sleep(length) }
