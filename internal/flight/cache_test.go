package flight

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// What is kept is made once; what failed is made again, and a full cache begins anew.
func TestCache(t *testing.T) {
	var c Cache[int]
	made := 0
	get := func(key string, err error) (int, error) {
		return c.Do(t.Context(), key, func(context.Context) (int, error) { made++; return made, err })
	}
	refused := errors.New("refused")
	if _, err := get("a", refused); err != refused {
		t.Errorf("got %v, want %v", err, refused)
	}
	for range 3 {
		if v, err := get("a", nil); v != 2 || err != nil {
			t.Errorf("got %d, %v, want 2", v, err)
		}
	}
	if v, ok := c.Get([]byte("a")); v != 2 || !ok {
		t.Errorf("kept %d, %t, want 2", v, ok)
	}
	for i := c.Len(); i < mostKept; i++ {
		c.Put(fmt.Sprint(i), i)
	}
	if c.Len() != mostKept {
		t.Errorf("%d are kept, want %d", c.Len(), mostKept)
	}
	c.Put("one more", 0)
	if _, ok := c.Get([]byte("a")); ok || c.Len() != 1 {
		t.Errorf("%d are kept after one too many, want 1", c.Len())
	}
}
