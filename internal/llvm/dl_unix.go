//go:build (linux || darwin) && !android && (amd64 || arm64 || loong64 || riscv64)

package llvm

import "github.com/ebitengine/purego"

// wholeProcess stands for all libraries that the process has opened globally.
const wholeProcess = purego.RTLD_DEFAULT

// openLibrary opens a library, by path or by a name that the loader knows. Its
// names stay local and it is bound at once: several versions of LLVM may live in
// one process, each calling only itself.
func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// symbolAddress finds a function in a library; 0 if it is not there.
func symbolAddress(library uintptr, name string) uintptr {
	address, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return address
}

// currentThread is the C function that says which thread calls it.
func currentThread() uintptr { return symbolAddress(wholeProcess, "pthread_self") }
