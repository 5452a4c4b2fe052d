package cpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// scalar is a scalar function in the module.
type scalar struct {
	fn     *ir.Func
	source *loop.Scalar
}

// call emits a call of a function of the library.
func (f *function) call(e *loop.Call) val {
	source, ok := f.m.find(e.Fn)
	switch {
	case !ok:
		f.m.fail("function %s calls %s, which is not in the library", f.name, e.Fn)
		return zero(e.Typ)
	case len(source.Args) != len(e.Args) || source.Result != e.Typ:
		f.m.fail("function %s calls %s with %d arguments for a result of type %v; it takes %d and gives %v",
			f.name, e.Fn, len(e.Args), e.Typ, len(source.Args), source.Result)
		return zero(e.Typ)
	}
	var args []value.Value
	for i, a := range e.Args {
		if want := source.Vars[source.Args[i]].Type; want != a.Type() {
			f.m.fail("function %s calls %s with argument %d of type %v; it takes %v", f.name, e.Fn, i+1, a.Type(), want)
			return zero(e.Typ)
		}
		args = append(args, f.expr(a).parts()...)
	}
	result := f.block.NewCall(f.m.scalar("lib."+e.Fn, source).fn, args...)
	if !e.Typ.IsComplex() {
		return val{re: result}
	}
	return val{re: f.block.NewExtractValue(result, 0), im: f.block.NewExtractValue(result, 1)}
}

// find looks a scalar function up in the library.
func (m *Module) find(name string) (*loop.Scalar, bool) {
	if m.lookup == nil {
		return nil, false
	}
	return m.lookup(name)
}

// scalar returns a scalar function under the given LLVM name, emitting it on
// first use. LLVM decides whether to inline it; the hint makes it do so for
// functions of some size, without which loops around them are not vectorised.
func (m *Module) scalar(name string, source *loop.Scalar) *scalar {
	if s, ok := m.scalars[name]; ok {
		return s
	}
	var params []*ir.Param
	for _, id := range source.Args {
		v := source.Vars[id]
		for _, part := range partNames(v.Type) {
			params = append(params, ir.NewParam(v.Name+part, registerType(v.Type)))
		}
	}
	fn := m.ir.NewFunc(name, resultType(source.Result), params...)
	fn.Linkage = enum.LinkageInternal
	fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrInlineHint, enum.FuncAttrNoUnwind}
	s := &scalar{fn: fn, source: source}
	m.scalars[name] = s // before the body, so that emission ends whatever the calls

	f := m.newFunction(source.Name, fn, source.Vars)
	next := 0
	for _, id := range source.Args {
		var parts []value.Value
		for range partNames(source.Vars[id].Type) {
			parts = append(parts, params[next])
			next++
		}
		f.vals[id] = fromParts(parts)
	}
	f.stmts(source.Body)
	if f.block != nil {
		f.ret(zero(source.Result)) // not reached: the verifier wants a Return on every way
	}
	f.finish()
	return s
}

// undef is a struct whose fields are about to be set.
func undef(t types.Type) constant.Constant { return constant.NewUndef(t) }
