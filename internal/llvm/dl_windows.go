//go:build amd64 || arm64

package llvm

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// wholeProcess stands for no library: Windows finds functions in each by itself.
const wholeProcess = 0

// openLibrary opens a library, by path or by a name that the loader knows. Those that it needs may lie beside it.
func openLibrary(name string) (uintptr, error) {
	flags := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.IsAbs(name) {
		flags |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
	}
	handle, err := windows.LoadLibraryEx(name, 0, flags)
	return uintptr(handle), err
}

// symbolAddress finds a function in a library; 0 if it is not there.
func symbolAddress(library uintptr, name string) uintptr {
	if library == wholeProcess {
		return 0
	}
	address, err := windows.GetProcAddress(windows.Handle(library), name)
	if err != nil {
		return 0
	}
	return address
}

// currentThread is the C function that says which thread calls it.
func currentThread() uintptr {
	kernel, err := openLibrary("kernel32.dll")
	if err != nil {
		return 0
	}
	return symbolAddress(kernel, "GetCurrentThreadId")
}
