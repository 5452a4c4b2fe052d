package tensor

import "fmt"

// Pattern is the tensor of bool that tells which coordinates t stores: it shares the
// shape, format and index arrays of t, its values are true and its fill is false. Every
// element of a dense block counts as stored, and all of a dense tensor. It takes one
// byte for each stored value; the error says that there is no room. Of a tensor that is
// not plain it is the pattern of the plain form (see [Tensor.Canonical]).
func Pattern(t *Tensor) (*Tensor, error) {
	return t.derived(nil, func(options) (*Tensor, error) {
		plain, err := t.Canonical()
		if err != nil {
			return nil, err
		}
		values, err := MakeArray(Bool, plain.values.n)
		if err != nil {
			return nil, fmt.Errorf("the pattern of a tensor with %d stored values: %w", plain.NNZ(), err)
		}
		fillArray(values, Truth(true))
		return NewTrusted(plain.shape, plain.format, plain.levels, values, Truth(false)), nil
	})
}
