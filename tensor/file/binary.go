package file

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Binary is a tensor that writes itself as bytes, a binsparse container in an .npz archive: an encoding.BinaryMarshaler and BinaryUnmarshaler, for
// package encoding/gob, caches and the like. The field of a struct that is to be encoded is a Binary.
type Binary struct{ *tensor.Tensor }

// MarshalBinary writes the tensor in its format, with all that [Write] writes to files whose names end in .bsp.npz.
func (b Binary) MarshalBinary() ([]byte, error) {
	if b.Tensor == nil {
		return nil, errors.New("a tensor as bytes: the Binary has none")
	}
	var out bytes.Buffer
	if err := WriteTo("", &out, b.Tensor, OfKind("bspnpz")); err != nil {
		return nil, fmt.Errorf("a tensor as bytes: %w", err)
	}
	return out.Bytes(), nil
}

// UnmarshalBinary reads what MarshalBinary has written, as [ReadFrom] does: checked, and in no more memory than the bytes account for.
func (b *Binary) UnmarshalBinary(data []byte) error {
	if b == nil {
		return errors.New("a tensor as bytes: it is read into a Binary, and the pointer is nil")
	}
	t, err := ReadFrom("", bytes.NewReader(data), OfKind("bspnpz"), KeepStructure())
	if err != nil {
		return fmt.Errorf("a tensor as bytes: %w", err)
	}
	b.Tensor = t
	return nil
}
