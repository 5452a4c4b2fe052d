package flight

import (
	"context"
	"sync"
)

// Cache keeps what is made once, by key. When it holds as much as it may, it begins anew. The zero Cache is ready; it is
// safe for concurrent use.
type Cache[V any] struct {
	mu     sync.Mutex
	kept   map[string]V
	making Group[string, V] // about to be kept
}

// mostKept is how much a cache holds: kernels, of which programs have a few.
const mostKept = 256

// Get returns what is kept for a key, which it does not keep.
func (c *Cache[V]) Get(key []byte) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.kept[string(key)]
	return v, ok
}

// Put keeps v for a key.
func (c *Cache[V]) Put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= mostKept {
		c.kept = map[string]V{}
	}
	c.kept[key] = v
}

// Len is how much the cache holds.
func (c *Cache[V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.kept)
}

// Do returns what is kept for a key, or makes and keeps it, as [Group.Do] does.
func (c *Cache[V]) Do(ctx context.Context, key string, work func(context.Context) (V, error)) (V, error) {
	have := func() (V, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		v, ok := c.kept[key]
		return v, ok
	}
	return c.making.Do(ctx, key, have, func(ctx context.Context) (V, error) {
		v, err := work(ctx)
		if err == nil {
			c.Put(key, v)
		}
		return v, err
	})
}
