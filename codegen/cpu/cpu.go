// Package cpu translates the loop language into a module of LLVM IR.
//
// The text is the same for every version of LLVM and every CPU: it names no
// triple and no features, uses typed pointers (which versions with opaque
// pointers read as such), and keeps to intrinsics that LLVM 14 has. A golden
// file per construct in testdata shows what becomes of it.
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
// elements are. Scalar functions of the library become internal functions
// @lib.NAME, emitted once for each module; conversions of half-precision values
// are scalar functions too, @half.NAME.
//
// Every operation computes the bits that loop.EvalUnary, EvalBinary and EvalCast
// compute, NaN payloads aside: no fast-math flags, nothing contracted,
// saturating and guarded where the loop language is.
//
// One file deals with one construct: types.go, consts.go, loads.go, arith.go,
// complex.go, convert.go, half.go, control.go, call.go, kernel.go. What changes with
// the use that is made of a module is in variant.go.
package cpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
)

// Emit translates functions into the text of one LLVM module. lookup finds the
// scalar functions that they call; it may be nil when they call none. The
// functions' names must differ. The error is a *loop.VerifyError for a function
// that is not well formed.
func Emit(name string, funcs []*loop.Func, lookup func(string) (*loop.Scalar, bool)) (string, error) {
	m := NewModule(name, lookup)
	for _, f := range funcs {
		m.Kernel(f)
	}
	return m.Text()
}

// Module is an LLVM module under construction. Errors stick: the first one is
// what Text returns, and after it the rest is emitted in vain.
type Module struct {
	ir                       *ir.Module
	lookup                   loop.Resolver
	kernels                  map[string]bool
	scalars                  map[string]*ir.Func
	intrinsics               map[string]*ir.Func
	properties               map[string]*metadata.Tuple // of loops
	likelyNode, unlikelyNode *metadata.Tuple
	used                     *ir.Global // the list of shared arrays; nil until there is one
	variant                  Variant
	err                      error
}

// NewModule returns an empty module. lookup finds the scalar functions that the
// kernels call; it may be nil when they call none.
func NewModule(name string, lookup func(string) (*loop.Scalar, bool)) *Module {
	m := &Module{
		ir:         ir.NewModule(),
		lookup:     lookup,
		kernels:    map[string]bool{},
		scalars:    map[string]*ir.Func{},
		intrinsics: map[string]*ir.Func{},
		properties: map[string]*metadata.Tuple{},
	}
	m.ir.SourceFilename = name
	return m
}

// Text returns the module in LLVM's notation, or the first error met on the way.
func (m *Module) Text() (string, error) {
	if m.err != nil {
		return "", m.err
	}
	return m.ir.String(), nil
}

// fail records the first error.
func (m *Module) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// intrinsic returns LLVM's function of the given full name, declaring it on
// first use.
func (m *Module) intrinsic(name string, result types.Type, params ...types.Type) *ir.Func {
	if f, ok := m.intrinsics[name]; ok {
		return f
	}
	list := make([]*ir.Param, len(params))
	for i, t := range params {
		list[i] = ir.NewParam("", t)
	}
	f := m.ir.NewFunc(name, result, list...)
	m.intrinsics[name] = f
	return f
}
