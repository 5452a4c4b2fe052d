//go:build !(linux && !android && (amd64 || arm64))

package dl

import (
	"fmt"
	"runtime"
)

// Without a dynamic loader no library opens, so nothing below Open is reached.

// Open says that there is no dynamic loader.
func Open(string) (Library, error) {
	return 0, fmt.Errorf("opening libraries is not supported on %s/%s", runtime.GOOS, runtime.GOARCH)
}

// OpenGlobal is Open.
func OpenGlobal(name string) (Library, error) { return Open(name) }

// Symbol finds nothing.
func (Library) Symbol(string) uintptr { return 0 }

// Call cannot be reached.
func Call(uintptr, ...uintptr) uintptr { panic("BUG: no library can be open") }
