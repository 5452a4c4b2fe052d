//go:build !(linux && !android && (amd64 || arm64))

package cuda

import (
	"fmt"
	"runtime"
)

// Without a dynamic loader no library opens, so nothing below is reached but
// openLibrary.

func openLibrary(string) (uintptr, error) {
	return 0, fmt.Errorf("loading the CUDA driver is not supported on %s/%s", runtime.GOOS, runtime.GOARCH)
}

func symbolAddress(uintptr, string) uintptr { return 0 }

func callAddress(uintptr, []uintptr) uintptr { panic("BUG: no library can be open") }
