package ondisk

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/diskcache"
)

// The kinds of entries on disk, and what each holds.
const (
	HostKind   = "host"   // a HostRecord
	ObjectKind = "object" // machine code of a program's functions
	GPUKind    = "gpu"    // the same for a GPU: images
	aotKind    = "aot"    // machine code of a kernel compiled ahead of time
	tunedKind  = "tuned"  // the program that was measured to be the fastest of those that compute the same
	timesKind  = "times"  // what steps take on this machine, as it was measured
)

// objectABI is the version of what kernels and this package agree on: the argument
// block, the status, the names of functions in an object.
const objectABI = 1

// Disk is the cache on disk; nil if there is none, of which doctor.Describe tells why.
func Disk() *diskcache.Cache {
	disk, err := diskcache.Default()
	if err != nil {
		return nil
	}
	return disk
}

// ObjectKey is the key on disk of a program's machine code. The executable's
// identity is in it besides those of the program's key (runtime.KeyOf): two builds of a modified tree differ.
func ObjectKey(build string, key fmt.Stringer) diskcache.Key {
	return diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%q %d %s", build, objectABI, key)))
}

// writes are the entries that are being written.
var writes struct {
	one sync.Mutex // at a time

	mu      sync.Mutex
	pending int           // what is done in the background
	none    chan struct{} // closed once nothing is; nil if nobody waits
}

// WriteLater puts an entry on disk in the background: to wait for the disk may take
// longer than compiling did. What cannot be kept is compiled again next time.
func WriteLater(disk *diskcache.Cache, kind string, key diskcache.Key, data []byte) {
	Background(func() {
		writes.one.Lock()
		defer writes.one.Unlock()
		_ = disk.Put(kind, key, data)
	})
}

// Background does what ends with something on disk while others go on.
func Background(do func()) {
	writes.mu.Lock()
	writes.pending++
	writes.mu.Unlock()
	go func() {
		defer func() {
			writes.mu.Lock()
			defer writes.mu.Unlock()
			if writes.pending--; writes.pending == 0 && writes.none != nil {
				close(writes.none)
				writes.none = nil
			}
		}()
		do()
	}()
}

// Wait waits until nothing is done in the background. Unlike that of a sync.WaitGroup, it may be called while others begin something.
func Wait() {
	writes.mu.Lock()
	if writes.pending == 0 {
		writes.mu.Unlock()
		return
	}
	if writes.none == nil {
		writes.none = make(chan struct{})
	}
	none := writes.none
	writes.mu.Unlock()
	<-none
}

// Object returns the object of a kernel compiled ahead of time that is on disk under a
// key, which must name everything that the object depends on but this compiler, or else
// what compile returns, and keeps that.
func Object(key string, compile func() ([]byte, error)) ([]byte, error) {
	disk, err := diskcache.Default()
	build := ExecutableID()
	if err != nil || build == "" { // doctor.Describe tells why
		return compile()
	}
	id := diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%q %q", build, key)))
	if object, ok := disk.Get(aotKind, id); ok {
		return object, nil
	}
	object, err := compile()
	if err == nil {
		WriteLater(disk, aotKind, id, object)
	}
	return object, err
}

// KeepTuned keeps the program that is the fastest of those that compute what a key stands for, for processes to come.
func KeepTuned(key, program string) error {
	disk, err := diskcache.Default()
	if err != nil {
		return err
	}
	return disk.Put(tunedKind, tunedKey(key), []byte(program))
}

// Tuned is the program that KeepTuned kept under a key.
func Tuned(key string) (string, bool) {
	disk := Disk()
	if disk == nil {
		return "", false
	}
	program, ok := disk.Get(tunedKind, tunedKey(key))
	return string(program), ok
}

func tunedKey(key string) diskcache.Key {
	return diskcache.Key(sha256.Sum256([]byte("tuned 1 " + key)))
}
