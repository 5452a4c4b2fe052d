package runtime

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	godebug "runtime/debug"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// Key names the compiled form of a program: two programs with equal keys have
// equal structure and are compiled by the same compiler for the same machine.
//
// A key is all that a lookup needs, on disk as in memory. Cache keeps executables
// under it, above the engine; on disk, below the engine, is the object code of a
// program's functions (disk.go).
type Key [sha256.Size]byte

// String is the key in hexadecimal, fit for a file name.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// KeyOf is the key of p compiled by e: SHA-256 over this compiler's build, the
// engine's fingerprint (LLVM version, processor and its features) and the
// program's text. The text has unique names, so it is the structure.
func KeyOf(e Engine, p *loop.Program) Key { return keyOf(e.Fingerprint(), p) }

// keyOf is KeyOf for what an engine says of itself.
func keyOf(fingerprint string, p *loop.Program) Key {
	h := sha256.New()
	for _, part := range []string{buildID(), fingerprint, p.String()} {
		io.WriteString(h, part)
		h.Write([]byte{0}) // none of the parts contains it
	}
	return Key(h.Sum(nil))
}

// buildID tells builds of this compiler apart: module and Go version, revision
// and whether that was modified. It does not tell two modified trees apart; that is
// for ExecutableID, which keys on disk have in addition.
var buildID = sync.OnceValue(func() string {
	info, ok := godebug.ReadBuildInfo()
	if !ok {
		return "unknown build"
	}
	id := []string{info.GoVersion, info.Main.Path, info.Main.Version}
	for _, d := range info.Deps {
		if strings.HasPrefix(d.Path, modulePath) {
			id = append(id, d.Path, d.Version, d.Sum)
		}
	}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "vcs.") {
			id = append(id, s.Key, s.Value)
		}
	}
	return strings.Join(id, " ")
})

const modulePath = "github.com/lacuna-sparse/lacuna"

// Cache keeps executables by Key, the least recently used making room for new
// ones. Programs that several goroutines ask for at once are compiled once, and so are those that differ in names alone, as the
// intermediates of a chain of products do: their executables share code.
// A Cache is safe for concurrent use; the zero value is not ready, see NewCache.
type Cache struct {
	mu      sync.Mutex
	max     int
	entries map[Key]*list.Element // of *cacheEntry
	order   *list.List            // most recently used first
	pending flight.Group[Key, *Executable]
	stats   CacheStats
}

// CacheStats counts what a cache did.
type CacheStats struct {
	Hits, Misses, Evictions int64
	Entries                 int // executables held now
}

type cacheEntry struct {
	key Key
	exe *Executable
	// named are those for programs of other names, by text.
	named map[string]*Executable
}

// mostNamed bounds cacheEntry.named.
const mostNamed = 64

// NewCache returns an empty cache for at most capacity executables, and at least 1.
func NewCache(capacity int) *Cache {
	return &Cache{max: max(capacity, 1), entries: map[Key]*list.Element{}, order: list.New()}
}

// Compile returns the executable of p on e, compiling it if it is not held.
// Those who ask for one key at once wait for one compilation, which stops when
// the contexts of all have ended. Failures are not kept.
func (c *Cache) Compile(ctx context.Context, e Engine, p *loop.Program) (*Executable, error) {
	named := p
	if !p.OnGrids() { // whose code is found by name
		named = p.Anonymous()
	}
	key := KeyOf(e, named)
	exe, err := c.pending.Do(ctx, key, func() (*Executable, bool) { return c.lookup(key) }, func(ctx context.Context) (*Executable, error) {
		exe, err := e.Compile(ctx, p)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stats.Misses++
		if err == nil {
			c.keep(key, exe)
		}
		return exe, err
	})
	if err != nil {
		return nil, err
	}
	return c.named(key, exe, p), nil
}

// named is the executable with the names of p, which is the program of exe but for these.
func (c *Cache) named(key Key, exe *Executable, p *loop.Program) *Executable {
	if exe.grid != nil || exe.Program() == p {
		return exe
	}
	text := p.String()
	if exe.Program().String() == text {
		return exe
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	el, held := c.entries[key]
	if !held {
		return exe.as(p)
	}
	entry := el.Value.(*cacheEntry)
	named := entry.named[text]
	if named == nil {
		named = exe.as(p)
		if entry.named == nil {
			entry.named = map[string]*Executable{}
		}
		if len(entry.named) < mostNamed {
			entry.named[text] = named
		}
	}
	return named
}

// lookup returns the executable that is held.
func (c *Cache) lookup(key Key) (*Executable, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.stats.Hits++
	c.order.MoveToFront(el)
	return el.Value.(*cacheEntry).exe, true
}

// keep adds an entry and drops the least recently used ones over the limit.
// Executables dropped stay valid for those who hold them.
func (c *Cache) keep(key Key, exe *Executable) {
	if _, held := c.entries[key]; held {
		return // all who waited for a compilation had left, and it ended well after the next one
	}
	c.entries[key] = c.order.PushFront(&cacheEntry{key: key, exe: exe})
	for c.order.Len() > c.max {
		oldest := c.order.Remove(c.order.Back()).(*cacheEntry)
		delete(c.entries, oldest.key)
		c.stats.Evictions++
	}
}

// Stats returns the counts so far.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = c.order.Len()
	return s
}

// Flush waits until everything compiled so far is on disk, for other processes. A
// program that ends without it may leave them work to do again, nothing worse.
func Flush() { ondisk.Wait() }
