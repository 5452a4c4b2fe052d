package tensor

import "fmt"

// Pattern is the tensor of bool that tells which coordinates t stores: it shares the
// shape, format and index arrays of t, its values are true and its fill is false. Every
// element of a dense block counts as stored, and all of a dense tensor. It takes one
// byte for each stored value; the error says that there is no room. Of a tensor that is
// not plain it is the pattern of the plain form (see [Tensor.Plain]).
func Pattern(t *Tensor) (*Tensor, error) {
	t, err := t.Plain()
	if err != nil {
		return nil, err
	}
	values, err := MakeArray(Bool, t.values.n)
	if err != nil {
		return nil, fmt.Errorf("the pattern of a tensor with %d stored values: %w", t.NNZ(), err)
	}
	list := View[bool](values)
	for i := range list {
		list[i] = true
	}
	return Assemble(t.shape, t.format, t.levels, values, Bool_(false)), nil
}
