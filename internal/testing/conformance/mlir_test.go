package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// mlirFile is a file of operations on sparse tensors with their results, whose
// schema its text "about" explains.
type mlirFile struct {
	About string     `json:"about"`
	Cases []mlirCase `json:"cases"`
}

// mlirCase is one operation. The operation is an index expression or, where it
// has no such form, words for a reader.
type mlirCase struct {
	ID        string                     `json:"id"`
	Operation string                     `json:"operation"`
	Inputs    map[string]json.RawMessage `json:"inputs"`
	Expected  mlirTensor                 `json:"expected"`
	CrdWidth  int                        `json:"crdWidth"`
}

// mlirTensor is an operand or a result: entries, dense data, a generator, a
// file, a scalar, or storage arrays.
type mlirTensor struct {
	Format    string            `json:"format"`
	Shape     []int64           `json:"shape"`
	DType     string            `json:"dtype"`
	Coords    [][]int64         `json:"coords"`
	Values    []json.RawMessage `json:"values"`
	Data      []json.RawMessage `json:"data"`
	Generator string            `json:"generator"`
	File      string            `json:"file"`
	Scalar    json.RawMessage   `json:"scalar"`
	Expanded  json.RawMessage   `json:"scalar_if_symmetry_is_expanded"`
	PosWidth  int               `json:"posWidth"`
	CrdWidth  int               `json:"crdWidth"`
	Entries   [][]float64       `json:"entries"`
	Storage   *struct {
		Lvl    []int64            `json:"lvl"`
		Pos    map[string][]int64 `json:"pos"`
		Crd    map[string][]int64 `json:"crd"`
		Values []json.RawMessage  `json:"values"`
	} `json:"storage"`
}

// mlirProgram is how an operation is written in our language. The last
// statement makes the result, which is declared as the case stores it, with the
// fill 0 unless another is given.
type mlirProgram struct {
	text   string
	shapes map[string][]int64 // of helper tensors
	fill   float64            // of sparse operands and the result
	pruned bool               // compare without values that equal the fill
}

// mlirPrograms says how to run the operations that are not index expressions,
// or that our language spells differently. Where a case selects entries, which
// expressions cannot (formats never change an answer), the program gives the
// others the fill, and what is compared is the result without its zeros.
var mlirPrograms = map[string]mlirProgram{
	// Reductions that start from a given value. The language has no reduction
	// with xor: bit k of the result is the parity of the bits k.
	"reduce_xor_i32": {
		text:   "p(k) = 2^k; x = sum_k p(k)*mod(mod(floordiv(x, p(k)), 2) + sum_i mod(floordiv(a(i), p(k)), 2), 2)",
		shapes: map[string][]int64{"p": {31}},
	},
	"reduce_min_dense_semantics_nozeros": {text: "x min= min_i a(i)"},
	"reduce_prod_explicit_zero":          {text: "x *= prod_{i in a} a(i)"},
	"reduce_prod_absent_zero":            {text: "x *= prod_i a(i)"},
	"custom_sum_present2":                {text: "x = 1 + sum_{i in a} 2*(true or a(i))"},
	"custom_sum_absent3":                 {text: "x = 1 + sum_i 3*(true or a(i)) - sum_{i in a} 3*(true or a(i))"},

	// The semiring (min, +): what is not stored is infinite.
	"semiring_min_plus_csr_csr": {text: "C(i,j) = min_k (A(i,k) + B(k,j))", fill: math.Inf(1)},
	"semiring_min_plus_csr_csc": {text: "C(i,j) = min_k (A(i,k) + B(k,j))", fill: math.Inf(1)},

	"binary_mul_sparse_dense": {text: "x(i) = a(i)*d(i)"},
	"binary_set_difference":   {text: "x(i) = where(b(i) != 0, 0, a(i))", pruned: true},
	"binary_add":              {text: "X(i,j) = A(i,j) + B(i,j)"},
	"binary_triangular":       {text: "X(i,j) = A(i,j) + where(j >= i, 1, -1)*B(i,j)"},
	"unary_complement":        {text: "x(i) = not a(i)", pruned: true},
	"unary_clip":              {text: "X(i,j) = where(A(i,j) != 0, min(max(A(i,j), 3), 7), 0)"},
	"select_by_value":         {text: "x(i) = where(a(i) >= 1, a(i), 0)", pruned: true},
	"select_upper_triangle":   {text: "X(i,j) = where(j > i, A(i,j), 0)", pruned: true},
	"select_ternary_mask":     {text: "X(i,j) = where(cond(i,j), L(i,j), R(i,j))"},
	"cmp_lt_sparse_sparse":    {text: "X(i,j) = A(i,j) < B(i,j)"},

	// Joining and reshaping: elements outside an operand are its fill.
	"concat_dim0":          {text: "X(i,j) = A(k,j)*(i == k) + B(i-2,j) + C(i-5,j)", pruned: true},
	"concat_dim1":          {text: "X(i,j) = A(i,k)*(j == k) + B(i,j-2) + C(i,j-5)", pruned: true},
	"collapse_4d_to_2d":    {text: "X(i,j) = A(k,i-3*k,l,j-2*l)", pruned: true},
	"expand_1d_to_2d":      {text: "X(i,j) = a(4*i+j)"},
	"expand_2d_to_3d":      {text: "X(i,j,k) = A(i,2*j+k)"},
	"reshape_3x4_to_2x6":   {text: "X(i,j) = A(k,6*i+j-4*k)", pruned: true},
	"reshape_3x4_to_2x3x2": {text: "X(i,j,k) = A(l,6*i+2*j+k-4*l)", pruned: true},
	"quantized_matmul":     {text: "x(i,j) = (i32(a(i,k)) - 2)*i32(b(k,j))"},
	"complex_abs":          {text: "x(i) = abs(a(i))"},
	"cast_i32_to_i8_wraps": {text: "x(i) = i8(a(i))"},
	"cast_f64_to_i32":      {text: "x(i) = i32(a(i))"},
}

// TestMLIR runs the vectors of MLIR's operations in testdata/expressions and
// those in the directories of LACUNA_CONFORMANCE.
func TestMLIR(t *testing.T) {
	on := onSessions(engines(t))
	count := 0
	for _, c := range mlirCases(t) {
		count++
		t.Run(c.ID, func(t *testing.T) {
			testengine.Parallel(t)
			c.run(t, on)
		})
	}
	if count < 82 {
		t.Errorf("only %d cases ran: testdata/expressions is incomplete", count)
	}
}

// mlirCases are the cases of all files that have some.
func mlirCases(t *testing.T) (list []mlirCase) {
	t.Helper()
	for _, path := range expressionFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file mlirFile
		if json.Unmarshal(text, &file) != nil || file.About == "" || len(file.Cases) == 0 || file.Cases[0].Operation == "" {
			continue // another schema
		}
		list = append(list, file.Cases...)
	}
	return list
}

// evaluator runs a program, and says who did and what it gave.
type evaluator func(t *testing.T, program string, args lacuna.Args, opts []lacuna.Option, check func(t *testing.T, by string, got *tensor.Tensor))

// onSessions evaluates in sessions, one after the other.
func onSessions(sessions []*lacuna.Session) evaluator {
	return func(t *testing.T, program string, args lacuna.Args, opts []lacuna.Option, check func(t *testing.T, by string, got *tensor.Tensor)) {
		for _, s := range sessions {
			got, err := s.Eval(context.Background(), program, args, opts...)
			if err != nil {
				t.Errorf("%s: %s: %v", s.Engine().Name(), program, err)
				continue
			}
			check(t, s.Engine().Name(), got)
		}
	}
}

// run picks the way to run the case.
func (c *mlirCase) run(t *testing.T, on evaluator) {
	verb, _, _ := strings.Cut(c.Operation, " ")
	program, known := mlirPrograms[c.ID]
	plain := c.plain(t)
	switch {
	case known:
		c.compute(t, on, program)
	case verb == "read" || verb == "convert":
		c.convert(t, on)
	case verb == "insert":
		c.insert(t, on)
	case verb == "assemble":
		c.assemble(t)
	case plain != "":
		c.compute(t, on, mlirProgram{text: plain})
	default:
		t.Skipf("no program is known for the operation %q", c.Operation)
	}
}

var (
	assignment = regexp.MustCompile(`^(\w+)(?:\(([\w,]+)\))? (=|\+=|\*=) ([\w,.()+*/ -]+)$`)
	word       = regexp.MustCompile(`\b[\pL_]\w*\b(\()?`)
	subscripts = regexp.MustCompile(`\b(\w+)\(([\w,+*-]+)\)`)
)

// mlirFunctions are the functions that are spelled as ours.
var mlirFunctions = []string{"abs", "sqrt", "expm1", "log1p", "sin", "tanh", "ceil", "floor", "relu"}

// plain is the program of an operation that is an index expression, "" for
// another. A result that is not given starts from zero; inputs whose dimensions
// are split are accessed with the indices of the stored tensor.
func (c *mlirCase) plain(t *testing.T) string {
	m := assignment.FindStringSubmatch(c.Operation)
	if m == nil {
		return ""
	}
	left := strings.Split(m[2], ",")
	var bound []string // indices on the right
	for _, access := range subscripts.FindAllStringSubmatch(m[4], -1) {
		if _, input := c.Inputs[access[1]]; input {
			bound = append(bound, word.FindAllString(access[2], -1)...)
		}
	}
	for _, w := range word.FindAllStringSubmatch(m[4], -1) {
		name, called := strings.CutSuffix(w[0], "(")
		_, input := c.Inputs[name]
		index := slices.Contains(bound, name)
		summed := index && !slices.Contains(left, name)
		switch {
		case called && !input && !slices.Contains(mlirFunctions, name),
			!called && !index, // a tensor without indices, or prose
			summed && m[3] == "*=":
			return ""
		}
	}
	op := m[3]
	if _, given := c.Inputs[m[1]]; !given && op == "+=" {
		op = "="
	}
	result, _, _ := strings.Cut(c.Operation, " ")
	return result + " " + op + " " + subscripts.ReplaceAllStringFunc(m[4], func(access string) string {
		m := subscripts.FindStringSubmatch(access)
		if _, input := c.Inputs[m[1]]; !input {
			return access
		}
		in := c.input(t, m[1])
		l := parseLayout(t, in.Format, in.Shape)
		if len(l.axes) == len(l.dims) {
			return access
		}
		return fmt.Sprintf("%s(%s)", m[1], strings.Join(l.indices(strings.Split(m[2], ",")), ","))
	})
}

// resultName is the tensor that the last statement assigns.
func resultName(program string) string {
	last := program[strings.LastIndex(program, ";")+1:]
	return regexp.MustCompile(`\w+`).FindString(last)
}

// compute runs a program on the case's inputs with every engine.
func (c *mlirCase) compute(t *testing.T, on evaluator, p mlirProgram) {
	args := lacuna.Args{}
	for name := range c.Inputs {
		args[name] = c.operand(t, name, p.fill)
	}
	c.evaluate(t, on, p, args)
}

// evaluate runs a program on args and compares the result.
func (c *mlirCase) evaluate(t *testing.T, on evaluator, p mlirProgram, args lacuna.Args) {
	var opts []lacuna.Option
	for name, shape := range p.shapes {
		opts = append(opts, lacuna.Shape(name, shape...))
	}
	name, want := resultName(p.text), c.Expected
	if want.Format != "" {
		l := parseLayout(t, want.Format, want.Shape)
		opts = append(opts, lacuna.Result(name, l.format), lacuna.Shape(name, l.shape...))
		opts = append(opts, lacuna.ResultType(name, want.dtype(t)))
		opts = append(opts, lacuna.Fill(name, tensor.Float(want.dtype(t), p.fill)))
	}
	on(t, p.text, args, opts, func(t *testing.T, by string, got *tensor.Tensor) {
		if p.pruned {
			got = pruned(t, got)
		}
		c.check(t, by+": "+p.text, got)
	})
}

// pruned stores a tensor again without the values that equal its fill.
func pruned(t *testing.T, a *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	full, err := a.Convert(tensor.Dense(a.Rank()))
	if err != nil {
		t.Fatal(err)
	}
	out, err := full.Convert(a.Format())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// input decodes an input.
func (c *mlirCase) input(t *testing.T, name string) mlirTensor {
	t.Helper()
	var in mlirTensor
	if err := json.Unmarshal(c.Inputs[name], &in); err != nil {
		t.Fatalf("input %s: %v", name, err)
	}
	if in.DType != "" {
		return in
	}
	in.DType = c.Expected.DType
	if strings.Contains(in.Generator, "==") {
		in.DType = "bool"
	}
	for _, other := range slices.Sorted(maps.Keys(c.Inputs)) { // a scalar is as its neighbours
		var o mlirTensor
		if in.DType == "" && json.Unmarshal(c.Inputs[other], &o) == nil {
			in.DType = o.DType
		}
	}
	return in
}

// operand builds an input as it is stored.
func (c *mlirCase) operand(t *testing.T, name string, fill float64) *tensor.Tensor {
	t.Helper()
	in := c.input(t, name)
	dt := in.dtype(t)
	if in.Scalar != nil {
		return tensor.ScalarTensor(mlirScalar(t, in.Scalar, dt))
	}
	l := parseLayout(t, in.Format, in.Shape)
	opts := []tensor.Option{tensor.WithIndexTypes(width(t, in.PosWidth), width(t, in.CrdWidth))}
	if !l.format.IsDense() {
		opts = append(opts, tensor.WithFill(tensor.Float(dt, fill)))
	}
	var out *tensor.Tensor
	var err error
	switch {
	case in.File != "":
		out = readMatrixMarket(t, in.File, l.format)
	case in.Coords != nil:
		out, err = tensor.FromCoords(l.shape, l.format, l.split(in.Coords), mlirValues(t, in.Values, dt), opts...)
	case in.Data != nil:
		out, err = tensor.FromDense(l.shape, l.format, mlirValues(t, in.Data, dt), opts...)
	default:
		out, err = tensor.FromDense(l.shape, l.format, generate(t, in.Generator, c.letters(name), in.Shape, dt), opts...)
	}
	if err != nil {
		t.Fatalf("input %s: %v", name, err)
	}
	return out
}

// letters are the indices of a tensor in the operation.
func (c *mlirCase) letters(name string) []string {
	m := regexp.MustCompile(`\b` + name + `\(([\w,]+)\)`).FindStringSubmatch(c.Operation)
	if m == nil {
		return []string{"i", "j", "k", "l"}
	}
	return strings.Split(m[1], ",")
}

// check compares a result with the expected scalar, dense data or storage.
func (c *mlirCase) check(t *testing.T, how string, got *tensor.Tensor) {
	t.Helper()
	want := c.Expected
	switch {
	case want.Expanded != nil: // the scalar beside it is a known mistake
		checkValues(t, how, got.Values(), []json.RawMessage{want.Expanded})
	case want.Scalar != nil:
		checkValues(t, how, got.Values(), []json.RawMessage{want.Scalar})
	case want.Data != nil:
		dense, err := got.ToDense()
		if err != nil {
			t.Fatal(err)
		}
		checkValues(t, how, dense, want.Data)
	case want.Storage != nil:
		c.checkStorage(t, how, got)
	default:
		t.Fatal("the case expects nothing")
	}
}

// checkValues compares values in their order.
func checkValues(t *testing.T, how string, got tensor.Array, want []json.RawMessage) {
	t.Helper()
	if got.Len() != len(want) {
		t.Errorf("%s: %d values, want %d", how, got.Len(), len(want))
		return
	}
	for i, raw := range want {
		g, w := got.Scalar(i), mlirNumber(t, raw)
		if !near(real(g.Complex128()), real(w), got.DType(), raw) || !near(imag(g.Complex128()), imag(w), got.DType(), raw) {
			t.Errorf("%s: value %d is %v, want %s", how, i, g, raw)
		}
	}
}

// near compares parts of numbers: exactly for integers, else with room for the
// last bits of the type, and for the digits that a decimal number leaves out.
func near(got, want float64, dt tensor.DType, raw json.RawMessage) bool {
	room := map[tensor.DType]float64{
		tensor.BFloat16: 1.0 / 128, tensor.Float16: 1.0 / 1024,
		tensor.Float32: 1e-6, tensor.Complex64: 1e-6,
		tensor.Float64: 1e-14, tensor.Complex128: 1e-14,
	}[dt] * math.Abs(want)
	if _, fraction, _ := strings.Cut(string(raw), "."); len(fraction) >= 8 && dt.IsFloat() {
		room = max(room, 0.5*math.Pow(10, -float64(len(fraction))))
	}
	if got == 0 && want == 0 {
		return math.Signbit(got) == math.Signbit(want)
	}
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= room
}
