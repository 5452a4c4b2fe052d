package runtime

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/diskcache"
)

// The kinds of entries on disk.
const (
	hostKind   = "host"   // a hostRecord
	objectKind = "object" // machine code of a program's functions
	gpuKind    = "gpu"    // the same for a GPU: images
	aotKind    = "aot"    // machine code of a kernel compiled ahead of time
	tunedKind  = "tuned"  // the program that was measured to be the fastest of those that compute the same
	timesKind  = "times"  // what steps take on this machine, as it was measured
)

// objectABI is the version of what kernels and this package agree on: the argument
// block, the status, the names of functions in an object.
const objectABI = 1

// defaultDisk is the cache on disk; nil if there is none, of which Describe tells why.
func defaultDisk() *diskcache.Cache {
	disk, err := diskcache.Default()
	if err != nil {
		return nil
	}
	return disk
}

// objectKey is the key on disk of a program's machine code. The executable's
// identity is in it besides KeyOf's parts: two builds of a modified tree differ.
func objectKey(build string, key Key) diskcache.Key {
	return diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%q %d %s", build, objectABI, key)))
}

// writes are the entries that are being written.
var writes struct {
	pending sync.WaitGroup
	one     sync.Mutex // at a time
}

// writeLater puts an entry on disk in the background: to wait for the disk may take
// longer than compiling did. What cannot be kept is compiled again next time.
func writeLater(disk *diskcache.Cache, kind string, key diskcache.Key, data []byte) {
	writes.pending.Go(func() {
		writes.one.Lock()
		defer writes.one.Unlock()
		_ = disk.Put(kind, key, data)
	})
}

// Flush waits until everything compiled so far is on disk, for other processes. A
// program that ends without it may leave them work to do again, nothing worse.
func Flush() { writes.pending.Wait() }

// KeptObject returns the object of a kernel compiled ahead of time that is on disk under a
// key, which must name everything that the object depends on but this compiler, or else
// what compile returns, and keeps that.
func KeptObject(key string, compile func() ([]byte, error)) ([]byte, error) {
	disk, err := diskcache.Default()
	build := executableID()
	if err != nil || build == "" { // Describe tells why
		return compile()
	}
	id := diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%q %q", build, key)))
	if object, ok := disk.Get(aotKind, id); ok {
		return object, nil
	}
	object, err := compile()
	if err == nil {
		writeLater(disk, aotKind, id, object)
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
	disk := defaultDisk()
	if disk == nil {
		return "", false
	}
	program, ok := disk.Get(tunedKind, tunedKey(key))
	return string(program), ok
}

func tunedKey(key string) diskcache.Key {
	return diskcache.Key(sha256.Sum256([]byte("tuned 1 " + key)))
}
