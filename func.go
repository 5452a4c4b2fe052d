package lacuna

import (
	"context"
	"errors"
	"fmt"

	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Func is a kernel as a function of its operands by position, with a result of Go numbers: calls have no map, and no types are
// asserted. It is safe for concurrent use.
type Func[T tensor.Element] struct{ caller *exec.Caller }

// errUnbound is the error of functions that [Bind] has not made.
var errUnbound = errors.New("the Func is none that lacuna.Bind has made")

// Bind makes a function of a kernel: operands are its operands' names, in the order in which calls pass them. The
// result of its last statement must be dense, in row-major order, and hold Ts.
func Bind[T tensor.Element](k *Kernel, operands ...string) (*Func[T], error) {
	c, err := k.exec().Caller(operands...)
	if err != nil {
		return nil, err
	}
	if dt := tensor.ArrayOf[T](nil).DType(); dt != c.Type() {
		return nil, fmt.Errorf("the result holds %s, and the function is to return %s: declare the result with lacuna.ResultType, or bind it as what it is", c.Type(), dt)
	}
	return &Func[T]{c}, nil
}

// Run runs the kernel and returns all elements of the result in row-major order.
func (f *Func[T]) Run(ctx context.Context, operands ...*tensor.Tensor) ([]T, error) {
	if f == nil || f.caller == nil {
		return nil, errUnbound
	}
	y, err := f.caller.Run(ctx, operands)
	if err != nil {
		return nil, err
	}
	return tensor.Elements[T](y)
}

// RunInto writes all elements of the result to a slice of as many. It must not share memory with an operand. After an
// error there may be anything in it. Where the program is one loop nest that needs no memory, the call allocates next to none.
func (f *Func[T]) RunInto(ctx context.Context, result []T, operands ...*tensor.Tensor) error {
	if f == nil || f.caller == nil {
		return errUnbound
	}
	return f.caller.RunInto(ctx, tensor.ArrayOf(result), operands)
}
