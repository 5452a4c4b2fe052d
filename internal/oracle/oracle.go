// Package oracle evaluates checked programs by brute force: every tensor is
// written out densely and every index variable runs over its whole dimension.
// It shares nothing with the compiler behind the checker, and uses Go's own
// arithmetic and math library, so that it can judge both engines.
package oracle

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Dense is a tensor written out: row-major values.
type Dense struct {
	Shape  []int64
	Values []Value
	// stored tells which coordinates an operand stores, for `in`; nil: all.
	stored []bool
}

// Value is a number of any type. Only the field that fits the type is used:
// B for bool, I for integers (two's complement), C for floats and complex
// numbers (a float is a complex number without an imaginary part).
type Value struct {
	B bool
	I int64
	C complex128
}

// Eval runs a program on operands and returns its results. The extents are
// those that lang.Bind found for the operands' shapes.
//
// The second result tells whether an infinity or a NaN occurred on the way: then
// only strict IEEE arithmetic has to agree, because implicit zeros otherwise
// annihilate them.
func Eval(p *lang.Program, operands map[string]*tensor.Tensor, ext *lang.Extents) (map[string]*Dense, bool, error) {
	e := &evaluator{tensors: map[*lang.Tensor]*Dense{}}
	for _, t := range p.Tensors {
		if t.Operand {
			d, err := writeOut(operands[t.Name])
			if err != nil {
				return nil, false, err
			}
			e.tensors[t] = d
		}
	}
	results := map[string]*Dense{}
	for i, s := range p.Stmts {
		d, err := e.statement(s, ext.Index[i], ext.Shapes[s.LHS.Tensor.Name])
		if err != nil {
			return nil, e.nonFinite, err
		}
		e.tensors[s.LHS.Tensor] = d
		results[s.LHS.Tensor.Name] = d
	}
	return results, e.nonFinite, nil
}

// ErrEmpty is the value of a minimum, maximum, argmin or argmax over nothing.
var ErrEmpty = fmt.Errorf("reduction over nothing")

func writeOut(t *tensor.Tensor) (*Dense, error) {
	dense, err := t.ToDense()
	if err != nil {
		return nil, err
	}
	d := &Dense{Shape: t.Shape()}
	for i := 0; i < dense.Len(); i++ {
		d.Values = append(d.Values, FromScalar(dense.Scalar(i)))
	}
	coords, _, err := t.ToCoords()
	if err != nil {
		return nil, err
	}
	d.stored = make([]bool, len(d.Values))
	n := t.NNZ()
	c := make([]int64, t.Rank())
	for k := int64(0); k < n; k++ {
		for a := range c {
			c[a] = coords[a][k]
		}
		d.stored[d.offset(c)] = true
	}
	return d, nil
}

// FromScalar is a tensor scalar as a Value.
func FromScalar(s tensor.Scalar) Value {
	switch dt := s.DType(); {
	case dt == tensor.Bool:
		return Value{B: s.Bool()}
	case dt.IsFloat(), dt.IsComplex():
		return Value{C: s.Complex128()}
	case dt == tensor.Uint64:
		return Value{I: int64(s.Uint64())}
	}
	return Value{I: s.Int64()}
}

// Scalar is a Value of the given type as a tensor scalar.
func (v Value) Scalar(dt tensor.DType) tensor.Scalar {
	switch {
	case dt == tensor.Bool:
		return tensor.Bool_(v.B)
	case dt.IsComplex():
		return tensor.Complex(dt, v.C)
	case dt.IsFloat():
		return tensor.Float(dt, real(v.C))
	case dt == tensor.Uint64:
		return tensor.Uint(dt, uint64(v.I))
	}
	return tensor.Int(dt, v.I)
}

// offset is the row-major position of a coordinate, -1 outside the shape.
func (d *Dense) offset(coord []int64) int64 {
	p := int64(0)
	for a, c := range coord {
		if c < 0 || c >= d.Shape[a] {
			return -1
		}
		p = p*d.Shape[a] + c
	}
	return p
}

type evaluator struct {
	tensors map[*lang.Tensor]*Dense
	extents []int64 // of the statement
	env     []int64 // values of its indices
	err     error
	// nonFinite is set when a value was infinite or NaN.
	nonFinite bool
}

func (e *evaluator) statement(s *lang.Stmt, extents, shape []int64) (*Dense, error) {
	e.extents, e.env, e.err = extents, make([]int64, len(extents)), nil
	lhs := s.LHS.Tensor
	size := int64(1)
	for _, n := range shape {
		size *= n
	}
	out := &Dense{Shape: shape, Values: make([]Value, size)}
	old := e.tensors[lhs]
	switch {
	case s.Op != lang.Set && old != nil:
		copy(out.Values, old.Values)
	case lhs.HasFill:
		for i := range out.Values {
			out.Values[i] = FromScalar(lhs.Fill.Convert(lhs.DType))
		}
	}
	var free []*lang.Index
	for _, x := range s.Indices {
		if x.Free {
			free = append(free, x)
		}
	}
	e.each(free, func() {
		coord := e.coordinates(s.LHS)
		p := out.offset(coord)
		if p < 0 {
			e.fail(fmt.Errorf("result coordinate %v outside shape %v", coord, shape))
			return
		}
		v := e.expr(s.RHS)
		if s.Op != lang.Set && old != nil {
			v = update(s.Op, lhs.DType, out.Values[p], v)
		}
		out.Values[p] = store(lhs.DType, v)
	})
	return out, e.err
}

// update applies an assignment operator.
func update(op lang.AssignOp, dt tensor.DType, x, y Value) Value {
	names := map[lang.AssignOp]string{lang.AddTo: "+", lang.MulTo: "*", lang.MinTo: "min", lang.MaxTo: "max"}
	switch op {
	case lang.OrTo:
		return convert(tensor.Bool, dt, Value{B: truth(dt, x) || truth(dt, y)})
	case lang.AndTo:
		return convert(tensor.Bool, dt, Value{B: truth(dt, x) && truth(dt, y)})
	}
	return call(names[op], dt, dt, []Value{x, y})
}

func (e *evaluator) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// each runs f for every combination of values of the given indices, the last
// one fastest.
func (e *evaluator) each(vars []*lang.Index, f func()) {
	if e.err != nil {
		return
	}
	if len(vars) == 0 {
		f()
		return
	}
	for i := int64(0); i < e.extents[vars[0].ID]; i++ {
		e.env[vars[0].ID] = i
		e.each(vars[1:], f)
	}
}

func (e *evaluator) coordinates(a *lang.Access) []int64 {
	coord := make([]int64, len(a.Indices))
	for k, x := range a.Indices {
		if x.Gather != nil {
			coord[k] = e.access(x.Gather).I
			if coord[k] < 0 || coord[k] >= e.tensors[a.Tensor].Shape[k] {
				e.fail(fmt.Errorf("gathered index %d outside axis %d of %s", coord[k], k, a.Tensor.Name))
			}
			continue
		}
		coord[k] = x.Const
		for _, t := range x.Terms {
			coord[k] += t.Coef * e.env[t.Var.ID]
		}
	}
	return coord
}

func (e *evaluator) access(a *lang.Access) Value {
	d := e.tensors[a.Tensor]
	p := d.offset(e.coordinates(a))
	if p < 0 {
		return FromScalar(a.Tensor.Fill.Convert(a.Tensor.DType))
	}
	return d.Values[p]
}

// compute is the type in which a type is computed.
func compute(dt tensor.DType) tensor.DType {
	if dt == tensor.Float16 || dt == tensor.BFloat16 {
		return tensor.Float32
	}
	return dt
}

func (e *evaluator) expr(x lang.Expr) Value {
	if e.err != nil {
		return Value{}
	}
	v := e.value(x)
	e.nonFinite = e.nonFinite || cmplx.IsNaN(v.C) || cmplx.IsInf(v.C)
	return v
}

func (e *evaluator) value(x lang.Expr) Value {
	switch x := x.(type) {
	case *lang.Literal:
		return FromScalar(x.Value)
	case *lang.Access:
		return e.access(x)
	case *lang.IndexValue:
		return Value{I: e.env[x.Var.ID]}
	case *lang.Convert:
		return convert(x.X.DType(), x.To, e.expr(x.X))
	case *lang.Where:
		if e.expr(x.Cond).B {
			return e.expr(x.Then)
		}
		return e.expr(x.Else)
	case *lang.Call:
		args := make([]Value, len(x.Args))
		for i, a := range x.Args {
			args[i] = e.expr(a)
		}
		return call(x.Fn.Name, x.Args[0].DType(), x.Typ, args)
	case *lang.Reduce:
		return e.reduce(x)
	}
	e.fail(fmt.Errorf("oracle: unknown expression %T", x))
	return Value{}
}

// reduce collects the values of the body and folds them.
func (e *evaluator) reduce(r *lang.Reduce) Value {
	var vars []*lang.Index
	var in []*lang.Access
	for _, v := range r.Vars {
		vars = append(vars, v.Var)
		if v.In != nil {
			in = append(in, v.InAccess)
		}
	}
	saved := make([]int64, len(vars))
	for i, v := range vars {
		saved[i] = e.env[v.ID]
	}
	var list []Value
	var flat []int64
	k := int64(-1)
	e.each(vars, func() {
		k++
		for _, a := range in {
			d := e.tensors[a.Tensor]
			p := d.offset(e.coordinates(a))
			if p < 0 || d.stored != nil && !d.stored[p] {
				return
			}
		}
		list = append(list, e.expr(r.Body))
		flat = append(flat, k)
	})
	for i, v := range vars {
		e.env[v.ID] = saved[i]
	}
	v, err := fold(r, list, flat, len(in) > 0)
	if err != nil {
		e.fail(err)
	}
	return v
}

func fold(r *lang.Reduce, list []Value, flat []int64, stored bool) (Value, error) {
	in, out := r.Body.DType(), compute(r.Typ)
	n := float64(len(list))
	switch r.Op {
	case lang.Sum:
		return sum(in, list), nil
	case lang.Prod:
		acc := convert(tensor.Int64, in, Value{I: 1})
		for _, v := range list {
			acc = call("*", in, in, []Value{acc, v})
		}
		return acc, nil
	case lang.Min, lang.Max:
		name := "min"
		if r.Op == lang.Max {
			name = "max"
		}
		if len(list) == 0 {
			if stored {
				return extreme(r.Op, in), nil
			}
			return Value{}, ErrEmpty
		}
		acc := list[0]
		for _, v := range list[1:] {
			acc = call(name, in, in, []Value{acc, v})
		}
		return acc, nil
	case lang.Any, lang.All:
		acc := r.Op == lang.All
		for _, v := range list {
			if r.Op == lang.Any {
				acc = acc || truth(in, v)
			} else {
				acc = acc && truth(in, v)
			}
		}
		return Value{B: acc}, nil
	case lang.Count:
		c := int64(0)
		for _, v := range list {
			if truth(in, v) {
				c++
			}
		}
		return Value{I: c}, nil
	case lang.Mean:
		s := sum(in, list)
		return round(out, Value{C: s.C / complex(n, 0)}), nil
	case lang.Var:
		mu := sum(tensor.Complex128, list).C / complex(n, 0)
		s := 0.0
		for _, v := range list {
			d := cmplx.Abs(v.C - mu)
			s += d * d
		}
		return round(out, Value{C: complex(s/n, 0)}), nil
	case lang.Norm:
		s := 0.0
		for _, v := range list {
			s += real(v.C)*real(v.C) + imag(v.C)*imag(v.C)
		}
		return round(out, Value{C: complex(math.Sqrt(s), 0)}), nil
	case lang.LogSumExp:
		acc := math.Inf(-1)
		for _, v := range list {
			acc = logAddExp(acc, real(v.C))
		}
		return round(out, Value{C: complex(acc, 0)}), nil
	case lang.ArgMin, lang.ArgMax:
		if len(list) == 0 {
			if stored {
				return Value{I: -1}, nil
			}
			return Value{}, ErrEmpty
		}
		best := 0
		for i := range list {
			if better(r.Op, in, list[i], list[best]) {
				best = i
			}
		}
		return Value{I: flat[best]}, nil
	}
	return Value{}, fmt.Errorf("oracle: reduction %v", r.Op)
}

// sum adds in extra precision, so that it judges any order of addition.
func sum(dt tensor.DType, list []Value) Value {
	if !dt.IsFloat() && !dt.IsComplex() {
		acc := Value{}
		for _, v := range list {
			acc = call("+", dt, dt, []Value{acc, v})
		}
		return acc
	}
	var s, c complex128 // Neumaier's compensated sum, by part
	add := func(s, c, x float64) (float64, float64) {
		t := s + x
		if math.Abs(s) >= math.Abs(x) {
			c += (s - t) + x
		} else {
			c += (x - t) + s
		}
		return t, c
	}
	for _, v := range list {
		sr, cr := add(real(s), real(c), real(v.C))
		si, ci := add(imag(s), imag(c), imag(v.C))
		s, c = complex(sr, si), complex(cr, ci)
	}
	if !cmplx.IsNaN(c) && !cmplx.IsInf(c) {
		s += c
	}
	return round(compute(dt), Value{C: s})
}

func extreme(op lang.Reduction, dt tensor.DType) Value {
	sign := 1
	if op == lang.Max {
		sign = -1
	}
	switch {
	case dt.IsFloat():
		return Value{C: complex(math.Inf(sign), 0)}
	case dt == tensor.Bool:
		return Value{B: sign > 0}
	case dt.IsSigned() && sign > 0:
		return Value{I: 1<<(8*dt.Size()-1) - 1}
	case dt.IsSigned():
		return Value{I: -1 << (8*dt.Size() - 1)}
	case sign > 0:
		return Value{I: int64(uint64(math.MaxUint64) >> (64 - 8*dt.Size()))}
	}
	return Value{}
}

// better reports whether x beats the earlier best y for argmin or argmax.
func better(op lang.Reduction, dt tensor.DType, x, y Value) bool {
	if dt.IsFloat() {
		a, b := real(x.C), real(y.C)
		if math.IsNaN(a) {
			return !math.IsNaN(b)
		}
		if op == lang.ArgMin {
			return a < b
		}
		return a > b
	}
	less := call("<", dt, tensor.Bool, []Value{x, y}).B
	more := call(">", dt, tensor.Bool, []Value{x, y}).B
	if op == lang.ArgMin {
		return less
	}
	return more
}

func logAddExp(a, b float64) float64 {
	hi, lo := math.Max(a, b), math.Min(a, b)
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	if math.IsInf(hi, 0) {
		return hi
	}
	return hi + math.Log1p(math.Exp(lo-hi))
}
