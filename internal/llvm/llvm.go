// Package llvm drives LLVM through its C API, loaded at run time with purego:
// no cgo, no headers, no link-time dependency. A program built with
// CGO_ENABLED=0 runs without LLVM and uses it where a libLLVM of version 14 or
// newer is found.
//
// The way of a kernel through the package:
//
//	Find     what is installed, newest first           find.go
//	Load     dlopen one of them, bind the functions     load.go, api.go
//	Object   parse, verify, optimise, emit an object    compile.go, target.go
//	Link     lay the object out in executable memory    jit.go
//	Call     run a function in it                       call.go
//
// Compile does Object and Link in one step. An object may be stored and linked
// again by a later process with the same CPU, which is how kernels are cached.
//
// The contract with the code generators is LLVM IR as text. It is the one form
// that every version reads: LLVM 17 and later have opaque pointers only, but
// their parser still takes "double*" and reads it as "ptr".
//
// # Errors
//
// Nothing that LLVM says is lost and nothing it does ends the process: parse
// and verifier messages, diagnostics of the passes and of the code generator
// (diag.go) and errors of the linker all come back as Go errors. LLVM's fatal
// errors, after which its own handler would call exit, park the thread they
// happened on for good; the caller gets the message, and the library takes no
// more work in this process (fatal.go).
//
// # Concurrency
//
// Each compilation has its own LLVM context and its own JIT, so any number of
// goroutines may compile at once.
package llvm

import (
	"fmt"
	"runtime"
)

// Oldest is the first major version that has all this package needs: the new
// pass manager's C API and the ORC JIT that takes object files.
const Oldest = 14

// Install is the command that brings a suitable LLVM to this system, or to a Debian one, for
// messages.
var Install = func() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install llvm"
	case "windows":
		return "winget install LLVM.LLVM"
	}
	return "apt-get install libllvm19"
}()

// EnvVar is the environment variable that names the LLVM to load: a file, a
// directory, a version such as "14" or "19.1", or "none".
const EnvVar = "LACUNA_LLVM"

// Version is the version of an LLVM library. Unknown parts are 0.
type Version struct{ Major, Minor, Patch int }

// String returns the version in the form 19.1.7.
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// compare is negative when v is older than w, positive when it is newer.
func (v Version) compare(w Version) int {
	switch {
	case v.Major != w.Major:
		return v.Major - w.Major
	case v.Minor != w.Minor:
		return v.Minor - w.Minor
	}
	return v.Patch - w.Patch
}

// Error is a failure of LLVM: the step that failed and what LLVM said.
type Error struct {
	Step    string // such as "parsing the IR" or "linking"
	Version Version
	Message string
}

// Error returns the step, the LLVM version and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("LLVM %s, %s: %s", e.Version, e.Step, e.Message)
}
