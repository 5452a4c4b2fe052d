package mpi

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mayUse is the affinity of this process.
func mayUse() (a affinity) {
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(os.Getpid(), &set) // if it fails, on a machine of more than a thousand, the process counts as one without a processor of its own
	for p := range 8 * len(a) {
		if set.IsSet(p) {
			a[p/8] |= 1 << (p % 8)
		}
	}
	return a
}

// nap waits for less than a millisecond, which is what Go's timers are rounded up to where nothing else is to be done.
func nap(length time.Duration) {
	t := unix.NsecToTimespec(length.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // interrupted: a shorter nap
}
