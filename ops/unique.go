package ops

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Inverse lets [Unique] tell for each element which of the unique ones it is.
func Inverse() Option { return func(s *settings) { s.inverse = true } }

// Uniques are the elements of a tensor without repetitions.
type Uniques struct {
	// Values are in ascending order; NaN, of which there is at most one, is the last. Of equal values
	// that differ in their bits, as 0 and -0, it is the first that is stored.
	Values *tensor.Tensor
	// Counts has, of i64, how often each occurs.
	Counts *tensor.Tensor
	// Inverse has, with the option [Inverse], the place in Values of every element: a tensor of i64 that
	// stores what A does. Otherwise it is nil.
	Inverse *tensor.Tensor
}

// Unique lists the different elements of a tensor and how often each occurs, like NumPy's unique: two dense vectors. The
// gaps of a sparse tensor are one run of elements equal to the fill: the cost is that of sorting the entries.
//
// It takes no [Axes]: NumPy and torch compare whole slices with one. [UniqueAlong] looks at each line by itself.
func Unique(ctx context.Context, A *tensor.Tensor, opts ...Option) (Uniques, error) {
	op, err := begin(ctx, "Unique", opts, A)
	if err != nil {
		return Uniques{}, err
	}
	if op.hasAxes {
		return Uniques{}, op.failf("the result is of all elements: leave Axes out, or use UniqueAlong")
	}
	u, err := op.newUnique(A)
	if err != nil {
		return Uniques{}, err
	}
	size, fits := elements(u.from.Shape())
	if !fits {
		return Uniques{}, op.failf("the tensor has more than 2^63 elements, extents %v, and their counts do not fit i64: look at lines along an axis, or at ranges, one after the other", A.Shape())
	}
	if stored := int64(u.from.Values().Len()); size > stored {
		u.add(op.numbers(u.fill), op.numbers(tensor.Int(tensor.Int64, size-stored)), nil)
	}
	out := Uniques{Values: u.empty(u.values.DType()), Counts: u.empty(tensor.Int64)}
	if size > 0 {
		u.sort()
		out.Values, out.Counts = u.ask("R(j) = V(f(j))"), u.counts()
	}
	if op.inverse {
		out.Inverse = u.places()
	}
	if u.err == nil && op.format != nil {
		out.Values, u.err = op.convert(out.Values, *op.format)
		if u.err == nil {
			out.Counts, u.err = op.convert(out.Counts, *op.format)
		}
	}
	return out, u.err
}

// UniqueAlong lists the different elements of every line along an axis (a negative one counts from the end), and how often each occurs: tensors with the
// shape of A, but along the axis they are as long as the longest list. Lines have lists of different lengths: what
// is behind the end of one is not stored, and 0. The results are lists of coordinates unless [StoredAs] says otherwise.
//
// The cost is that of sorting the entries, and of one element for each line.
func UniqueAlong(ctx context.Context, A *tensor.Tensor, axis int, opts ...Option) (Uniques, error) {
	op, err := begin(ctx, "UniqueAlong", opts, A)
	if err != nil {
		return Uniques{}, err
	}
	switch {
	case op.hasAxes:
		return Uniques{}, op.failf("the axis is an argument: leave Axes out")
	case op.inverse:
		return Uniques{}, op.failf("Inverse means nothing here, as gaps have another place in each line: leave it out, or use Unique, which has it for the whole tensor")
	}
	op.axes, op.hasAxes = []int{axis}, true
	along, err := op.reducedAxes(A.Rank())
	if err != nil {
		return Uniques{}, err
	}
	u, err := op.newUnique(A)
	if err != nil {
		return Uniques{}, err
	}
	return u.alongAxis(slices.Index(along, true))
}

// unique is the search for unique elements: vectors of the elements that are stored, and of one for the gaps of
// each line. Its methods do nothing after an error.
type unique struct {
	*operation
	wanted *tensor.Format // of the result, nil for the function's choice
	from   *tensor.Tensor
	fill   tensor.Scalar
	values *tensor.Tensor // V: the elements
	weight *tensor.Tensor // W: how many elements each stands for
	line   *tensor.Tensor // L: the line that each is in; nil if there is one
	// What sort finds: the order of the elements (p), by place in it the number of the unique element (k), and by
	// number the first element that has it (f).
	order, number, first *tensor.Tensor
	err                  error
}

// newUnique takes the elements of a tensor that are stored.
func (op *operation) newUnique(A *tensor.Tensor) (*unique, error) {
	if err := op.refuse("unique elements", slices.Concat(op.ofScans(), op.ofQuantiles(), []given{{"Smallest", op.smallest}})...); err != nil {
		return nil, err
	}
	switch {
	case op.elementType(A).IsComplex():
		return nil, op.fail(errComplexOrder)
	case op.stored, op.keepDims, op.descending:
		return nil, op.failf("all elements count, and the result is in ascending order: leave Stored, KeepDims and Descending out")
	}
	A, err := op.plain(A)
	if err != nil {
		return nil, err
	}
	plain := *op
	plain.format = nil
	u := &unique{operation: &plain, wanted: op.format, from: A, fill: A.Fill().Convert(op.elementType(A))}
	u.values = vectorOf(A.Values())
	if op.dtype.Valid() && op.dtype != A.DType() {
		u.values = u.ask(fmt.Sprintf("R(i) = %s(V(i))", op.dtype))
	}
	u.weight = u.ask("R(i) = like(1, V(i))")
	return u, u.err
}

// zeros is a vector of n zeros.
func (u *unique) zeros(n int64) *tensor.Tensor {
	return u.made(tensor.MakeArray(tensor.Int64, int(n)))
}

func (u *unique) empty(dt tensor.DType) *tensor.Tensor {
	return u.made(tensor.MakeArray(dt, 0))
}

// made is a new array as a vector.
func (u *unique) made(values tensor.Array, err error) *tensor.Tensor {
	if u.note(err); err != nil {
		return nil
	}
	return vectorOf(values)
}

// numbers is a vector of one number.
func (op *operation) numbers(x tensor.Scalar) *tensor.Tensor {
	out, err := tensor.ScalarTensor(x).Reshape([]int64{1}, tensor.Dense(1))
	if err != nil {
		panic("BUG: a vector of one number: " + err.Error())
	}
	return out
}

// note keeps the first error.
func (u *unique) note(err error) {
	if u.err == nil {
		u.err = u.fail(err)
	}
}

// ask runs a program whose result is a dense vector. Its operands are the vectors of u by the names that
// the fields tell, and those given in more.
func (u *unique) ask(text string, more ...lacuna.Args) *tensor.Tensor {
	if u.err != nil {
		return nil
	}
	args := lacuna.Args{}
	note := func(name string, t *tensor.Tensor) {
		if t != nil && strings.Contains(text, name+"(") {
			args[name] = t
		}
	}
	note("V", u.values)
	note("W", u.weight)
	note("L", u.line)
	note("p", u.order)
	note("k", u.number)
	note("f", u.first)
	for _, m := range more {
		for name, t := range m {
			args[name] = t
		}
	}
	out, err := u.run(text, args, lacuna.Result("R", tensor.Dense(1)))
	u.err = err
	return out
}

// add appends elements.
func (u *unique) add(values, weight, line *tensor.Tensor) {
	u.values, u.weight = u.joined(u.values, values), u.joined(u.weight, weight)
	if line != nil {
		u.line = u.joined(u.line, line)
	}
}

func (u *unique) joined(x, y *tensor.Tensor) *tensor.Tensor {
	if u.err != nil {
		return nil
	}
	// Of dense vectors the fills do not matter, but must agree here.
	out, err := u.concat(0, tensor.Dense(1), vectorOf(x.Values()), vectorOf(y.Values()))
	u.err = err
	return out
}

// sort orders the elements by line and value, and numbers what is different.
func (u *unique) sort() {
	order, lines := "R(i) = argsort_i V(i)", ""
	same := "v(i) == v(i-1) or v(i) != v(i) and v(i-1) != v(i-1)"
	if u.line != nil { // a stable sort by value and then one by line
		order = "a(i) = argsort_i V(i); b(i) = L(a(i)); c(i) = argsort_i b(i); R(i) = a(c(i))"
		lines = "l(i) = L(p(i)); "
		same = "l(i) == l(i-1) and (" + same + ")"
	}
	u.order = u.ask(order)
	u.number = u.ask("v(i) = V(p(i)); " + lines + "R(i) = cumsum_i where(i > 0 and (" + same + "), 0, 1) - 1")
	u.first = u.ask("R(k(i)) += where(i == 0 or k(i) != k(i-1), p(i), 0)", lacuna.Args{"R": u.zeros(u.last(u.number) + 1)})
}

// last is the last element of a vector of i64 that never falls, -1 if it has none.
func (u *unique) last(v *tensor.Tensor) int64 {
	if u.err != nil || v.Shape()[0] == 0 {
		return -1
	}
	return u.one("R = max_i v(i)", lacuna.Args{"v": v}).Int64()
}

// one is the number that a program computes of vectors of i64.
func (u *unique) one(text string, args lacuna.Args) tensor.Scalar {
	if u.err != nil {
		return tensor.Zero(tensor.Int64)
	}
	out, err := u.run(text, args)
	if u.err = err; err == nil {
		u.note(out.Fetch())
	}
	if u.err != nil {
		return tensor.Zero(tensor.Int64)
	}
	return out.At()
}

// counts adds the weights of equal elements.
func (u *unique) counts() *tensor.Tensor {
	return u.ask("w(i) = W(p(i)); R(k(i)) += w(i)", lacuna.Args{"R": u.zeros(u.last(u.number) + 1)})
}

// places is the number of the unique element that each element of the operand is.
func (u *unique) places() *tensor.Tensor {
	stored := int64(u.from.Values().Len())
	places, fill := u.zeros(0), tensor.Zero(tensor.Int64)
	if u.number != nil {
		places = u.ask("R(p(i)) += k(i)", lacuna.Args{"R": u.zeros(u.order.Shape()[0])})
		if u.err == nil && places.Shape()[0] > stored { // the last is the run of gaps
			fill = u.one("R = sum_i where(i == n, v(i), 0)", lacuna.Args{"v": places, "n": tensor.ScalarTensor(tensor.Int(tensor.Int64, stored))})
			places = u.ask(fmt.Sprintf("R(:) = I(0:%d)", stored), lacuna.Args{"I": places})
		}
	}
	if u.err != nil {
		return nil
	}
	out, err := u.from.WithValues(places.Values(), nil, tensor.WithFill(fill))
	u.note(err)
	return out
}

// alongAxis finds the unique elements of the lines along an axis.
func (u *unique) alongAxis(axis int) (Uniques, error) {
	shape := u.from.Shape()
	length := shape[axis]
	others := slices.Clone(shape)
	others[axis] = 1
	count, fits := elements(others)
	if !fits || count > math.MaxInt {
		return Uniques{}, u.failf("there are more than 2^63 lines along axis %d", axis)
	}
	u.findLines(axis)
	if length > 0 {
		u.addGaps(count, length)
	}
	longest := int64(0)
	coords := make([]tensor.Array, len(shape))
	for k := range coords {
		coords[k] = tensor.ArrayOf([]int64(nil))
	}
	values, counts := u.empty(u.values.DType()), u.empty(tensor.Int64)
	if count > 0 && length > 0 {
		u.sort()
		values, counts = u.ask("R(j) = V(f(j))"), u.counts()
		lines := u.ask("R(j) = L(f(j))")
		// The number of the first unique element of each line.
		begin := u.ask("R(l(j)) += where(j == 0 or l(j) != l(j-1), j, 0)", lacuna.Args{"l": lines, "R": u.zeros(count)})
		place := u.ask("R(j) = j - b(l(j))", lacuna.Args{"l": lines, "b": begin})
		longest = u.last(u.ask("R(j) = cummax_j r(j)", lacuna.Args{"r": place})) + 1
		stride := int64(1)
		for k := len(shape) - 1; k >= 0; k-- {
			at := place
			if k != axis {
				at = u.ask(fmt.Sprintf("R(j) = mod(floordiv(l(j), %d), %d)", stride, shape[k]), lacuna.Args{"l": lines})
				stride *= shape[k]
			}
			if u.err != nil {
				return Uniques{}, u.err
			}
			coords[k] = at.Values()
		}
	}
	if u.err != nil {
		return Uniques{}, u.err
	}
	shape[axis] = longest
	format := tensor.Coordinates(len(shape))
	if u.wanted != nil {
		format = *u.wanted
	}
	assemble := func(v *tensor.Tensor) *tensor.Tensor {
		if u.err != nil {
			return nil
		}
		out, err := u.fromCoords(shape, format, coords, v.Values())
		u.err = err
		return out
	}
	return Uniques{Values: assemble(values), Counts: assemble(counts)}, u.err
}

// findLines numbers the lines along an axis in row-major order, and finds that of each element.
func (u *unique) findLines(axis int) {
	if u.err != nil {
		return
	}
	coords := u.coordinates()
	if u.err != nil {
		return
	}
	number := "i64(0)"
	args := lacuna.Args{}
	for k, n := range u.from.Shape() {
		if k == axis {
			continue
		}
		name := fmt.Sprintf("c%d", k)
		number = fmt.Sprintf("(%s)*%d + i64(%s(i))", number, n, name)
		args[name] = vectorOf(coords[k])
	}
	u.line = u.ask("R(i) = like("+number+", V(i))", args)
}

// coordinates are those of the elements, in the order of the values, by axis.
func (u *unique) coordinates() []tensor.Array {
	coords := make([]tensor.Array, u.from.Rank())
	if u.from.Values().Fetched() {
		all, _, err := u.from.ToCoords()
		u.note(err)
		for axis := range all {
			coords[axis] = tensor.ArrayOf(all[axis])
		}
		return coords
	}
	names, format := indices(u.from.Rank()), u.from.Format()
	element := access("A", names)
	for axis, name := range names {
		text := fmt.Sprintf("%s = where(stored(%s), %s, 0)", access("R", names), element, name)
		if format.IsDense() {
			text = fmt.Sprintf("%s = where(%s == %s, %s, %s)", access("R", names), element, element, name, name)
		}
		if u.err != nil {
			return coords
		}
		out, err := u.run(text, lacuna.Args{"A": u.from}, lacuna.Result("R", format), lacuna.ResultType("R", tensor.Int64), lacuna.Fill("R", tensor.Zero(tensor.Int64)))
		if u.err = err; err == nil {
			coords[axis] = out.Values()
		}
	}
	return coords
}

// addGaps adds an element for the gaps of each line that has some.
func (u *unique) addGaps(count, length int64) {
	stored := int64(u.from.Values().Len())
	if all, fits := elements([]int64{count, length}); fits && all == stored {
		return
	}
	gaps := u.ask("R(L(i)) += 1", lacuna.Args{"R": u.zeros(count)})
	gaps = u.ask(fmt.Sprintf("R(i) = %d - g(i)", length), lacuna.Args{"g": gaps})
	lines := u.ask("R(i) = like(i, g(i))", lacuna.Args{"g": gaps})
	if u.err != nil {
		return
	}
	with := func(x *tensor.Tensor) *tensor.Tensor {
		if u.err != nil {
			return nil
		}
		out, err := MaskedSelect(u.ctx, x, gaps, In(u.session))
		u.note(err)
		return out
	}
	lines, gaps = with(lines), with(gaps)
	fill := u.ask("R(i) = like(s, g(i))", lacuna.Args{"s": tensor.ScalarTensor(u.fill), "g": gaps})
	u.add(fill, gaps, lines)
}

// elements is the number of elements of a shape, and whether it fits i64.
func elements(shape []int64) (int64, bool) {
	size, fits := int64(1), true
	for _, n := range shape {
		if n == 0 {
			return 0, true
		}
		if size > math.MaxInt64/n {
			fits = false
			continue
		}
		size *= n
	}
	return size, fits
}
