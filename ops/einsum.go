package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Einsum evaluates a product of tensors in NumPy's notation: a letter for each axis of each
// operand, separated by commas, and after "->" those of the result. Letters that the result does
// not have are summed; without "->" it has those that occur once, in alphabetical order.
// A letter twice in one operand takes a diagonal. "..." stands for axes without
// letters, which are broadcast. A letter has one extent. Mistakes are shown in subscripts.
//
//	C, err := ops.Einsum(ctx, "ij,jk->ik", []*tensor.Tensor{A, B})
//
// The elements are multiplied in the type in which all operands meet, integers and bool that are summed as those of [MatMul].
func Einsum(ctx context.Context, subscripts string, tensors []*tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginElements(ctx, "Einsum", opts, tensors...)
	if err != nil {
		return nil, err
	}
	e, err := parseEinsum(subscripts, tensors)
	if err != nil {
		return nil, op.fail(err)
	}
	var seen, sums []string
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
	work := op.productType(tensors...)
	if len(sums) > 0 {
		work = addedType(work)
	}
	args := lacuna.Args{}
	var factors []string
	for i, t := range tensors {
		name := fmt.Sprintf("A%d", i)
		args[name] = t
		factors = append(factors, op.factor(access(name, e.operands[i]), t, work))
	}
	value := strings.Join(factors, "*")
	if len(sums) > 0 {
		value = fmt.Sprintf("sum_{%s} (%s)", strings.Join(sums, ","), value)
	}
	return op.run(access("R", e.result)+" = "+value, args, op.wished()...)
}

// einsum is a parsed product: the indices of the operands and of the result.
type einsum struct {
	operands [][]string
	result   []string
}

// subscript is a piece of the notation without its spaces: the letters of one operand or
// of the result.
type subscript struct {
	whole *notation
	start int // of the piece in whole.text
	text  string
}

// notation is what the user wrote, for messages, and the same without spaces.
type notation struct {
	source []rune
	text   string
	column []int // of each byte of text, and of the end, in source
}

func readNotation(subscripts string) *notation {
	n := &notation{source: []rune(subscripts)}
	var text strings.Builder
	for column, r := range n.source {
		switch {
		case unicode.IsSpace(r):
			n.source[column] = ' '
			continue
		case !unicode.IsPrint(r):
			n.source[column] = unicode.ReplacementChar
		}
		for range utf8.RuneLen(r) {
			n.column = append(n.column, column)
		}
		text.WriteRune(r)
	}
	n.text, n.column = text.String(), append(n.column, len(n.source))
	return n
}

// errorf is an error that shows what the user wrote, with a caret under the byte of text.
func (n *notation) errorf(at int, format string, args ...any) error {
	return fmt.Errorf("%s\n    %s\n    %s^", fmt.Sprintf(format, args...), string(n.source), strings.Repeat(" ", n.column[at]))
}

// piece is the part of the notation from start to end.
func (n *notation) piece(start, end int) subscript { return subscript{n, start, n.text[start:end]} }

// errorf is an error at a byte of the piece, or at its end.
func (s subscript) errorf(at int, format string, args ...any) error {
	return s.whole.errorf(s.start+at, format, args...)
}

// split separates the piece at its dots.
func (s subscript) split() (before, after string, dots bool) { return strings.Cut(s.text, "...") }

// letters are those of the piece, without dots; anything else is refused.
func (s subscript) letters() (string, error) {
	before, after, dots := s.split()
	for at, r := range s.text {
		if dots && at >= len(before) && at < len(before)+len("...") {
			continue
		}
		if r > unicode.MaxASCII || !unicode.IsLetter(r) {
			return "", s.errorf(at, "an axis is named by a letter from a to z or A to Z, not by %q", r)
		}
	}
	return before + after, nil
}

// at is the byte of the piece that an axis of an operand of some rank is named at.
func (s subscript) at(axis, rank int) int {
	before, after, _ := s.split()
	switch {
	case axis < len(before):
		return axis
	case axis >= rank-len(after):
		return len(s.text) - (rank - axis)
	}
	return len(before)
}

func parseEinsum(subscripts string, tensors []*tensor.Tensor) (einsum, error) {
	if len(tensors) == 0 {
		return einsum{}, errors.New("there is no operand")
	}
	n := readNotation(subscripts)
	text, output, explicit := strings.Cut(n.text, "->")
	var inputs []subscript
	start := 0
	for part := range strings.SplitSeq(text, ",") {
		if len(inputs) == len(tensors) {
			return einsum{}, n.errorf(start, "there are subscripts for more operands than the %d given", len(tensors))
		}
		inputs = append(inputs, n.piece(start, start+len(part)))
		start += len(part) + len(",")
	}
	if len(inputs) < len(tensors) {
		return einsum{}, n.errorf(len(text), "there are %d operands: the subscripts of operand %d are missing", len(tensors), len(inputs))
	}
	var e einsum
	dots := 0
	for i, in := range inputs {
		letters, err := in.letters()
		if err != nil {
			return einsum{}, err
		}
		_, _, spread := in.split()
		rank := tensors[i].Rank()
		switch extra := rank - len(letters); {
		case extra < 0:
			return einsum{}, in.errorf(in.at(max(rank, 0), len(letters)), "operand %d has %s, but %s", i, counted(rank, "axis", "axes"), counted(len(letters), "letter", "letters"))
		case extra > 0 && !spread:
			return einsum{}, in.errorf(len(in.text), "operand %d has %s, but %s", i, counted(rank, "axis", "axes"), counted(len(letters), "letter", "letters"))
		default:
			dots = max(dots, extra)
		}
	}
	for i, in := range inputs {
		e.operands = append(e.operands, subscriptNames(in.text, tensors[i].Rank(), dots))
	}
	if err := e.broadcast(inputs, tensors); err != nil {
		return einsum{}, err
	}
	if explicit {
		out := n.piece(len(text)+len("->"), len(n.text))
		if err := out.checkResult(text); err != nil {
			return einsum{}, err
		}
	} else {
		output = implicitOutput(text)
	}
	before, after, spread := strings.Cut(output, "...")
	if !spread {
		dots = 0
	}
	e.result = subscriptNames(output, len(before+after)+dots, dots)
	return e, nil
}

// broadcast compares the extents of axes that have one name, and gives an axis of dots that is
// repeated the coordinate 0.
func (e *einsum) broadcast(inputs []subscript, tensors []*tensor.Tensor) error {
	type place struct {
		operand, axis int
		extent        int64
	}
	first := map[string]place{}
	for i, names := range e.operands {
		for axis, extent := range tensors[i].Shape() {
			name := names[axis]
			dotted := strings.HasPrefix(name, dotIndex)
			if dotted && extent == 1 {
				continue
			}
			one, seen := first[name]
			what := "an axis of ..."
			if !dotted {
				what = "the letter " + strings.TrimPrefix(name, letterIndex)
			}
			switch {
			case !seen:
				first[name] = place{i, axis, extent}
			case one.extent != extent:
				return inputs[i].errorf(inputs[i].at(axis, len(names)), "%s has extent %d in axis %d of operand %d, but %d in axis %d of operand %d",
					what, extent, axis, i, one.extent, one.axis, one.operand)
			}
		}
	}
	for i, names := range e.operands {
		for axis, extent := range tensors[i].Shape() {
			if _, wider := first[names[axis]]; extent == 1 && wider && strings.HasPrefix(names[axis], dotIndex) {
				names[axis] = "0"
			}
		}
	}
	return nil
}

// checkResult refuses letters of the result that no operand has, and repeated ones.
func (s subscript) checkResult(inputs string) error {
	if _, err := s.letters(); err != nil {
		return err
	}
	for at, r := range s.text {
		switch {
		case r == '.':
		case !strings.ContainsRune(inputs, r):
			return s.errorf(at, "no operand has the letter %c of the result", r)
		case strings.ContainsRune(s.text[:at], r):
			return s.errorf(at, "the result has the letter %c twice", r)
		}
	}
	return nil
}

// counted writes a number and what it counts.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// Indices are named after letters so that none is a word of the language, and by number for dots.
const (
	letterIndex = "i_"
	dotIndex    = "d"
)

// subscriptNames gives the axes of an operand names: i_a for the letter a, and d0, d1, …
// for those of "...", of which the last operand-wide ones are taken.
func subscriptNames(part string, rank, dots int) []string {
	before, after, _ := strings.Cut(part, "...")
	var names []string
	for _, r := range before {
		names = append(names, letterIndex+string(r))
	}
	extra := rank - len(before) - len(after)
	for k := range extra {
		names = append(names, fmt.Sprint(dotIndex, dots-extra+k))
	}
	for _, r := range after {
		names = append(names, letterIndex+string(r))
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
