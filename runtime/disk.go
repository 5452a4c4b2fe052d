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
)

// objectABI is the version of what kernels and this package agree on: the argument
// block, the status, the names of functions in an object.
const objectABI = 1

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
