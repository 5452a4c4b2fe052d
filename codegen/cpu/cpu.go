// Package cpu translates the loop language into LLVM IR for processors.
//
// A kernel called spmv becomes two functions:
//
//	define i64 @spmv(i64* noalias %args, i64 %chunk, i64 %lo, i64 %hi)
//
// unpacks the argument block, 8-byte slots that hold first one pointer for each
// buffer (Func.Bufs order), then the scalar arguments (Func.Args order), and last
// the address of the stop word, and calls
//
//	define internal i64 @spmv.body(i32* noalias readonly %pos, …, i32* %stop, i64 %chunk, i64 %lo, i64 %hi)
//
// which has the code. The stop word is a 32-bit integer, 0 at the start, that any
// thread may set to a negative number while the kernel runs: it then soon returns
// loop.StatusStopped, what it has stored being of no use. A null address stands for
// a word that is never set. As parameters, the buffers can be marked noalias: that is
// what lets LLVM keep loads out of inner loops. Buffers are aligned as their
// elements are.
//
// Here are the entry and its arguments (kernel.go), and where loops look at the stop word
// (poll.go, whilestrips.go) and ask for memory that they will need (ahead.go, takeahead.go). All else is codegen/llvm's.
package cpu

import (
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Emit translates functions into the text of one LLVM module. lookup finds the
// scalar functions that they call; it may be nil when they call none. The
// functions' names must differ. The error is a *loop.VerifyError for a function
// that is not well formed.
func Emit(name string, funcs []*loop.Func, lookup func(string) (*loop.Scalar, bool)) (string, error) {
	m := llvm.NewModule(name, lookup)
	for _, f := range funcs {
		Kernel(m, f)
	}
	return m.Text()
}
