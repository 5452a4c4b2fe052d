// Package llvm translates the loop language into a module of LLVM IR: what is the same
// for processors (codegen/cpu) and grids (codegen/ptx), which are targets on top of it.
//
// The text is the same for every version of LLVM and every CPU: it names no
// triple and no features, uses typed pointers (which versions with opaque
// pointers read as such), and keeps to intrinsics that LLVM 14 has. A golden
// file per construct in the targets' testdata shows what becomes of it.
//
// Scalar functions of the library become internal functions
// @lib.NAME, emitted once for each module; conversions of half-precision values
// are scalar functions too, @half.NAME.
//
// Every operation computes the bits that loop.EvalUnary, EvalBinary and EvalCast
// compute, NaN payloads aside: no fast-math flags, nothing contracted,
// saturating and guarded where the loop language is.
//
// One file deals with one construct: types.go, consts.go, loads.go, arith.go,
// complex.go, convert.go, half.go, extremum.go, control.go, call.go. A function and what
// its target decides are in function.go. What changes with the use that is made of a
// module is in variant.go.
package llvm

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
)

// Module is an LLVM module under construction. Errors stick: the first one is
// what Text returns, and after it the rest is emitted in vain.
type Module struct {
	IR                                   *ir.Module
	lookup                               loop.Resolver
	kernels                              map[string]bool
	scalars                              map[string]*ir.Func
	intrinsics                           map[string]*ir.Func
	properties                           map[string]*metadata.Tuple // of loops
	likelyNode, unlikelyNode, seldomNode *metadata.Tuple
	unguessedNode                        *metadata.Tuple
	Variant                              Variant
	err                                  error
}

// NewModule returns an empty module. lookup finds the scalar functions that the
// kernels call; it may be nil when they call none.
func NewModule(name string, lookup func(string) (*loop.Scalar, bool)) *Module {
	m := &Module{
		IR:         ir.NewModule(),
		lookup:     lookup,
		kernels:    map[string]bool{},
		scalars:    map[string]*ir.Func{},
		intrinsics: map[string]*ir.Func{},
		properties: map[string]*metadata.Tuple{},
	}
	m.IR.SourceFilename = name
	return m
}

// Err is the first error met on the way.
func (m *Module) Err() error { return m.err }

// Text returns the module in LLVM's notation, or the first error met on the way.
func (m *Module) Text() (string, error) {
	if m.err != nil {
		return "", m.err
	}
	return m.IR.String(), nil
}

// Claim checks a function that is to become a kernel of the given name, which no other has.
// It reports whether it may be emitted; what is wrong is recorded.
func (m *Module) Claim(name string, f *loop.Func) bool {
	if m.kernels[name] {
		m.Fail(fmt.Errorf("LLVM module: two functions are called %s", name))
		return false
	}
	m.kernels[name] = true
	err := f.Verify(m.lookup)
	if err != nil {
		m.Fail(err)
	}
	return err == nil
}

// Fail records the first error.
func (m *Module) Fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// Intrinsic returns LLVM's function of the given full name, declaring it on
// first use.
func (m *Module) Intrinsic(name string, result types.Type, params ...types.Type) *ir.Func {
	if f, ok := m.intrinsics[name]; ok {
		return f
	}
	list := make([]*ir.Param, len(params))
	for i, t := range params {
		list[i] = ir.NewParam("", t)
	}
	f := m.IR.NewFunc(name, result, list...)
	m.intrinsics[name] = f
	return f
}
