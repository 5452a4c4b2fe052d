package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Einsum evaluates a product of tensors in NumPy's notation: a letter for each axis of each
// operand, separated by commas, and after "->" those of the result. Letters that the result does
// not have are summed; without "->" it has those that occur once, in alphabetical order.
// A letter twice in one operand takes a diagonal. "..." stands for axes without
// letters, which are broadcast.
//
//	C, err := ops.Einsum(ctx, "ij,jk->ik", []*tensor.Tensor{A, B})
//
// Integers and bool that are summed are added as i64.
func Einsum(ctx context.Context, subscripts string, tensors []*tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, "Einsum", opts, tensors...)
	if err != nil {
		return nil, err
	}
	e, err := op.parseEinsum(subscripts, tensors)
	if err != nil {
		return nil, err
	}
	args := lacuna.Args{}
	var factors, sums []string
	for i, t := range tensors {
		name := fmt.Sprintf("A%d", i)
		args[name] = t
		factors = append(factors, op.cast(access(name, e.operands[i])))
	}
	var seen []string
	for _, list := range e.operands {
		for _, name := range list {
			if name != "0" && !slices.Contains(seen, name) {
				seen = append(seen, name)
				if !slices.Contains(e.result, name) {
					sums = append(sums, name)
				}
			}
		}
	}
	value := strings.Join(factors, "*")
	if len(sums) > 0 {
		value = fmt.Sprintf("sum_{%s} (%s)", strings.Join(sums, ","), value)
	}
	return op.run(access("R", e.result)+" = "+value, args)
}

// einsum is a parsed product: the indices of the operands and of the result.
type einsum struct {
	operands [][]string
	result   []string
}

func (op *operation) parseEinsum(subscripts string, tensors []*tensor.Tensor) (einsum, error) {
	text := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, subscripts)
	inputs, output, explicit := strings.Cut(text, "->")
	parts := strings.Split(inputs, ",")
	if len(tensors) == 0 {
		return einsum{}, op.failf("there is no operand")
	}
	if len(parts) != len(tensors) {
		return einsum{}, op.failf("%q has subscripts for %d operands, but there are %d", subscripts, len(parts), len(tensors))
	}
	var e einsum
	dots := 0
	for i, part := range parts {
		before, after, spread := strings.Cut(part, "...")
		letters := before + after
		if err := op.checkLetters(subscripts, letters); err != nil {
			return einsum{}, err
		}
		extra := tensors[i].Rank() - len(letters)
		if extra < 0 || extra > 0 && !spread {
			return einsum{}, op.failf("%q has %d letters for operand %d, which has %d axes", subscripts, len(letters), i, tensors[i].Rank())
		}
		dots = max(dots, extra)
		e.operands = append(e.operands, nil)
	}
	extents := map[string]int64{}
	for i, part := range parts {
		names := subscriptNames(part, tensors[i].Rank(), dots)
		for axis, n := range tensors[i].Shape() {
			if n != 1 && strings.HasPrefix(names[axis], "d") {
				extents[names[axis]] = n
			}
		}
		e.operands[i] = names
	}
	for i, names := range e.operands {
		for axis, n := range tensors[i].Shape() {
			if n == 1 && extents[names[axis]] != 0 {
				names[axis] = "0" // an axis of "..." that is repeated
			}
		}
	}
	if !explicit {
		output = implicitOutput(inputs)
	}
	before, after, spread := strings.Cut(output, "...")
	if err := op.checkLetters(subscripts, before+after); err != nil {
		return einsum{}, err
	}
	for i, r := range before + after {
		if !strings.ContainsRune(inputs, r) {
			return einsum{}, op.failf("%q: no operand has the letter %c of the result", subscripts, r)
		}
		if strings.ContainsRune((before + after)[:i], r) {
			return einsum{}, op.failf("%q: the result has the letter %c twice", subscripts, r)
		}
	}
	if !spread && explicit {
		dots = 0
	}
	e.result = subscriptNames(output, len(before+after)+dots, dots)
	return e, nil
}

// checkLetters refuses what is no letter.
func (op *operation) checkLetters(subscripts, letters string) error {
	for _, r := range letters {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) {
			return op.failf("%q: an axis is named by a letter from a to z or A to Z, not by %q", subscripts, r)
		}
	}
	return nil
}

// subscriptNames gives the axes of an operand names: i_a for the letter a, and d0, d1, …
// for those of "...", of which the last operand-wide ones are taken.
func subscriptNames(part string, rank, dots int) []string {
	before, after, _ := strings.Cut(part, "...")
	var names []string
	for _, r := range before {
		names = append(names, "i"+string(r))
	}
	extra := rank - len(before) - len(after)
	for k := range extra {
		names = append(names, fmt.Sprintf("d%d", dots-extra+k))
	}
	for _, r := range after {
		names = append(names, "i"+string(r))
	}
	return names
}

// implicitOutput lists the letters that occur once, in alphabetical order, after the axes of "...".
func implicitOutput(inputs string) string {
	var once []string
	for _, r := range inputs {
		if unicode.IsLetter(r) && strings.Count(inputs, string(r)) == 1 {
			once = append(once, string(r))
		}
	}
	slices.Sort(once)
	return "..." + strings.Join(once, "")
}
