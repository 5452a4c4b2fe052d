// Package machine describes the processor that this process runs on: which it is, what code
// may be made for, and how large its caches are. It asks the processor and the system, not LLVM.
package machine
