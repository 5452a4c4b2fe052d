package operand

import (
	"context"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// literal is a source that is what it says: a number, or numbers in brackets, [1,2,3] for a vector and [[1,2],[3,4]] for a
// matrix.
type literal string

// String implements Source.
func (l literal) String() string { return string(l) }

// Load implements Source.
func (l literal) Load(ctx context.Context, _ *cli.Env, q Qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	text := strings.TrimSpace(string(l))
	bracketed := strings.HasPrefix(text, "[")
	if q.OfFile() || fill != nil && !bracketed {
		return nil, cli.Usagef("%s is a number: it has a type, but no other options", l)
	}
	var shape []int64
	var words []string
	if bracketed {
		var err error
		if shape, words, err = parseBrackets(text); err != nil {
			return nil, cli.Usagef("%s: %s", l, err)
		}
	} else {
		words = []string{text}
	}
	format, given, err := q.FormatFor(len(shape))
	if err != nil {
		return nil, cli.Usagef("%s: %s", l, err)
	}
	values, err := parseNumbers(words, q.DType)
	if err != nil {
		return nil, cli.Usagef("%s: %s", l, err)
	}
	if !bracketed {
		return tensor.ScalarTensor(values.Scalar(0)), nil
	}
	if !given {
		format = tensor.Dense(len(shape))
	}
	var opts []tensor.Option
	if fill != nil {
		opts = append(opts, tensor.WithFill(*fill))
	}
	return tensor.FromDense(shape, format, values, opts...)
}

// parseBrackets splits nested brackets into numbers, and tells their shape.
func parseBrackets(text string) (shape []int64, words []string, err error) {
	rows, err := splitBrackets(text)
	if err != nil {
		return nil, nil, err
	}
	var inner []int64
	for k, row := range rows {
		var below []int64
		if !strings.HasPrefix(row, "[") {
			words = append(words, row)
		} else {
			var more []string
			if below, more, err = parseBrackets(row); err != nil {
				return nil, nil, err
			}
			words = append(words, more...)
		}
		if k == 0 {
			inner = below
		} else if fmt.Sprint(inner) != fmt.Sprint(below) {
			return nil, nil, fmt.Errorf("its parts have different shapes: all must be numbers, or lists of equal length")
		}
	}
	if len(inner) >= tensor.MaxRank {
		return nil, nil, fmt.Errorf("brackets nested more than %d deep", tensor.MaxRank)
	}
	return append([]int64{int64(len(rows))}, inner...), words, nil
}

// splitBrackets cuts [a,[b,c]] at the commas between its outermost brackets.
func splitBrackets(text string) ([]string, error) {
	if !strings.HasSuffix(text, "]") {
		return nil, fmt.Errorf("a bracket is not closed")
	}
	var list []string
	depth, start := 0, 1
	for at, r := range text {
		switch {
		case r == '[':
			if depth++; depth > tensor.MaxRank {
				return nil, fmt.Errorf("brackets nested more than %d deep", tensor.MaxRank)
			}
		case r == ']':
			if depth--; depth < 0 || depth == 0 && at != len(text)-1 {
				return nil, fmt.Errorf("a bracket closes too early")
			}
		}
		if depth == 1 && r == ',' || depth == 0 {
			list, start = append(list, strings.TrimSpace(text[start:at])), at+1
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("a bracket is not closed")
	}
	if len(list) == 1 && list[0] == "" {
		return nil, nil
	}
	return list, nil
}

// parseNumbers reads numbers of a type, or of the least that the spelling of all allows.
func parseNumbers(words []string, dt tensor.DType) (tensor.Array, error) {
	list := make([]tensor.Scalar, len(words))
	common := dt
	for i, w := range words {
		var err error
		if list[i], err = ParseNumber(w, dt); err != nil {
			return tensor.Array{}, err
		}
		if dt.Valid() {
			continue
		}
		if common == tensor.Invalid {
			common = list[i].DType()
		}
		common = tensor.Promote(common, list[i].DType())
	}
	if common == tensor.Invalid {
		common = tensor.Float64 // there are none
	}
	values, err := tensor.MakeArray(common, len(list))
	if err != nil {
		return values, err
	}
	for i, s := range list {
		values.SetScalar(i, s.Convert(common))
	}
	return values, nil
}

// cutBracketed splits "[1,2]:S" behind the last bracket.
func cutBracketed(text string) (head, rest string) {
	depth := 0
	for at, r := range text {
		switch r {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return text[:at+1], text[at+1:]
			}
		}
	}
	return text, ""
}
