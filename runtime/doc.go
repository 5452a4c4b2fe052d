// Package runtime runs compiled expressions. What the compiler makes of an
// expression is a loop.Program: buffers whose sizes are expressions over
// scalars, and stages to run in order. This package turns one into an
// Executable and runs that:
//
//	program ──plan──▶ stages with resolved ids ┐
//	   └────Engine──▶ a kernel for each stage ─┴▶ Executable.Run(bindings) ──▶ results
//
// For each stage a run computes sizes, allocates buffers, cuts the domain into
// chunks and calls the stage's kernel on each chunk, on several goroutines
// where that helps. All memory is allocated between stages (stagememory.go), all
// threads are started here (pool.go), cancellation happens between chunks and
// through a stop word that kernels look at (package watch): otherwise kernels are plain
// sequential code.
//
// Results do not depend on the number of threads. Chunks are cut by the data
// alone (package partition), each kernel call depends only on its chunk and on
// earlier stages, and chunks of a stage write different elements; so nothing
// that a run computes can tell which thread did what, or when.
//
// Engines differ only in how a function runs: Interp runs Go closures and is
// always there, CPU runs machine code made by LLVM, CUDA runs grids on an NVIDIA GPU, in that
// device's memory. Tests run grids in goroutines too (internal/testing/testengine).
//
// The files:
//
//	engine.go         Engine, and which there are: interp.go, cpu.go, cuda.go, simulated.go
//	kernel.go         what engines differ in: a compiled loop function
//	cache.go          compiled programs, in memory; package ondisk: on disk, and what is known of this machine
//	tiers.go          code that is quick to compile first, better code later
//	foreign.go        CUDA contexts and streams that the program has made
//
//	plan.go           a program made ready: ids, sizes.go (size expressions), the life of temporaries
//	run.go            Executable.Run: its bindings (bind.go), stages, results
//	stagememory.go    sizes and memory before a stage; package partition: the cut into chunks
//	pool.go           the threads of a stage; helperthreads.go: those that wait for the next
//	join.go           stages whose chunks append to one list; threadcopies.go: that update the same elements
//	symbolic.go       counts and places that are kept from run to run
//	tally.go          when to stop: results that grow too large; package watch: contexts that end
//
//	accelerator.go    runs in the memory of a device; gridresults.go: what comes back
//	cudacode.go       machine code for a GPU
//	cudaqueue.go      a stream: its memory, what is done where the device has no more, copies, launches; package internal/cuda: graphs of launches, and blocks that are kept
//	underway.go       work on a device that nobody has waited for yet; recording.go: told again without what the host does for a run
//	resident.go       arrays that stay on a device; memoisable.go, memoise.go: what follows from them, kept beside them
//
//	memory.go         a block of elements, and whether there may be one; package alloc: where it comes from
//
//	inspect.go        programs as text: LLVM IR, assembly with comments, PTX
//	looptimes.go, stagetimes.go   where the time goes
//	errors.go         errors of callers; internalerror.go: mistakes of the compiler
package runtime
