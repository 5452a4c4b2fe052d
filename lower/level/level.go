// Package level emits the code that goes over one level of a tensor: how many positions there are, which lie under a
// parent, and which has a coordinate. Each kind of level is one file, which registers the functions of its kind
// under that of its schema in package tensor; all other lowering asks for properties of levels, and calls these. (Chou, Kjolstad and Amarasinghe,
// Format Abstraction for Sparse Tensor Algebra Compilers, OOPSLA 2018, call them level functions.)
package level

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Kind has the level functions of one kind of level.
type Kind struct {
	// Count is how many positions there are under the first n parents.
	Count func(v Level, n loop.SizeExpr) loop.SizeExpr
	// Children is the range of positions under a place, empty where that is absent. It is nil for kinds that loops do not
	// walk by position: they go through all coordinates, and locate them.
	Children func(v Level, f *emit.Func, at Place) (begin, end loop.Expr)
	// Locate is the place of a coordinate under a place. Coordinates outside the extent are not there; bounded says that
	// there are none.
	Locate func(v Level, f *emit.Func, at Place, coord loop.Expr, bounded bool) Place
}

// Place is a position of a level, as far as code knows it.
type Place struct {
	// Pos is the position, or the first of several of equal coordinates, which end before End.
	Pos, End loop.Expr
	// Present says whether the position exists; nil when it certainly does. If Exact, Pos may be used to load even
	// where Present is false.
	Present loop.Expr
	Exact   bool
}

var kinds = map[tensor.PhysicalKind]Kind{}

// Register adds the functions of a kind. It is called when the program starts.
func Register(kind tensor.PhysicalKind, functions Kind) { kinds[kind] = functions }

// Operands has the arrays and extents of tensors: see [emit.Builder].
type Operands interface {
	Input(t *ir.Tensor, level int, kind emit.ArrayKind) loop.BufferID
	Dim(t *ir.Tensor, axis int) loop.ScalarID
}

// Level is one level of a tensor.
type Level struct {
	tensor.LevelType
	Number   int // 0 is the outermost
	tensor   *ir.Tensor
	operands Operands
}

// Of is level number of a tensor.
func Of(o Operands, t *ir.Tensor, number int) Level {
	return Level{t.Format.Physical()[number], number, t, o}
}

// Pos is the buffer of the level's positions.
func (v Level) Pos() loop.BufferID { return v.operands.Input(v.tensor, v.Number, emit.Positions) }

// Crd is the buffer of the level's coordinates.
func (v Level) Crd() loop.BufferID { return v.operands.Input(v.tensor, v.Number, emit.Coordinates) }

// Size is the scalar with the level's extent.
func (v Level) Size() loop.ScalarID {
	return v.operands.Dim(v.tensor, v.tensor.Format.Order()[v.Number])
}

// Count is how many positions the level has under the first n positions of the level above.
func (v Level) Count(n loop.SizeExpr) loop.SizeExpr { return kinds[v.Kind].Count(v, n) }

// Walks reports whether loops may go through the positions under a place in the order of coordinates.
func (v Level) Walks() bool { return v.Ordered && v.Walked() }

// Children is described at [Kind].
func (v Level) Children(f *emit.Func, at Place) (begin, end loop.Expr) {
	return kinds[v.Kind].Children(v, f, at)
}

// Locate is described at [Kind].
func (v Level) Locate(f *emit.Func, at Place, coord loop.Expr, bounded bool) Place {
	return kinds[v.Kind].Locate(v, f, at, coord, bounded)
}

// Count is how many positions the levels from first to end-1 of a tensor have under the first n positions of the level above.
func Count(o Operands, t *ir.Tensor, first, end int, n loop.SizeExpr) loop.SizeExpr {
	for l := first; l < end; l++ {
		n = Of(o, t, l).Count(n)
	}
	return n
}

// Stored is how many elements a tensor stores.
func Stored(o Operands, t *ir.Tensor) loop.SizeExpr {
	return Count(o, t, 0, t.Rank, loop.SizeConst(1))
}

// Both is the conjunction of two presences, nil standing for true.
func Both(b *loop.Builder, x, y loop.Expr) loop.Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return b.Let("has", b.And(x, y))
}

// Inside says whether a coordinate is within the extent.
func (v Level) Inside(f *emit.Func, coord loop.Expr) loop.Expr {
	return f.B.Let("inside", f.B.And(f.B.Ge(coord, loop.Int(0)), f.B.Lt(coord, f.Scalar(v.Size()))))
}
