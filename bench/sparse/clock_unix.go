//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is what all threads of this process have used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: " + err.Error()) // RUSAGE_SELF is always there
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
