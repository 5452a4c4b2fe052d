package testengine

import (
	"crypto/sha256"
	"os"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// mostCompiled bounds the bytes that are kept of what LLVM makes.
const mostCompiled = 512 << 20

// keepCompiled has what LLVM makes of a text kept for tests to come, of other packages too, beside what go test keeps of Go. What it is
// depends on nothing but the key, which has the text, so that what tests find does not depend on what ran before.
func keepCompiled() {
	dir, err := os.UserCacheDir()
	if err != nil {
		return
	}
	disk, err := diskcache.Open(filepath.Join(dir, "lacuna-tests"), mostCompiled)
	if err != nil {
		return
	}
	debug.Compiled = func(key string, compile func() ([]byte, error)) ([]byte, error) {
		id := diskcache.Key(sha256.Sum256([]byte(key)))
		if made, ok := disk.Get("llvm", id); ok {
			return made, nil
		}
		made, err := compile()
		if err == nil {
			ondisk.WriteLater(disk, "llvm", id, made)
		}
		return made, err
	}
}
