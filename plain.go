package lacuna

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"sync"
	"weak"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// plainCopies remembers the plain form of operands that are stored otherwise: not
// sorted, with several entries per coordinate, or as one triangle of a matrix.
// Operands are immutable, so one is made plain once; the copy goes with the operand.
type plainCopies struct {
	copies sync.Map // weak.Pointer[tensor.Tensor] to *tensor.Tensor
}

// plainOperand returns an operand as kernels take it: see [tensor.Tensor.Plain].
func (s *Session) plainOperand(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.IsPlain() {
		return t, nil
	}
	copies := &s.plain.copies
	key := weak.Make(t)
	if c, ok := copies.Load(key); ok {
		return c.(*tensor.Tensor), nil
	}
	c := &converting{session: s, options: s.options}
	plain, err := c.sortedList(ctx, t, t.Format().Standard())
	if errors.Is(err, errPlain) {
		plain, err = t.Plain()
	}
	if err != nil {
		return nil, err
	}
	if _, loaded := copies.LoadOrStore(key, plain); !loaded {
		goruntime.AddCleanup(t, func(key weak.Pointer[tensor.Tensor]) { copies.Delete(key) }, key)
	}
	return plain, nil
}

// sortedList stores a list of coordinates, in any order and with duplicates, in a standard
// format, by kernels where that pays: sorting is most of the work. It says errPlain of
// other tensors.
func (c *converting) sortedList(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	levels := t.Format().Levels()
	if t.Structure() != tensor.General || len(levels) == 0 || format.Relaxed() || slices.Contains(t.Dims(), 0) ||
		slices.ContainsFunc(levels, func(k tensor.LevelKind) bool { return k != tensor.S }) {
		return nil, errPlain
	}
	order, err := tensor.Coordinates(t.Rank()).WithOrder(format.Order())
	if err != nil {
		return nil, err
	}
	list := make([]tensor.Level, t.Rank())
	for l, axis := range format.Order() {
		list[l].Crd = t.LevelAt(slices.Index(t.Format().Order(), axis)).Crd
	}
	return c.fromCoords(ctx, tensor.Assemble(t.Shape(), order, list, t.Values(), t.Fill()), format)
}
