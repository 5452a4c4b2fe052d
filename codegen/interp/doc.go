// Package interp runs the loop language without a compiler below it: it turns
// a loop.Func into a tree of Go closures. It works on every platform that Go
// does, starts within microseconds, checks every access to memory, and is the
// oracle for the engines that make machine code.
//
// # The machine
//
// A kernel has one file of 8-byte registers. Every variable has a register (a
// C128 has two), and so has every constant, written once when the file is
// made. A called Scalar has its registers in the same file: there is no
// recursion, so at most one activation of it is live, and a call is nothing
// but writing the arguments and running the body.
//
// An expression becomes a closure that returns a Go value of its own type,
// func(*frame) float64 for F64 and so on. All integers share int64: narrow
// ones are kept sign- or zero-extended, as loop.Const keeps them, so most casts
// between integers cost nothing; U64 is the same bits read as unsigned. A
// statement becomes a closure that returns a status: zero to go on, otherwise
// the number that ends the function.
//
// # What makes it fast enough
//
// The price is the closure call, about 2 ns, so the compiler merges nodes:
//
//   - An operand that is a variable or constant (a leaf) is read from its
//     register in place, without a call. Hot operators have a closure for each
//     combination of leaf and other operands.
//   - A load whose index is a variable plus a constant, or is itself such a
//     load of U32 or U64 (a gather, x[crd[p]]), is one closure.
//   - x*y + z, v = v + e and v = v + x*y are one closure each, with both
//     roundings kept.
//   - A comparison of two integer leaves is merged into the If or While that
//     tests it.
//
// # Stopping
//
// Loops count their iterations, all together, and look at a stop word once in a
// few thousand: so a call ends within milliseconds of being asked to, however
// its loops are nested.
//
// # Grids
//
// A GridKernel runs a grid function, which a GPU would run, for tests of such
// functions. It is the same closures, each thread with a register file of its own.
// The threads of a block take turns: a thread runs until it waits at a barrier, a
// shuffle or a ballot, as a coroutine where there are any; the exchange happens
// when all threads of the warp wait. Loads and stores tell what they touch, so that
// races and reads of undefined memory are errors (race.go). About ten million
// statements of threads run in a second.
//
// # Safety
//
// Loads and stores are checked against the length that the caller states for
// a buffer. A bad access panics with a private value that Run turns into a
// BoundsError, which keeps the check out of the values that closures return.
package interp
