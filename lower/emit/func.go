package emit

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Func is one function of a program under construction.
type Func struct {
	B       *loop.Builder
	program *loop.Program
	bufs    map[loop.BufferID]loop.BufID
	args    map[loop.ScalarID]loop.Expr
	// What the stage passes, in parameter order.
	bufList []loop.BufferID
	argList []loop.ScalarID
}

// NewFunc begins a function that is called for chunks.
func (k *Builder) NewFunc(name string) *Func { return k.newFunc(loop.NewBuilder(name)) }

// NewGridFunc begins a function that is run by a grid of blocks of so many threads.
func (k *Builder) NewGridFunc(name string, threads int) *Func {
	return k.newFunc(loop.NewGridBuilder(name, threads))
}

func (k *Builder) newFunc(b *loop.Builder) *Func {
	b.At(k.Origin)
	return &Func{B: b, program: k.Program, bufs: map[loop.BufferID]loop.BufID{}, args: map[loop.ScalarID]loop.Expr{}}
}

// Read is the function's parameter for a program buffer that it only reads.
func (f *Func) Read(id loop.BufferID) loop.BufID { return f.Buf(id, loop.ReadOnly) }

// Write is the function's parameter for a program buffer that it writes.
func (f *Func) Write(id loop.BufferID) loop.BufID { return f.Buf(id, loop.ReadWrite) }

// Buf is the function's parameter for a program buffer.
func (f *Func) Buf(id loop.BufferID, access loop.Access) loop.BufID {
	if p, ok := f.bufs[id]; ok {
		return p
	}
	def := f.program.Buffers[id]
	p := f.B.Buf(def.Name, def.Elem, access)
	f.bufs[id] = p
	f.bufList = append(f.bufList, id)
	return p
}

// Scalar is the function's parameter for a program scalar.
func (f *Func) Scalar(id loop.ScalarID) loop.Expr {
	if x, ok := f.args[id]; ok {
		return x
	}
	x := f.B.Arg(f.program.Scalars[id].Name)
	f.args[id] = x
	f.argList = append(f.argList, id)
	return x
}

// Stage finishes the function and makes it a stage.
func (f *Func) Stage(name string) loop.Stage {
	return loop.Stage{Name: name, Partition: -1, Func: loop.RemoveDead(f.B.Func()), Bufs: f.bufList, Args: f.argList}
}

// SameRef reports whether two expressions are one variable.
func SameRef(x, y loop.Expr) bool {
	r, ok := x.(*loop.Ref)
	s, ok2 := y.(*loop.Ref)
	return ok && ok2 && r.Var == s.Var
}
