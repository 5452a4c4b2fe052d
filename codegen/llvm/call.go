package llvm

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// call emits a call of a function of the library.
func (f *Function) call(e *loop.Call) Val {
	source, ok := f.Module.lookup(e.Fn)
	if !ok {
		panic("BUG: the verifier passed a call of unknown " + e.Fn)
	}
	var args []value.Value
	for _, a := range e.Args {
		args = append(args, f.Expr(a).Parts()...)
	}
	result := f.Block.NewCall(f.Module.scalar("lib."+e.Fn, source), args...)
	if !e.Typ.IsComplex() {
		return Val{Re: result}
	}
	return Val{Re: f.Block.NewExtractValue(result, 0), Im: f.Block.NewExtractValue(result, 1)}
}

// scalar returns a scalar function under the given LLVM name, emitting it on
// first use. LLVM decides whether to inline it; the hint makes it do so for
// functions of some size, without which loops around them are not vectorised.
func (m *Module) scalar(name string, source *loop.Scalar) *ir.Func {
	if fn, ok := m.scalars[name]; ok {
		return fn
	}
	var params []*ir.Param
	for _, id := range source.Args {
		v := source.Vars[id]
		for _, part := range partNames(v.Type) {
			params = append(params, ir.NewParam(v.Name+part, registerType(v.Type)))
		}
	}
	fn := m.IR.NewFunc(name+m.Variant.Suffix, resultType(source.Result), params...)
	fn.Linkage = enum.LinkageInternal
	fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrInlineHint, enum.FuncAttrNoUnwind}
	m.Attributes(fn)
	m.scalars[name] = fn
	if err := source.Verify(m.lookup); err != nil {
		m.Fail(err)
		return fn
	}
	f := m.NewFunction(fn, source.Vars)
	next := 0
	for _, id := range source.Args {
		var parts []value.Value
		for range partNames(source.Vars[id].Type) {
			parts = append(parts, params[next])
			next++
		}
		f.vals[id] = FromParts(parts)
	}
	f.Stmts(source.Body)
	if f.Block != nil {
		f.ret(zero(source.Result)) // not reached: there is a Return on every path
	}
	f.Finish()
	return fn
}

// ret ends a scalar function with its value: complex ones return a pair.
func (f *Function) ret(v Val) {
	if v.Im == nil {
		f.Block.NewRet(v.Re)
	} else {
		pair := f.Block.NewInsertValue(constant.NewUndef(f.Fn.Sig.RetType), v.Re, 0)
		f.Block.NewRet(f.Block.NewInsertValue(pair, v.Im, 1))
	}
	f.Block = nil
}

// resultType is the LLVM type that a scalar function returns.
func resultType(t loop.Type) types.Type {
	if t.IsComplex() {
		return types.NewStruct(registerType(t), registerType(t))
	}
	return registerType(t)
}
