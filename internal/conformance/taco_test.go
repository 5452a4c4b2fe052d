package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensorio"
)

// tacoFile is a file of expression vectors in the schema sparse-conformance/1.
type tacoFile struct {
	Schema string     `json:"schema"`
	Cases  []tacoCase `json:"cases"`
}

// tacoCase is one expression with its operands and result.
type tacoCase struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Expr string `json:"expr"`
	// Concrete is the expression as loops; some cases have nothing else.
	Concrete string          `json:"concrete"`
	Einsum   *string         `json:"einsum"`
	Inputs   []tacoTensor    `json:"inputs"`
	InOut    *tacoTensor     `json:"inout"`
	Output   tacoTensor      `json:"output"`
	Ops      json.RawMessage `json:"ops"`
	Why      string          `json:"why"`
	Formats  map[string]string
	Dims     map[string][]int64 `json:"dims"`
	File     *struct {
		Format, Text string
	} `json:"file"`
	Expect struct {
		Dense   []json.RawMessage `json:"dense"`
		Storage *struct {
			Levels []struct {
				Kind     string
				Pos, Crd []int64
			}
			Vals []json.RawMessage
		} `json:"storage"`
		Dims    []int64             `json:"dims"`
		Entries [][]json.RawMessage `json:"entries"`
	} `json:"expect"`
}

type tacoTensor struct {
	Name   string
	DType  string
	Dims   []int64
	Format struct {
		Levels []string
		Order  []int
	}
	Fill    float64
	Entries [][]json.RawMessage
}

// skippedExpressions lists the cases that are not run, and why.
var skippedExpressions = map[string]string{
	"taco-0460": "user-defined operator",
	"taco-0462": "user-defined operator",
	"taco-0464": "user-defined operator",
	"taco-0466": "user-defined operator",
	"taco-0469": "user-defined operator: its meaning depends on what is stored, not on values",
	"taco-0470": "user-defined operator: its meaning depends on what is stored, not on values",
	"taco-0473": "user-defined operator",
	"taco-0678": "asks for a schedule, which expressions do not have",
}

// concretePrograms says in our language what cases without an expression
// compute: TACO's where (the second part first) and sequence.
var concretePrograms = map[string]string{
	"where(alpha = beta * delta, delta = (zeta + eta))":                                         "delta = zeta + eta; alpha = beta * delta",
	"where(alpha = t, forall(i, t += b(i)))":                                                    "t = sum_i b(i); alpha = t",
	"where(alpha = ti, forall(i, where(ti += tj, forall(j, tj += B(i,j)))))":                    "tj(i) = sum_j B(i,j); alpha = sum_i tj(i)",
	"forall(i, where(a(i) = tj, forall(j, tj += B(i,j) * c(j))))":                               "a(i) = sum_j B(i,j) * c(j)",
	"forall(i, where(forall(j, A(i,j) = w(j)), forall(k, forall(j, w(j) += B(i,k) * C(k,j)))))": "A(i,j) = sum_k B(i,k) * C(k,j)",
	"sequence(alpha = beta * delta, alpha += (zeta + eta))":                                     "alpha = beta * delta; alpha += zeta + eta",
	"sequence(forall(i, a(i) = b(i)), forall(i, a(i) += c(i)))":                                 "a(i) = b(i); a(i) += c(i)",
}

// skippedKinds lists the kinds of case that are not run, and why.
var skippedKinds = map[string]string{
	"schedule-parse": "TACO's schedule notation is not part of the language",
}

// TestTACO runs the expression vectors in testdata/expressions and those in the
// directories of LACUNA_CONFORMANCE.
func TestTACO(t *testing.T) {
	sessions := engines(t)
	for _, path := range expressionFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file tacoFile
		if json.Unmarshal(text, &file) != nil || !strings.HasPrefix(file.Schema, "sparse-conformance/") {
			continue // another schema
		}
		for _, c := range file.Cases {
			t.Run(c.ID, func(t *testing.T) {
				if why := skippedKinds[c.Kind]; why != "" {
					t.Skip(why)
				}
				if why := skippedExpressions[c.ID]; why != "" {
					t.Skip(why)
				}
				c.run(t, sessions)
			})
		}
	}
}

// engines are the sessions that every vector runs on.
func engines(t *testing.T) []*lacuna.Session {
	list := []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))}
	cpu, err := runtime.CPU()
	if err != nil {
		t.Logf("interpreter only: %v", err)
		return list
	}
	return append(list, lacuna.NewSession(lacuna.WithEngine(cpu)))
}

// expressionFiles lists the JSON files of expression vectors.
func expressionFiles(t *testing.T) []string {
	dirs := []string{"testdata"}
	if extra := os.Getenv("LACUNA_CONFORMANCE"); extra != "" {
		dirs = append(dirs, strings.Split(extra, ":")...)
	}
	var files []string
	for _, dir := range dirs {
		for _, pattern := range []string{"expressions/*.json", "*.json"} {
			list, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, list...)
		}
	}
	return files
}

func (c *tacoCase) run(t *testing.T, sessions []*lacuna.Session) {
	switch c.Kind {
	case "pack":
		in := c.Inputs[0].build(t)
		checkDense(t, in, c.Expect.Dense)
		c.checkStorage(t, c.Inputs[0].Format.Levels, in)
	case "compute":
		for _, s := range sessions {
			c.compute(t, s)
		}
	case "error":
		c.refused(t, sessions[0])
	case "io":
		c.read(t)
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
}

func (c *tacoCase) compute(t *testing.T, s *lacuna.Session) {
	args := lacuna.Args{}
	for _, in := range c.Inputs {
		args[in.Name] = in.build(t)
	}
	expr := concretePrograms[c.Concrete]
	if c.Expr != "" {
		expr = translate(indexSets(t, c.Expr, args), c.Ops != nil)
	} else if expr == "" {
		t.Skipf("a loop nest rather than an expression: %s", c.Concrete)
	}
	var opts []lacuna.Option
	switch {
	case c.InOut != nil:
		args[c.InOut.Name] = c.InOut.build(t)
	case c.Expr != "" && strings.Contains(expr, " += "):
		// TACO starts from zero where nothing is given.
		expr = strings.Replace(expr, " += ", " = ", 1)
	}
	out := c.Output
	opts = append(opts, lacuna.Result(out.Name, out.format(t)), lacuna.ResultType(out.Name, dtype(t, out.DType)),
		lacuna.Shape(out.Name, out.Dims...))
	got, err := s.Eval(context.Background(), expr, args, opts...)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	checkDense(t, got, c.Expect.Dense)
	c.checkStorage(t, out.Format.Levels, got)
}

// refused checks that a wrong program is an error; where the vector leaves the
// choice between an error and the right answer, the answer has to be right.
func (c *tacoCase) refused(t *testing.T, s *lacuna.Session) {
	switch c.ID {
	case "taco-0675": // two tensors of one name: an argument can only be one of them
		_, err := s.Eval(context.Background(), "a(i) = a(i) + a(i,i)", lacuna.Args{"a": vector(t, 3)})
		if err == nil {
			t.Error("two ranks of one name were accepted")
		}
	case "taco-0677":
		_, err := s.Eval(context.Background(), "b(:) = a(0:10)", lacuna.Args{"a": vector(t, 5)})
		if err == nil {
			t.Error("a window outside the dimension was accepted")
		}
	default: // transposed operands: TACO crashes, we compute
		if len(c.Formats) == 0 {
			t.Fatalf("unknown error case %s: %s", c.ID, c.Why)
		}
		c.transposed(t, s)
	}
}

func vector(t *testing.T, n int) *tensor.Tensor {
	v, err := tensor.FromDense([]int64{int64(n)}, tensor.Dense(1), tensor.ArrayOf(make([]float64, n)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// transposed runs an error case that only says which formats meet, on operands
// of its own, and compares with dense operands.
func (c *tacoCase) transposed(t *testing.T, s *lacuna.Session) {
	rank := strings.Count(strings.Split(c.Expr, "=")[0], ",") + 1
	shape := slices.Repeat([]int64{3}, rank)
	sparse, dense := lacuna.Args{}, lacuna.Args{}
	var opts []lacuna.Option
	names := make([]string, 0, len(c.Formats))
	for name := range c.Formats {
		names = append(names, name)
	}
	slices.Sort(names)
	for k, name := range names {
		f, err := tacoFormat(c.Formats[name], rank)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(strings.TrimSpace(c.Expr), name+"(") {
			opts = append(opts, lacuna.Result(name, f))
			continue
		}
		n := int(math.Pow(3, float64(rank)))
		vals := make([]float64, n)
		for i := range vals {
			if (i*7+k*5)%4 != 0 {
				vals[i] = float64(i + 10*k + 1)
			}
		}
		a, err := tensor.FromDense(shape, f, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		b, err := tensor.FromDense(shape, tensor.Dense(rank), tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		sparse[name], dense[name] = a, b
	}
	got, err := s.Eval(context.Background(), c.Expr, sparse, opts...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Eval(context.Background(), c.Expr, dense)
	if err != nil {
		t.Fatal(err)
	}
	g, err := got.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	w, err := want.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tensor.View[float64](g), tensor.View[float64](w)) {
		t.Errorf("got %v, want %v", tensor.View[float64](g), tensor.View[float64](w))
	}
}

// tacoFormat parses TACO's letters with an optional axis order: "ss order 1,0".
func tacoFormat(s string, rank int) (tensor.Format, error) {
	letters, order, ordered := strings.Cut(s, " order ")
	f, err := tensor.ParseFormat(letters, rank)
	if err != nil || !ordered {
		return f, err
	}
	var axes []int
	for _, p := range strings.Split(order, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil {
			return f, err
		}
		axes = append(axes, n)
	}
	return f.WithOrder(axes)
}

func (c *tacoCase) read(t *testing.T) {
	got, err := tensorio.ReadFrom("case."+c.File.Format, strings.NewReader(c.File.Text))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Shape(), c.Expect.Dims) {
		t.Errorf("shape %v, want %v", got.Shape(), c.Expect.Dims)
	}
	for _, e := range c.Expect.Entries {
		coord, v := entry(t, e)
		if g := got.At(coord...).Float64(); g != v {
			t.Errorf("element %v is %v, want %v", coord, g, v)
		}
	}
	if got.NNZ() != int64(len(c.Expect.Entries)) {
		t.Errorf("%d entries, want %d", got.NNZ(), len(c.Expect.Entries))
	}
}

func dtype(t *testing.T, name string) tensor.DType {
	dt, err := tensor.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return dt
}

// format spells TACO's level kinds. A padded singleton has no counterpart: the
// operand is stored compressed instead, which changes no value.
func (x *tacoTensor) format(t *testing.T) tensor.Format {
	n := len(x.Format.Levels)
	levels := make([]tensor.LevelKind, n)
	last := -1
	for l, kind := range x.Format.Levels {
		if kind != "dense" {
			last = l
		}
	}
	for l, kind := range x.Format.Levels {
		switch {
		case l > last:
			levels[l] = tensor.D
		case kind == "dense":
			levels[l] = tensor.C
		case l == last || kind == "compressed-nonunique":
			levels[l] = tensor.S
		default:
			levels[l] = tensor.DC
		}
	}
	f, err := tensor.FormatOf(levels, x.Format.Order)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (x *tacoTensor) build(t *testing.T) *tensor.Tensor {
	dt := dtype(t, x.DType)
	coords := make([][]int64, len(x.Dims))
	vals, err := tensor.MakeArray(dt, len(x.Entries))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range x.Entries {
		c, v := entry(t, e)
		for a := range coords {
			coords[a] = append(coords[a], c[a])
		}
		vals.SetScalar(i, tensor.Float(dt, v))
	}
	if len(x.Dims) == 0 {
		v := tensor.Zero(dt)
		if len(x.Entries) > 0 {
			v = vals.Scalar(0)
		}
		return tensor.ScalarTensor(v)
	}
	out, err := tensor.FromCoords(x.Dims, x.format(t), coords, vals, tensor.WithFill(tensor.Float(dt, x.Fill)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// entry decodes [[coordinates], value].
func entry(t *testing.T, e []json.RawMessage) ([]int64, float64) {
	var coord []int64
	if err := json.Unmarshal(e[0], &coord); err != nil {
		t.Fatal(err)
	}
	return coord, number(t, e[1])
}

// number decodes a JSON number or one of the strings "nan", "inf", "-inf".
func number(t *testing.T, raw json.RawMessage) float64 {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// closeTo compares a result with a vector: the vectors' decimals are exact for
// small numbers and shortest representations otherwise, so only functions
// leave room for the last bits.
func closeTo(got, want float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	return got == want || math.Abs(got-want) <= 1e-14*math.Abs(want)
}

func checkDense(t *testing.T, got *tensor.Tensor, want []json.RawMessage) {
	dense, err := got.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	if dense.Len() != len(want) {
		t.Fatalf("%d elements, want %d", dense.Len(), len(want))
	}
	for i, raw := range want {
		if g, w := dense.Scalar(i).Float64(), number(t, raw); !closeTo(g, w) {
			t.Errorf("element %d is %v, want %v", i, g, w)
		}
	}
}

// checkStorage compares the arrays of a stored tensor with the vector's.
func (c *tacoCase) checkStorage(t *testing.T, kinds []string, got *tensor.Tensor) {
	want := c.Expect.Storage
	if want == nil || slices.Contains(kinds, "singleton-padded") {
		return
	}
	for l, level := range want.Levels {
		have := got.Levels()[l]
		if level.Pos != nil && !equalIndices(have.Pos, level.Pos) {
			t.Errorf("level %d: positions %v, want %v", l, indices(have.Pos), level.Pos)
		}
		if level.Crd != nil && !equalIndices(have.Crd, level.Crd) {
			t.Errorf("level %d: coordinates %v, want %v", l, indices(have.Crd), level.Crd)
		}
	}
	vals := got.Values()
	if vals.Len() != len(want.Vals) {
		t.Fatalf("%d values, want %d", vals.Len(), len(want.Vals))
	}
	for i, raw := range want.Vals {
		if g, w := vals.Scalar(i).Float64(), number(t, raw); !closeTo(g, w) {
			t.Errorf("value %d is %v, want %v", i, g, w)
		}
	}
}

func indices(a tensor.Array) []int64 {
	list := make([]int64, a.Len())
	for i := range list {
		list[i] = a.At64(i)
	}
	return list
}

func equalIndices(a tensor.Array, want []int64) bool { return slices.Equal(indices(a), want) }

var (
	window  = regexp.MustCompile(`(\w+)\[(\d+):(\d+)(?::(\d+))?\]`)
	intDiv  = regexp.MustCompile(`\((i64\(\w+\([^()]*\)\)) / (i64\(\w+\([^()]*\)\))\)`)
	typeOf  = map[string]string{"double": "f64", "int64_t": "i64", "bool": "bool", "float": "f32", "int32_t": "i32"}
	compare = map[string]string{"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "==", "neq": "!="}
)

// translate writes a TACO expression in our language: casts, sums, comparison
// functions, truncating integer division (of numbers that are not negative) and
// windows differ.
func translate(expr string, booleanOps bool) string {
	if booleanOps {
		expr = strings.Replace(expr, "And(B(i,j), c(j))", "(B(i,j) and c(j))", 1)
		expr = strings.Replace(expr, "Or= ", "= any_j ", 1)
	}
	expr = windows(expr)
	lhs, op, rhs := splitAssignment(expr)
	return lhs + " " + op + " " + intDiv.ReplaceAllString(rewrite(rhs), "floordiv($1, $2)")
}

func splitAssignment(s string) (lhs, op, rhs string) {
	i := strings.Index(s, "=")
	op = "="
	lhs = s[:i]
	if strings.HasSuffix(lhs, "+") {
		lhs, op = lhs[:len(lhs)-1], "+="
	}
	return strings.TrimSpace(lhs), op, strings.TrimSpace(s[i+1:])
}

// windows turns i[lo:hi:step]. Where nothing is summed, every use of the index
// becomes a slice; else the index becomes affine and the summed one is cut off
// by a condition.
func windows(s string) string {
	length := map[string]int{}
	for _, m := range window.FindAllStringSubmatch(s, -1) {
		lo, hi, step := atoi(m[2]), atoi(m[3]), atoi(m[4])
		length[m[1]] = (hi - lo + step - 1) / step
	}
	if len(length) == 0 {
		return s
	}
	if !strings.Contains(s, "sum(") {
		for name, n := range length {
			plain := regexp.MustCompile(`([(,])` + name + `([,)])`)
			for plain.MatchString(s) {
				s = plain.ReplaceAllString(s, fmt.Sprintf("${1}0:%d${2}", n))
			}
		}
		return window.ReplaceAllStringFunc(s, func(w string) string { return w[strings.Index(w, "[")+1 : len(w)-1] })
	}
	s = window.ReplaceAllStringFunc(s, func(w string) string {
		m := window.FindStringSubmatch(w)
		return fmt.Sprintf("%d*%s+%s", atoi(m[4]), m[1], m[2])
	})
	sum := regexp.MustCompile(`sum\((\w+), (.*)\)$`)
	return sum.ReplaceAllStringFunc(s, func(w string) string {
		m := sum.FindStringSubmatch(w)
		return fmt.Sprintf("sum(%s, where(%s < %d, %s, 0))", m[1], m[1], length[m[1]], m[2])
	})
}

var indexSet = regexp.MustCompile(`(\w+)\{([\d,]+)\}`)

// indexSets turns i{1,3,5}, which visits the listed coordinates, into a gather
// through an operand that holds them.
func indexSets(t *testing.T, s string, args lacuna.Args) string {
	return indexSet.ReplaceAllStringFunc(s, func(w string) string {
		m := indexSet.FindStringSubmatch(w)
		var list []int64
		for _, n := range strings.Split(m[2], ",") {
			list = append(list, int64(atoi(n)))
		}
		set, err := tensor.FromDense([]int64{int64(len(list))}, tensor.Dense(1), tensor.ArrayOf(list))
		if err != nil {
			t.Fatal(err)
		}
		name := "set" + strings.ReplaceAll(m[2], ",", "_")
		args[name] = set
		return name + "(" + m[1] + ")"
	})
}

// atoi reads a number; an empty string, an omitted step, is 1.
func atoi(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// rewrite translates calls, innermost arguments included.
func rewrite(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && (s[j] == '_' || s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z' || j > i && s[j] >= '0' && s[j] <= '9') {
			j++
		}
		if j == i {
			b.WriteByte(s[i])
			i++
			continue
		}
		name := s[i:j]
		kind := ""
		if j < len(s) && s[j] == '<' && name == "cast" {
			end := strings.IndexByte(s[j:], '>') + j
			kind, j = typeOf[s[j+1:end]], end+1
		}
		if j >= len(s) || s[j] != '(' {
			b.WriteString(name)
			i = j
			continue
		}
		args, end := arguments(s, j)
		for k := range args {
			args[k] = rewrite(args[k])
		}
		switch {
		case kind != "":
			b.WriteString(kind + "(" + args[0] + ")")
		case name == "sum":
			b.WriteString("(sum_" + args[0] + " (" + args[1] + "))")
		case compare[name] != "":
			b.WriteString("(" + args[0] + " " + compare[name] + " " + args[1] + ")")
		case name == "not" || name == "Not":
			b.WriteString("(not " + args[0] + ")")
		default:
			b.WriteString(name + "(" + strings.Join(args, ",") + ")")
		}
		i = end
	}
	return b.String()
}

// arguments splits the parenthesised list that starts at s[open].
func arguments(s string, open int) (args []string, end int) {
	depth, start := 0, open+1
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return append(args, strings.TrimSpace(s[start:i])), i + 1
			}
		case ',':
			if depth == 1 {
				args = append(args, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	panic("unbalanced " + s)
}
