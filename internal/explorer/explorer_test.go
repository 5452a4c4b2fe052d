package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// ask asks an interpreting service and decodes its answer, which must not be a failure.
func ask[T any](t *testing.T, r Request) *T {
	t.Helper()
	return askOf[T](t, &Service{}, r)
}

func askOf[T any](t *testing.T, s *Service, r Request) *T {
	t.Helper()
	question, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	answer := s.Answer(context.Background(), question)
	if strings.Contains(string(answer), ":null") {
		t.Errorf("%s: the page takes no null", question)
	}
	var f Failure
	if err := json.Unmarshal(answer, &f); err != nil || f.Message != "" {
		t.Fatalf("%s: %v %s", question, err, f.Message)
	}
	v := new(T)
	if err := json.Unmarshal(answer, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func fails(t *testing.T, r Request, want string) {
	t.Helper()
	question, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var f Failure
	if err := json.Unmarshal((&Service{}).Answer(context.Background(), question), &f); err != nil || !strings.Contains(f.Message, want) {
		t.Errorf("%.100s…: %v %q, want %q", question, err, f.Message, want)
	}
}

// TestGallery runs and explains every example, and watches it: what the steps end in is what a run gives, and
// the stores that were told make the result's values.
func TestGallery(t *testing.T) {
	for _, e := range Gallery() {
		t.Run(e.Title, func(t *testing.T) {
			r := Request{Op: "check", Program: e.Program, Operands: e.Operands}
			if c := ask[Check](t, r); slices.ContainsFunc(c.Diagnostics, func(d Diagnostic) bool { return d.Severity == "error" }) {
				t.Fatalf("%+v", c.Diagnostics)
			}
			r.Op = "explain"
			ask[Explanation](t, r)
			r.Op = "profile"
			if p := ask[Profile](t, r); len(p.Steps) == 0 {
				t.Error("no step has a time")
			}
			r.Op = "eval"
			results := ask[Evaluation](t, r).Results
			r.Op, r.Limit = "steps", mostSteps
			steps := ask[Steps](t, r)
			if got, want := fmt.Sprint(steps.Results), fmt.Sprint(results); got != want {
				t.Errorf("watched: %s, want %s", got, want)
			}
			if len(steps.Steps) == 0 || steps.More {
				t.Fatalf("%d steps, more: %v", len(steps.Steps), steps.More)
			}
			last := results[len(results)-1]
			if got := stored(steps, last.Name); got != nil && !slices.Equal(got, last.Values) {
				t.Errorf("steps store %v, want %v", got, last.Values)
			}
		})
	}
}

// stored are the values of a result after all steps, nil if none of them stored any or the first elements were not stored one by one.
func stored(s *Steps, name string) []string {
	var values []string
	for _, st := range s.Steps {
		if st.Op != "store" || s.Programs[st.Program].Buffers[st.Buffer].Name != name+"_vals" {
			continue
		}
		if s.Programs[st.Program].Buffers[st.Buffer].Elem != "f64" {
			return nil // conversions move bits
		}
		for int64(len(values)) <= st.Index {
			values = append(values, "")
		}
		x, err := strconv.ParseFloat(st.Value, 64)
		if err != nil {
			return nil
		}
		values[st.Index] = tensor.Float(tensor.Float64, x).String()
	}
	if slices.Contains(values, "") {
		return nil
	}
	return values
}

func TestCheck(t *testing.T) {
	c := ask[Check](t, Request{Op: "check", Program: "ä(i) = A(i,j)*x(j\nb = 1"})
	if len(c.Diagnostics) == 0 || c.Diagnostics[0].From != 15 || c.Diagnostics[0].Severity != "error" || c.Diagnostics[0].Code == "" {
		t.Errorf("%+v", c.Diagnostics)
	}
	c = ask[Check](t, Request{Op: "check", Program: "y(i) = sum_j A(i,j)*x(j) + b"})
	if got := fmt.Sprint(c.Operands, c.Results); got != "[{A 2} {x 1} {b 0}] [{y 1}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(c.Symbols); got != "[{y tensor} {A tensor} {x tensor} {b tensor} {i index} {j index}]" {
		t.Error(got)
	}
	// A word that is near another can be that.
	c = ask[Check](t, Request{Op: "check", Program: "y(i) = summ_j A(i,j)"})
	if len(c.Diagnostics) != 1 || fmt.Sprint(c.Diagnostics[0].Fixes) != "[{write sum_j 7 13 sum_j}]" {
		t.Errorf("%+v", c.Diagnostics)
	}
	// A function that is misspelt may be an operand as well.
	for program, want := range map[string]string{
		"y(i) = sqrtt(x(i))":          "error: did you mean sqrt? [{write sqrt 7 12 sqrt}]; error: pass it as an operand, or declare it []",
		"y(i) = maxx(2, n)":           "warning: did you mean max? [{write max 7 11 max}]",
		"y(i) = ä(i) + sqr(2)*sqr(i)": "warning: did you mean sqrt? [{write sqrt 14 17 sqrt}]; warning: did you mean sqrt? [{write sqrt 21 24 sqrt}]",
		"y(i) = ex(i)*mask(i)":        "",
	} {
		var got []string
		for _, d := range ask[Check](t, Request{Op: "check", Program: program}).Diagnostics {
			got = append(got, fmt.Sprint(d.Severity, ": ", d.Hint, " ", d.Fixes))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %s, want %s", program, text, want)
		}
	}
	// What somebody has given is what he meant.
	if c = ask[Check](t, Request{Op: "check", Program: "y(i) = sqr(i)", Operands: []Operand{{Name: "sqr", Text: "1 2"}}}); len(c.Diagnostics) != 0 {
		t.Errorf("%+v", c.Diagnostics)
	}
	// A quick fix of an implied sum, whose text is right.
	program := "y(i) = x(i) / (A(i,j)*z(j))"
	c = ask[Check](t, Request{Op: "check", Program: program})
	if len(c.Diagnostics) != 1 || len(c.Diagnostics[0].Fixes) == 0 {
		t.Fatalf("%+v", c.Diagnostics)
	}
	f := c.Diagnostics[0].Fixes[0]
	fixed := program[:f.From] + f.Text + program[f.To:]
	if c = ask[Check](t, Request{Op: "check", Program: fixed}); len(c.Diagnostics) != 0 {
		t.Errorf("%s: %+v", fixed, c.Diagnostics)
	}
}

// TestLinks finds what a loop's lines are about.
func TestLinks(t *testing.T) {
	e := Gallery()[0]
	x := ask[Explanation](t, Request{Op: "explain", Program: e.Program, Operands: e.Operands})
	var names []string
	for _, st := range x.Stages {
		names = append(names, st.Name)
	}
	if got := strings.Join(names, " "); got != "syntax logic choices schedule plan lattice loops llvm grids" {
		t.Error(got)
	}
	wants := map[string]string{"plan": "A(i,j)", "loops": "A1_crd", "llvm": "%p_A"}
	for _, st := range x.Stages {
		want := wants[st.Name]
		at := strings.Index(st.Text, want)
		if at < 0 {
			t.Fatalf("no %s in %s", want, st.Text)
		}
		found := want == ""
		for _, s := range st.Spans {
			found = found || s.From >= at && s.From <= at+1 && x.Symbols[s.Symbol] == Symbol{"A", "tensor"}
		}
		if !found {
			t.Errorf("stage %s: %s is not about A", st.Name, want)
		}
	}
}

// TestPlaces looks up where lines of stages come from: the innermost loop of a product from j, wherever the statement has it; and
// its steps.
func TestPlaces(t *testing.T) {
	e := Gallery()[0]
	x := ask[Explanation](t, Request{Op: "explain", Program: e.Program, Operands: e.Operands})
	parts := func(list []Place, n int) (words []string) {
		for _, s := range list[n].Spans {
			words = append(words, e.Program[s[0]:s[1]])
		}
		return words
	}
	found := map[string]bool{}
	for _, st := range x.Stages {
		lines := strings.Split(st.Text, "\n")
		for _, o := range st.Origins {
			found[fmt.Sprint(st.Name, ": ", strings.TrimSpace(lines[o.Line-1]), " ", parts(x.Places, o.Place))] = true
		}
	}
	for _, want := range []string{"plan: forall j [sum_j j j]", "lattice: j: A, by entries [sum_j j j]", "loops: for i = lo to hi { [i i]", "loops: let A.8: f64 = A_vals[p_A.1] [A(i,j)]",
		"loops: y_vals[i] = t [y(i)]", "grids: y_vals[row] = t [y(i)]", "syntax: y(i) = sum_j A(i,j)*x(j) [y(i)]"} {
		if !found[want] {
			t.Errorf("no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(slices.Sorted(maps.Keys(found)))
	}
	s := ask[Steps](t, Request{Op: "steps", Program: e.Program, Operands: e.Operands})
	line := s.Steps[len(s.Steps)-1].Line // which stores the last element
	if !slices.ContainsFunc(s.Programs[0].Origins, func(o Origin) bool { return o.Line == line && fmt.Sprint(parts(s.Places, o.Place)) == "[y(i)]" }) {
		t.Errorf("line %d is not that of y: %v %v", line, s.Programs[0].Origins, s.Places)
	}
}

// TestOptions runs programs as is wished.
func TestOptions(t *testing.T) {
	r := Request{Op: "eval", Program: "y(i) = A(i,j)*x(j)", Operands: []Operand{{Name: "A", Format: "CSR", Text: "1 .\n. 1"}, {Name: "x", Text: "1 inf"}}}
	value := func() string { return fmt.Sprint(ask[Evaluation](t, r).Results[0].Values) }
	if got := value(); got != "[1 inf]" {
		t.Error(got)
	}
	r.Options = Options{Strict: true}
	if got := value(); got != "[nan inf]" {
		t.Error(got)
	}
	r.Options = Options{AsWritten: true, Schedule: []string{"order(j, i)"}}
	r.Op = "explain"
	for _, s := range ask[Explanation](t, r).Stages {
		if s.Name == "plan" && strings.Index(s.Text, "forall j") > strings.Index(s.Text, "forall i") {
			t.Error(s.Text)
		}
	}
	r.Options.Schedule = []string{"order(q)"}
	fails(t, r, "order(q)")
	r.Op, r.Options.Strict = "copy", true
	if c := ask[Copies](t, r); !strings.HasSuffix(c.Shell, " --strict-ieee --as-written --schedule 'order(q)'\n") || !strings.Contains(c.Go, "lacuna.StrictIEEE(),\n\t\tlacuna.AsWritten()") {
		t.Errorf("%+v", c)
	}
}

// TestOperands makes operands of all that they are said by.
func TestOperands(t *testing.T) {
	seven := int64(7)
	for _, test := range []struct {
		operand Operand
		want    string
	}{
		{Operand{Text: "[0.25,0.5, 1]"}, "[3] f64 3"},
		{Operand{Text: "[1,2]"}, "[2] i64 2"},
		{Operand{Text: "[[1,2,3],[4,5,6]]"}, "[2 3] i64 6"},
		{Operand{Text: "[[1,2.5]]"}, "[1 2] f64 2"},
		{Operand{Text: "1 2"}, "[2] f64 2"},
		{Operand{Text: "[1,2]", DType: "f32", Format: "DVEC"}, "[2] f32 2"},
		{Operand{Format: "CSR", Random: &Random{Shape: []int64{10, 10}, NNZ: &seven}}, "[10 10] f64 7"},
	} {
		test.operand.Name = "A"
		s := ask[Storage](t, Request{Op: "storage", Name: "A", Operands: []Operand{test.operand}})
		if got := fmt.Sprint(s.Shape, " ", s.DType, " ", s.Stored); got != test.want {
			t.Errorf("%+v: %s, want %s", test.operand, got, test.want)
		}
	}
	half := 0.5
	for want, o := range map[string]Operand{
		"rows of a matrix": {Text: "[[1],[[2]]]"}, "numbers in brackets": {Text: "[1,2"}, "same thing": {Random: &Random{Shape: []int64{4}, NNZ: &seven, Density: &half}},
		"want 0 to 4": {Random: &Random{Shape: []int64{4}, NNZ: &seven}},
	} {
		o.Name = "A"
		fails(t, Request{Op: "storage", Name: "A", Operands: []Operand{o}}, want)
	}
	for _, s := range samples() {
		s.Operands[0].Name = "A"
		if got := ask[Storage](t, Request{Op: "storage", Name: "A", Operands: s.Operands}); got.Stored == 0 || len(got.Entries) != int(got.Stored) {
			t.Errorf("%s: %d stored", s.Title, got.Stored)
		}
	}
	// Every combination of levels, in any order of axes, is a format.
	s := ask[Storage](t, Request{Op: "storage", Name: "A", Operands: []Operand{{Name: "A", Format: "CSC", Text: "1 . 2\n. 3 ."}}})
	if s.Kinds != "C-S" || fmt.Sprint(s.Order) != "[1 0]" || !slices.Contains(s.Combinations, "DC-S") || slices.Contains(s.Combinations, "D-S") {
		t.Errorf("%s %v %v", s.Kinds, s.Order, s.Combinations)
	}
	for _, c := range s.Combinations {
		ask[Storage](t, Request{Op: "storage", Name: "A", Operands: []Operand{{Name: "A", Format: c + "[1,0]", Text: "1 . 2\n. 3 ."}}})
	}
}

// TestProfile has a time and an estimate for each statement, and counts what it stored.
func TestProfile(t *testing.T) {
	p := ask[Profile](t, Request{Op: "profile", Program: "t(i) = sum_j A(i,j)*x(j); y = sum_i t(i)*t(i)", Operands: []Operand{{Name: "A", Format: "CSR", Text: "1 . .\n. . .\n. 2 3"}, {Name: "x", Text: "1 1 1"}}})
	var got, loops []string
	for _, s := range p.Steps {
		if s.Took <= 0 || s.Estimated == nil || *s.Estimated <= 0 || len(s.Stages) == 0 {
			t.Errorf("%+v", s)
		}
		got = append(got, fmt.Sprint(s.Result, " ", s.Entries))
		for _, stage := range s.Stages {
			for _, l := range stage.Loops {
				loops = append(loops, fmt.Sprint(l.Text, " ", l.Depth, " ", l.Visits, " ", l.Iterations, " ", p.Places[l.Place].Spans))
			}
		}
	}
	if fmt.Sprint(got) != "[t 2 y 1]" || p.Run <= 0 {
		t.Errorf("%v, %v ms", got, p.Run)
	}
	const want = `for i = lo to hi 0 1 3 [[2 3] [15 16]]
for p_A.1 = rest.1 to end 1 3 3 [[7 12] [17 18] [22 23]]
for i.2 = rest.1 to hi 0 1 3 [[30 35] [38 39] [43 44]]
for c = 0 to cut0_chunks 0 1 1 [[26 27]]`
	if text := strings.Join(loops, "\n"); text != want {
		t.Errorf("loops:\n%s\nwant\n%s", text, want)
	}
}

func TestAbout(t *testing.T) {
	indices, tensors := map[string]int{"i": 0, "j": 1, "A": 7}, map[string]int{"A": 2, "A1": 3, "p_A": 4, "total": 5}
	for word, want := range map[string]int{"i": 0, "n_j": 1, "A1_crd": 3, "A_vals": 2, "A2_pos": 2, "p_A1": 3, "p_A": 4, "sum_j": 1,
		"A12": -1, "Ab": -1, "acc": -1, "total_dim0": 5, "A": 7, "A1_1": 3, "_": -1} {
		got, ok := about(word, false, indices, tensors)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s is about %d, want %d", word, got, want)
		}
	}
	if got, _ := about("A", true, indices, tensors); got != 2 {
		t.Errorf("A( is about %d", got)
	}
}

func TestStorage(t *testing.T) {
	a := Operand{Name: "A", Text: ". 5 .\n. . .\n7 . 8"}
	for _, test := range []struct{ format, levels, entries string }{
		{"CSR", "dense 0 [] [], compressed 1 [0 1 1 3] [1 0 2]", "[{[0 1] [0 0]} {[2 0] [2 1]} {[2 2] [2 2]}]"},
		{"CSC", "dense 1 [] [], compressed 0 [0 1 2 3] [2 0 2]", "[{[2 0] [0 0]} {[0 1] [1 1]} {[2 2] [2 2]}]"},
		{"DCSR", "compressed 0 [0 2] [0 2], compressed 1 [0 1 3] [1 0 2]", "[{[0 1] [0 0]} {[2 0] [1 1]} {[2 2] [1 2]}]"},
		{"COO", "compressed 0 [0 3] [0 2 2], singleton 1 [] [1 0 2]", "[{[0 1] [0 0]} {[2 0] [1 1]} {[2 2] [2 2]}]"},
	} {
		a.Format = test.format
		s := ask[Storage](t, Request{Op: "storage", Name: "A", Operands: []Operand{a}})
		var levels []string
		for _, l := range s.Levels {
			levels = append(levels, fmt.Sprint(l.Kind, " ", l.Axis, " ", l.Pos, " ", l.Crd))
		}
		if got := strings.Join(levels, ", "); got != test.levels {
			t.Errorf("%s: levels %s, want %s", test.format, got, test.levels)
		}
		if got := fmt.Sprint(s.Entries); got != test.entries {
			t.Errorf("%s: entries %s, want %s", test.format, got, test.entries)
		}
		if !slices.Contains(s.Formats, "DC-S") && !slices.Contains(s.Formats, "DCSC") {
			t.Errorf("formats %v", s.Formats)
		}
	}
	// Large tensors are described, not drawn.
	s := ask[Storage](t, Request{Op: "storage", Name: "A", Operands: []Operand{drawn("A", "CSR", 0.01, 1, 5000, 5000)}})
	if !s.More || s.Stored != 250000 || len(s.Entries) > 0 {
		t.Errorf("more: %v, %d stored, %d entries", s.More, s.Stored, len(s.Entries))
	}
}

// TestLoopCounts compares visits with what a dense nest makes.
func TestLoopCounts(t *testing.T) {
	s := ask[Steps](t, Request{Op: "steps", Program: "y(i) = sum_j A(i,j)*x(j)", Operands: []Operand{
		{Name: "A", Format: "CSR", Text: ". 5 .\n. . .\n7 . 8"}, {Name: "x", Text: "1 2 3"}}})
	if got := fmt.Sprint(s.Loops); got != fmt.Sprintf("[{0 %d i 3 3} {0 %d j 3 9}]", s.Loops[0].Line, s.Loops[1].Line) {
		t.Error(got)
	}
	if got := s.Results[0].Values; !slices.Equal(got, []string{"10", "0", "31"}) {
		t.Error(got)
	}
}

func TestGradient(t *testing.T) {
	g := ask[Gradient](t, Request{Op: "grad", Name: "A", Program: "y(i) = sum_j A(i,j)*x(j)", Operands: []Operand{
		{Name: "A", Format: "CSR", Text: ". 5 .\n7 . 8"}, {Name: "x", Text: "1 2 3"}}})
	if got := fmt.Sprint(g.Result.Coords, g.Result.Values); got != "[[0 1 1] [1 0 2]] [2 1 3]" || !strings.Contains(g.Source, "dy") {
		t.Error(got, g.Source)
	}
}

func TestCopies(t *testing.T) {
	d := 0.5
	c := ask[Copies](t, Request{Op: "copy", Program: "y(i) = A(i,j)*x(j)", Operands: []Operand{
		{Name: "A", Format: "CSR", DType: "f32", Random: &Random{Shape: []int64{3, 4}, Density: &d}}, {Name: "x", Text: "1 . 3 4"}, {Name: "y", Format: "DVEC"}, {Name: "z", Shape: []int64{4, 5}}}})
	want := "cat > x.mtx <<'END'\n%%MatrixMarket vector coordinate real general\n4 3\n1 1\n3 3\n4 4\nEND\n" +
		"lacuna eval 'y(i) = A(i,j)*x(j)' 'A=random(3,4,density=0.5,seed=1):CSR[f32]' x=x.mtx y:DVEC --shape z=4,5\n"
	if c.Shell != want {
		t.Errorf("%s\nwant\n%s", c.Shell, want)
	}
	if out := formatted(t, c.Go); out != c.Go {
		t.Errorf("gofmt changes the program to\n%s", out)
	}
}

func formatted(t *testing.T, program string) string {
	t.Helper()
	out, err := format.Source([]byte(program))
	if err != nil {
		t.Fatalf("%v in\n%s", err, program)
	}
	return string(out)
}

// TestCopiedGo builds and runs a program with operands of each kind.
func TestCopiedGo(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	dir := t.TempDir()
	d := 1.0
	r := Request{Program: "y(i) = A(i,j)*x(j)*a + B(i,j)*z(j); s = sum_i y(i); m = min_i f(i); G(c(i)) *= 3.0", Options: Options{AsWritten: true}, Operands: []Operand{
		{Name: "A", Format: "CSR", DType: "f32", Text: "1 . 2\n. 3 ."}, {Name: "x", Text: "[1, 2, 3]"}, {Name: "a", Number: "2"},
		{Name: "B", Random: &Random{Shape: []int64{2, 3}, Density: &d}}, {Name: "z", File: "z.npy"}, {Name: "f", Text: ". 5", Format: "S", Fill: "-77"}, {Name: "y", Format: "D", DType: "f64"},
		{Name: "c", Text: "[0, 1, 1, 1]"}, {Name: "G", Value: tensor.Vector([]float64{1, 1, 1}), GoValue: GoFilled(tensor.One(tensor.Float64), tensor.Dense(1), []int64{3})}}}
	if args, _, err := (&Service{}).operands(t.Context(), &Request{Program: "H(i) = G(i)", Operands: r.Operands[len(r.Operands)-1:]}); err != nil || args["G"] != r.Operands[len(r.Operands)-1].Value {
		t.Errorf("the value that was made already is not taken: %v, %v", args, err)
	}
	if line := shell(&Request{Program: "H(i) = G(i)", Operands: r.Operands[len(r.Operands)-1:]}); line != "lacuna eval 'H(i) = G(i)'\n" {
		t.Errorf("a shell is told of what nobody gave: %s", line)
	}
	program := formatted(t, goProgram(&r))
	write := func(name string, x *tensor.Tensor) {
		if err := file.Write(filepath.Join(dir, name), x); err != nil {
			t.Fatal(err)
		}
	}
	write("z.npy", tensor.Vector([]float64{0, 0, 1}))
	b, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{{0, 1}, {2, 2}}, tensor.ArrayOf([]float64{100, 1000}))
	if err != nil {
		t.Fatal(err)
	}
	write("B.bsp.h5", b)
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "copied")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s", out, program)
	}
	cmd := exec.Command(binary)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "114") || !strings.Contains(string(out), "1012") || !strings.Contains(string(out), "1126") || !strings.Contains(string(out), "-77") || !strings.Contains(string(out), "3 27  1") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestHostile asks what must be refused in a sentence.
func TestHostile(t *testing.T) {
	fails(t, Request{Op: "eval", Program: strings.Repeat("y = 1\n", 200000)}, "bytes: want")
	fails(t, Request{Op: "eval", Program: strings.Repeat("(", 60000)}, "")
	fails(t, Request{Op: "eval", Program: "y = sum_i A(i)", Operands: []Operand{{Name: "A", Random: &Random{Shape: []int64{1 << 40}}}}}, "too many to draw")
	fails(t, Request{Op: "eval", Program: "y = sum_i A(i)", Operands: []Operand{{Name: "A", Random: &Random{Shape: []int64{-1}}}}}, "0 or more")
	fails(t, Request{Op: "eval", Program: "y = sum_i A(i)", Operands: []Operand{{Name: "A", Text: "1 2\n3"}}}, "row 2 has 1 numbers")
	fails(t, Request{Op: "eval", Program: "y = sum_i A(i)", Operands: []Operand{{Name: "A", File: "a.npy", Data: []byte("\x93NUMPY\x01\x00\xff\xff")}}}, "a.npy")
	fails(t, Request{Op: "eval", Program: "y = sum_i A(i)", Operands: []Operand{{Name: "A", File: "/etc/passwd"}}}, "no files here")
	fails(t, Request{Op: "eval", Program: "C(i,j) = x(i)*x(j)", Operands: []Operand{{Name: "x", Random: &Random{Shape: []int64{100000}}}}}, "memory")
	fails(t, Request{Op: "steps", Program: "C(i,j) = x(i)*x(j)", Operands: []Operand{{Name: "x", Random: &Random{Shape: []int64{600}}}}}, "too long to watch")
	fails(t, Request{Op: "nothing"}, "unknown operation")
	if got := string((&Service{}).Answer(context.Background(), []byte("{"))); !strings.Contains(got, "no JSON") {
		t.Error(got)
	}
}
