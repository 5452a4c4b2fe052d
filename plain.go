package lacuna

import (
	goruntime "runtime"
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

// of returns the operand as kernels take it: see [tensor.Tensor.Plain].
func (p *plainCopies) of(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.IsPlain() {
		return t, nil
	}
	key := weak.Make(t)
	if c, ok := p.copies.Load(key); ok {
		return c.(*tensor.Tensor), nil
	}
	plain, err := t.Plain()
	if err != nil {
		return nil, err
	}
	if _, loaded := p.copies.LoadOrStore(key, plain); !loaded {
		goruntime.AddCleanup(t, func(key weak.Pointer[tensor.Tensor]) { p.copies.Delete(key) }, key)
	}
	return plain, nil
}
