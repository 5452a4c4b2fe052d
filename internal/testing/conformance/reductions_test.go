package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// reductionFile is a file of vectors for one reduction; testdata/reductions/README.md
// describes the schema.
type reductionFile struct {
	Schema  string                     `json:"schema"`
	Op      string                     `json:"op"`
	Tensors map[string]reductionTensor `json:"tensors"`
	Cases   []reductionCase            `json:"cases"`
}

type reductionTensor struct {
	Format string          `json:"format"`
	Shape  []int64         `json:"shape"`
	DType  string          `json:"dtype"`
	Fill   json.RawMessage `json:"fill"`
	Data   json.RawMessage `json:"data"`
	Values json.RawMessage `json:"values"`
	Coords [][]int64       `json:"coords"`
	Pos    []int64         `json:"pos"`
	Crd    []int64         `json:"crd"`
}

type reductionCase struct {
	ID   string `json:"id"`
	Dir  string `json:"dir"`
	In   string `json:"in"`
	Args struct {
		Axis      json.RawMessage `json:"axis"`
		KeepDim   bool            `json:"keepdim"`
		DType     string          `json:"dtype"`
		Exclusive bool            `json:"exclusive"`
		Reverse   bool            `json:"reverse"`
		Q         json.RawMessage `json:"q"`
		Method    string          `json:"method"`
		Mode      string          `json:"mode"`
	} `json:"args"`
	Implicit string          `json:"implicit"`
	GradOut  json.RawMessage `json:"grad_out"`
	Expect   struct {
		Error    string          `json:"error"`
		Shape    []int64         `json:"shape"`
		DType    string          `json:"dtype"`
		DTypeAlt string          `json:"dtype_alt"`
		Data     json.RawMessage `json:"data"`
		// Pattern has a 1 for each element that some stored entry maps to.
		Pattern    string          `json:"pattern"`
		Grad       json.RawMessage `json:"grad"`
		GradStored json.RawMessage `json:"grad_stored"`
	} `json:"expect"`
	Tol struct {
		Abs float64 `json:"atol"`
		Rel float64 `json:"rtol"`
	} `json:"tol"`
}

// reductionErrors are our codes for the errors of the vectors.
var reductionErrors = map[string]lang.Code{
	"axis_out_of_range": lang.ErrNoExtent,
	"duplicate_axis":    lang.ErrBoundTwice,
	"empty_reduction":   lang.ErrEmptyReduction,
	"q_out_of_range":    lang.ErrRange,
	"q_empty":           lang.ErrEmptyReduction,
	"bad_method":        lang.ErrOption,
}

var allThreads = flag.Bool("all-threads", false, "run the vectors of reductions with 1, 2 and 7 threads on every engine")

// reductionSessions are sessions whose results must agree to the bit: the interpreter
// with 1 and 7 threads and the compiler with 2 or, with -all-threads, both with 1, 2
// and 7, on data cut into chunks of a few elements.
func reductionSessions(t *testing.T) []*lacuna.Session {
	if e := testengine.Named(t); e != nil {
		return []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(e))}
	}
	defer func(grain int64) { debug.ChunkGrain = grain }(debug.ChunkGrain)
	debug.ChunkGrain = 3
	var sessions []*lacuna.Session
	add := func(e runtime.Engine, some ...int) {
		if *allThreads {
			some = []int{1, 2, 7}
		}
		for _, threads := range some {
			sessions = append(sessions, lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithThreads(threads)))
		}
	}
	add(runtime.Interp(), 1, 7)
	if cpu, err := runtime.CPU(); err == nil {
		add(cpu, 2)
	} else {
		t.Logf("interpreter only: %v", err)
	}
	return sessions
}

// TestReductions runs the forward cases of the vectors in testdata/reductions: each
// operand as it is given, by all sessions, and stored in other formats by one.
func TestReductions(t *testing.T) {
	sessions := reductionSessions(t)
	paths, err := filepath.Glob(filepath.Join("testdata", "reductions", "*.json"))
	if err != nil || len(paths) < 13 {
		t.Fatalf("testdata/reductions has %d files, %v", len(paths), err)
	}
	ran := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file reductionFile
		if err := json.Unmarshal(text, &file); err != nil || file.Schema != "semcases/1" {
			t.Fatalf("%s: schema %q, %v", path, file.Schema, err)
		}
		for i := range file.Cases {
			c := &file.Cases[i]
			if c.Dir != "fwd" {
				continue
			}
			ran++
			sessions := sessions
			if !*allThreads && (!overLines(file.Op) || testengine.Thin(3, i)) {
				sessions = sessions[:min(2, len(sessions))]
			}
			t.Run(c.ID, func(t *testing.T) {
				testengine.Parallel(t)
				in := file.Tensors[c.In]
				c.run(t, file.Op, in.build(t), sessions, i)
			})
		}
	}
	if ran < 800 {
		t.Errorf("only %d cases ran", ran)
	}
}

// overLines reports whether an operation is no fold: of those, all cases are compiled
// to machine code by default, folds being compiled elsewhere.
func overLines(op string) bool {
	return strings.Contains(op, "cum") || strings.Contains(op, "quantile") || op == "median"
}

// run compares the results of a case, which is the turn-th of its file.
func (c *reductionCase) run(t *testing.T, op string, in *tensor.Tensor, sessions []*lacuna.Session, turn int) {
	text, q := c.program(t, op, in)
	args := lacuna.Args{"A": in}
	if q != nil {
		args["q"] = q
	}
	if c.Expect.Error != "" {
		want := reductionErrors[c.Expect.Error]
		for _, s := range sessions {
			_, err := s.Eval(context.Background(), text, args)
			if !hasLangCode(err, want) {
				t.Errorf("%s: got error %v, want %s (%s)", text, err, want, c.Expect.Error)
			}
		}
		return
	}
	var first *tensor.Tensor
	for i, s := range sessions {
		got, err := s.Eval(context.Background(), text, args)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if i == 0 {
			first = got
			c.check(t, text, got)
			continue
		}
		if d := tensor.Diff(first, got); d != "" {
			t.Errorf("%s: session %d differs: %s", text, i, d)
		}
	}
	if in.Format().IsDense() && c.Implicit == "skip" {
		return
	}
	for k, format := range otherFormats(in.Rank()) {
		if testengine.Thin(3, turn, k) || in.Format().IsDense() != format.IsDense() && c.Implicit == "skip" || format == in.Format() {
			continue
		}
		stored, err := in.Convert(format)
		if err != nil {
			t.Fatal(err)
		}
		args["A"] = stored
		got, err := sessions[len(sessions)-1].Eval(context.Background(), text, args)
		if err != nil {
			t.Fatalf("%s, A: %s: %v", text, format, err)
		}
		c.check(t, fmt.Sprintf("%s, A: %s", text, format), got)
	}
}

func hasLangCode(err error, code lang.Code) bool {
	var list lang.Errors
	if errors.As(err, &list) {
		return slices.ContainsFunc(list, func(e *lang.Error) bool { return e.Code == code })
	}
	var one *lang.Error
	return errors.As(err, &one) && one.Code == code
}

// otherFormats are formats of the rank, in several axis orders.
func otherFormats(rank int) []tensor.Format {
	if rank == 0 {
		return nil
	}
	reversed := make([]int, rank)
	for i := range reversed {
		reversed[i] = rank - 1 - i
	}
	list := []tensor.Format{tensor.Dense(rank), tensor.CSF(rank), tensor.Coordinates(rank)}
	for _, f := range slices.Clone(list) {
		if other, err := f.WithOrder(reversed); err == nil && rank > 1 {
			list = append(list, other)
		}
	}
	if rank == 2 {
		list = append(list, tensor.CSR, tensor.CSC)
	}
	return list
}

// program writes the case in the language, and its orders as a tensor.
func (c *reductionCase) program(t *testing.T, op string, in *tensor.Tensor) (text string, q *tensor.Tensor) {
	rank := in.Rank()
	axes, scan := c.axes(t, rank), strings.Contains(op, "cum")
	var names, left, over []string
	for axis := range rank {
		names = append(names, fmt.Sprintf("i%d", axis))
		if scan || !slices.Contains(axes, axis) {
			left = append(left, names[axis])
		}
	}
	for _, axis := range axes {
		name := fmt.Sprintf("i%d", axis)
		if c.Implicit == "skip" {
			name += " in A"
		}
		over = append(over, name)
	}
	body := access("A", names)
	if c.Args.DType != "" {
		body = c.Args.DType + "(" + body + ")"
	}
	word, options := op+"_{"+strings.Join(over, ", ")+"}", []string(nil)
	if c.Args.Exclusive {
		options = append(options, "exclusive")
	}
	if c.Args.Reverse {
		options = append(options, "reverse")
	}
	if c.Args.Method != "" {
		options = append(options, c.Args.Method)
	}
	if c.Args.Mode == "min" {
		options = append(options, "lower")
	}
	if len(options) > 0 {
		word += "[" + strings.Join(options, ", ") + "]"
	}
	if len(over) == 0 { // of a tensor of rank 0
		t.Skip("no axis to run over")
	}
	right := word + " " + body
	if c.Args.DType != "" {
		right = c.Args.DType + "(" + right + ")"
	}
	if c.Args.Q != nil {
		order := ""
		order, q = c.orders(t)
		if q != nil {
			left = append([]string{"k"}, left...)
		}
		right = fmt.Sprintf("%s(%s, %s)", word, body, order)
	}
	return access("y", left) + " = " + right, q
}

func access(name string, indices []string) string {
	if len(indices) == 0 {
		return name
	}
	return name + "(" + strings.Join(indices, ",") + ")"
}

// axes lists the axes of the case, all if it names none.
func (c *reductionCase) axes(t *testing.T, rank int) []int {
	var list []int
	var one int
	switch raw := c.Args.Axis; {
	case raw == nil || string(raw) == "null":
		for axis := range rank {
			list = append(list, axis)
		}
		return list
	case json.Unmarshal(raw, &one) == nil:
		list = []int{one}
	default:
		unmarshal(t, raw, &list)
	}
	for i, axis := range list {
		if axis < 0 && axis >= -rank {
			list[i] = axis + rank
		} else if axis < 0 {
			list[i] = rank - axis // none of A's
		}
	}
	return list
}

// orders is the second argument of a quantile: a number, or a tensor of them.
func (c *reductionCase) orders(t *testing.T) (text string, q *tensor.Tensor) {
	if c.Args.Q[0] != '[' {
		return strings.Trim(string(c.Args.Q), `"`), nil
	}
	values := scalars(t, c.Args.Q, tensor.Float64)
	array, err := tensor.MakeArray(tensor.Float64, len(values))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		array.SetScalar(i, *v)
	}
	q, err = tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), array)
	if err != nil {
		t.Fatal(err)
	}
	return "q(k)", q
}

// check compares a result with what is expected. keepdim is left out: an axis of
// extent 1 holds the same values.
func (c *reductionCase) check(t *testing.T, what string, got *tensor.Tensor) {
	t.Helper()
	if dt := got.DType().String(); dt != c.Expect.DType && dt != c.Expect.DTypeAlt {
		t.Errorf("%s: result is %s, want %s", what, dt, c.Expect.DType)
	}
	dense, err := got.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	want := scalars(t, c.Expect.Data, got.DType())
	if dense.Len() != len(want) {
		t.Errorf("%s: result has shape %v, want %v", what, got.Shape(), c.Expect.Shape)
		return
	}
	for i, w := range want {
		if w != nil && !c.close(dense.Scalar(i), *w) {
			t.Errorf("%s: element %d is %v, want %v", what, i, dense.Scalar(i), *w)
			return
		}
	}
}

// close compares two values as the README of the vectors says.
func (c *reductionCase) close(got, want tensor.Scalar) bool {
	if !want.DType().IsFloat() {
		return got == want
	}
	g, w := got.Float64(), want.Float64()
	if g == w || math.IsNaN(g) && math.IsNaN(w) {
		return true
	}
	return math.Abs(g-w) <= c.Tol.Abs+c.Tol.Rel*math.Abs(w)
}

// build makes the tensor.
func (r *reductionTensor) build(t *testing.T) *tensor.Tensor {
	dt, err := tensor.ParseDType(r.DType)
	if err != nil {
		t.Fatal(err)
	}
	raw := r.Values
	if r.Format == "dense" {
		raw = r.Data
	}
	values := scalars(t, raw, dt)
	array, err := tensor.MakeArray(dt, len(values))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		array.SetScalar(i, *v)
	}
	fill := tensor.Zero(dt)
	if r.Fill != nil {
		fill = *scalars(t, slices.Concat([]byte("["), r.Fill, []byte("]")), dt)[0]
	}
	var out *tensor.Tensor
	switch r.Format {
	case "dense":
		out, err = tensor.FromDense(r.Shape, tensor.Dense(len(r.Shape)), array)
	case "coo":
		out, err = tensor.FromCoords(r.Shape, tensor.Coordinates(len(r.Shape)), r.Coords, array, tensor.WithFill(fill))
	case "csr":
		out, err = tensor.FromCoords(r.Shape, tensor.CSR, r.rows(), array, tensor.WithFill(fill))
	case "csr3":
		out, err = tensor.FromCoords(r.Shape, tensor.CSF(3), r.rows(), array, tensor.WithFill(fill))
	default:
		t.Fatalf("unknown format %q", r.Format)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rows gives the coordinates of compressed rows, of several matrices for csr3, whose
// positions start at 0 in each.
func (r *reductionTensor) rows() [][]int64 {
	rank := len(r.Shape)
	coords := make([][]int64, rank)
	rows := r.Shape[rank-2]
	at := 0
	for first := 0; first+int(rows) < len(r.Pos); first += int(rows) + 1 {
		for i := range rows {
			for range r.Pos[first+int(i)+1] - r.Pos[first+int(i)] {
				if rank == 3 {
					coords[0] = append(coords[0], int64(first)/(rows+1))
				}
				coords[rank-2] = append(coords[rank-2], i)
				coords[rank-1] = append(coords[rank-1], r.Crd[at])
				at++
			}
		}
	}
	for axis := range coords {
		if coords[axis] == nil {
			coords[axis] = []int64{}
		}
	}
	return coords
}

// scalars reads a list of numbers of a type; nil stands for an absent one.
func scalars(t *testing.T, raw json.RawMessage, dt tensor.DType) []*tensor.Scalar {
	t.Helper()
	var list []*tensor.Scalar
	if len(raw) > 0 && raw[0] == '"' { // of bools
		var text string
		unmarshal(t, raw, &text)
		for _, ch := range text {
			v := tensor.Truth(ch == '1')
			if list = append(list, &v); ch == '-' {
				list[len(list)-1] = nil
			}
		}
		return list
	}
	var items []any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&items); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for _, item := range items {
		if item == nil {
			list = append(list, nil)
			continue
		}
		text := fmt.Sprint(item)
		v, err := tensor.ParseScalar(text, dt)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &v)
	}
	return list
}

func unmarshal(t *testing.T, raw json.RawMessage, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}
