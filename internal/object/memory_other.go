//go:build !(linux && (amd64 || arm64))

package object

import "errors"

// Objects of other systems are left to LLVM's linker; nothing below is reached but
// hostMachine.

func hostMachine() (machine, bool) { return nil, false }

func pageSize() uint64 { return 1 }

func newMemory(uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

func protect([]byte, uint64) error { return errors.ErrUnsupported }

func freeMemory([]byte) error { return nil }

func addressOf([]byte) uintptr { return 0 }
