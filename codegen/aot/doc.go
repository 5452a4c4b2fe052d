// Package aot compiles kernels ahead of time: to object files and libraries with
// a C interface that need nothing of this module, of LLVM or of a C library when they run.
//
// A compiled program is a list of steps, each a loop program of its own. The way
// to an object:
//
//	Link     join the steps to one program: buffers, scalars, stages    link.go
//	         with the extents of all tensors, from those of operands    extents.go
//	Module   LLVM IR: the functions of the stages (codegen/cpu), and    driver*.go, helpers.go
//	         the driver, which does what package runtime does for a JIT
//	Build    for a target: .ll, .s, .o, .a, .so, and the C header       unit.go
//
// The driver checks the operands, computes sizes, asks the caller for memory and
// calls the functions over chunks. It is written as a function that returns
// whenever it needs something and goes on when it is called again, with all that it
// knows in memory of the caller's: so callers need no callbacks, and
// nothing is shared between threads. The interface is lacuna.h.
package aot
