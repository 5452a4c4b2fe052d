package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// skippedExpressions lists the cases that are not run, and why.
var skippedExpressions = map[string]string{
	"taco-0460": "user-defined operator",
	"taco-0462": "user-defined operator",
	"taco-0464": "user-defined operator",
	"taco-0466": "user-defined operator",
	"taco-0469": "user-defined operator: its meaning depends on what is stored, not on values",
	"taco-0470": "user-defined operator: its meaning depends on what is stored, not on values",
	"taco-0473": "user-defined operator",
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

// TestTACO runs the expression vectors in testdata/expressions and those in the
// directories of LACUNA_CONFORMANCE.
func TestTACO(t *testing.T) {
	sessions := engines(t)
	all := sampled(sessions)
	for i, c := range tacoCases(t) {
		sessions := sessions
		if i%sampling == 0 {
			sessions = all
		}
		t.Run(c.ID, func(t *testing.T) {
			testengine.Parallel(t)
			c.skip(t)
			c.run(t, sessions)
		})
	}
}

// tacoCases are the cases of all files.
func tacoCases(t *testing.T) []tacoCase {
	var list []tacoCase
	for _, path := range expressionFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file tacoFile
		if json.Unmarshal(text, &file) == nil && strings.HasPrefix(file.Schema, "sparse-conformance/") { // else of another schema
			list = append(list, file.Cases...)
		}
	}
	return list
}

// skip skips a case that is not run.
func (c *tacoCase) skip(t *testing.T) {
	if why := skippedExpressions[c.ID]; why != "" {
		t.Skip(why)
	}
}

// One of so many vectors runs as on a GPU too, which is slow to simulate.
const sampling = 25

// sampled are the sessions and one that does what a GPU does.
func sampled(sessions []*lacuna.Session) []*lacuna.Session {
	return append(slices.Clip(sessions), lacuna.NewSession(lacuna.WithEngine(runtime.Simulated())))
}

// engines are the sessions that every vector runs on.
func engines(t *testing.T) []*lacuna.Session {
	var list []*lacuna.Session
	for _, e := range testengine.All(t) {
		list = append(list, lacuna.NewSession(lacuna.WithEngine(e)))
	}
	return list
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
	case "schedule-parse":
		c.parseSchedule(t)
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
}

// program is what a case computes, with its operands and what is said of its result.
func (c *tacoCase) program(t *testing.T) (expr string, args lacuna.Args, opts []lacuna.Option) {
	args = lacuna.Args{}
	for _, in := range c.Inputs {
		args[in.Name] = in.build(t)
	}
	expr = concretePrograms[c.Concrete]
	if c.Expr != "" {
		expr = translate(indexSets(t, c.Expr, args), c.Ops != nil)
	} else if expr == "" {
		t.Skipf("a loop nest rather than an expression: %s", c.Concrete)
	}
	switch {
	case c.InOut != nil:
		args[c.InOut.Name] = c.InOut.build(t)
	case c.Expr != "" && strings.Contains(expr, " += "):
		// TACO starts from zero where nothing is given.
		expr = strings.Replace(expr, " += ", " = ", 1)
	}
	out := c.Output
	return expr, args, []lacuna.Option{lacuna.Result(out.Name, out.format(t)), lacuna.ResultType(out.Name, dtype(t, out.DType)),
		lacuna.Shape(out.Name, out.Dims...)}
}

func (c *tacoCase) compute(t *testing.T, s *lacuna.Session) {
	expr, args, opts := c.program(t)
	got, err := s.Eval(context.Background(), expr, args, opts...)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	checkDense(t, got, c.Expect.Dense)
	c.checkStorage(t, c.Output.Format.Levels, got)
	if s.Engine().Name() == runtime.InterpName {
		sameSchedule(t, s, expr, args, opts)
	}
}

// sameSchedule checks that the schedule that explain prints gives the plan and the loops that it is of: as a program and,
// where the statements are those of the program, as a schedule of it.
func sameSchedule(t *testing.T, s *lacuna.Session, expr string, args lacuna.Args, opts []lacuna.Option) {
	t.Helper()
	for name, x := range args {
		opts = append(opts, lacuna.Operand(name, x))
	}
	explained := func(src string, more ...lacuna.Option) (schedule, plan, loops string) {
		t.Helper()
		k, err := s.Compile(context.Background(), src, slices.Concat(opts, more)...)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var text [3]string
		for i, stage := range []string{"schedule", "plan", "loops"} {
			if text[i], err = k.Explain(stage); err != nil {
				t.Fatal(err)
			}
		}
		return text[0], text[1], text[2]
	}
	schedule, plan, loops := explained(expr)
	again, plan2, loops2 := explained(schedule)
	if plan2 != plan || loops2 != loops || again != schedule {
		t.Errorf("%s: the schedule\n%sgives\n%s%swant\n%s", expr, schedule, again, plan2, plan)
	}
	if strings.Contains(schedule, lang.StoreCommand+"(") {
		return // of a program that the optimiser wrote
	}
	var said []string
	for line := range strings.Lines(schedule) {
		if name, how, ok := strings.Cut(strings.TrimSpace(line), " with "); ok {
			name, _, _ = strings.Cut(name, " ")
			name, _, _ = strings.Cut(name, "(")
			said = append(said, name+": "+how)
		}
	}
	if _, plan3, loops3 := explained(expr, lacuna.Schedule(strings.Join(said, "\n"))); plan3 != plan || loops3 != loops {
		t.Errorf("%s: the schedule\n%s\ngives\n%swant\n%s", expr, strings.Join(said, "\n"), plan3, plan)
	}
}

func (c *tacoCase) read(t *testing.T) {
	got, err := file.ReadFrom("case."+c.File.Format, strings.NewReader(c.File.Text))
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
	case "taco-0678": // pos on a dense level
		s := lacuna.NewSession(lacuna.WithEngine(s.Engine()))
		_, err := s.Eval(context.Background(), c.Expr, lacuna.Args{"x": vector(t, 5)}, lacuna.Schedule("positions(i: x)"))
		var refused *lang.Error
		if !errors.As(err, &refused) || refused.Code != lang.ErrSchedule {
			t.Errorf("positions of a dense level: %v", err)
		}
	default: // transposed operands: TACO crashes, we compute
		if len(c.Formats) == 0 {
			t.Fatalf("unknown error case %s: %s", c.ID, c.Why)
		}
		c.transposed(t, s)
	}
}

// parseSchedule reads a text of commands. What TACO takes for commands and ours does not, arguments of arguments and none at all, is refused
// where it stands.
func (c *tacoCase) parseSchedule(t *testing.T) {
	sections, err := lang.ParseSchedule(c.Text)
	for _, command := range c.Expect.Parsed {
		for _, word := range command {
			if word == "" || strings.Contains(word, "(") {
				var refused *lang.Error
				if !errors.As(err, &refused) || !refused.Pos.IsKnown() {
					t.Errorf("%s: %v, want an error with a place", c.Text, err)
				}
				return
			}
		}
	}
	if err != nil || len(sections) != 1 {
		t.Fatalf("%d sections: %v", len(sections), err)
	}
	var got [][]string
	for _, command := range sections[0].Commands {
		words := []string{command.Name}
		for _, a := range command.Args {
			words = append(words, a.Word)
		}
		got = append(got, words)
	}
	if !slices.EqualFunc(got, c.Expect.Parsed, slices.Equal) {
		t.Errorf("%s: %v, want %v", c.Text, got, c.Expect.Parsed)
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
