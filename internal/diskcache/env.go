package diskcache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// The environment variables that govern the cache that programs share.
const (
	DirVar  = "LACUNA_CACHE"      // a folder, or "off"
	SizeVar = "LACUNA_CACHE_SIZE" // the limit, such as 512MiB
)

// defaultSize is the limit if the environment says nothing.
const defaultSize = 512 << 20

// smallestSize is the least limit that leaves room for kernels in each folder.
const smallestSize = 4 << 20

// ErrOff is the error of Default where the cache is switched off.
var ErrOff = errors.New("switched off")

// Default is the cache that the environment names, by default the folder lacuna in
// the user's folder for caches. It is opened once for a process. Test programs
// have none unless they are given one, so that what they find does not depend on
// what ran before.
var Default = sync.OnceValues(func() (*Cache, error) { return fromEnvironment(os.Getenv) })

func fromEnvironment(env func(string) string) (*Cache, error) {
	size := int64(defaultSize)
	if text := env(SizeVar); text != "" {
		var err error
		if size, err = units.ParseBytes(text); err != nil {
			return nil, fmt.Errorf("%s: %w", SizeVar, err)
		}
		if size < smallestSize {
			return nil, fmt.Errorf("%s: %s is too little: want 4MiB or more, or %s=off", SizeVar, text, DirVar)
		}
	}
	dir := env(DirVar)
	switch {
	case dir == "off":
		return nil, fmt.Errorf("%w (%s=off)", ErrOff, DirVar)
	case dir == "" && testProgram():
		return nil, fmt.Errorf("%w in tests (name a folder in %s)", ErrOff, DirVar)
	case dir == "":
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%w: name a folder in %s", err, DirVar)
		}
		dir = filepath.Join(user, "lacuna")
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("%s=%s: want an absolute path, or off", DirVar, dir)
	}
	return Open(dir, size)
}

// testProgram reports whether this process is a test program of go test. It is built
// as a package of that name, but for those of main packages, and runs under that name.
func testProgram() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && strings.HasSuffix(info.Path, ".test") || len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")
}
