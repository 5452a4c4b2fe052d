package exec

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// randomMatrix is a matrix with random entries, as many in each row.
func randomMatrix(t *testing.T, r *rand.Rand, rows, columns, each int64, f tensor.Format) *tensor.Tensor {
	t.Helper()
	var coords [2][]int64
	var values []float64
	for i := range rows {
		for range each {
			coords[0], coords[1] = append(coords[0], i), append(coords[1], r.Int64N(columns))
			values = append(values, r.Float64())
		}
	}
	x, err := tensor.FromCoords([]int64{rows, columns}, f, coords[:], tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func denseVector(t *testing.T, n int64) *tensor.Tensor {
	t.Helper()
	values := make([]float64, n)
	for i := range values {
		values[i] = 1
	}
	x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestChoices reads what was weighed for a chain: with data by its statistics, without by guesses.
func TestChoices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	args := Args{"A": randomMatrix(t, r, 3000, 3000, 16, tensor.CSR), "B": randomMatrix(t, r, 3000, 3000, 16, tensor.CSR), "x": denseVector(t, 3000)}
	s := NewSession(WithEngine(runtime.Interp()))
	k, err := s.kernelFor(ctx, "y(i) = A(i,j)*B(j,k)*x(k)", args, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.Choices(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Guessed) > 0 || len(c.Products) != 1 || len(c.Statements) != 2 {
		t.Fatalf("%+v", c)
	}
	list := c.Products[0].Alternatives
	best := list[0]
	if len(best.Steps) != 2 || best.Steps[0].Text != "t1(j) = sum_{k} B(j,k) * x(k)" || best.Why != "" {
		t.Errorf("chosen: %+v", best)
	}
	if n := best.Steps[0].Iterations; n < 3000*16/2 || n > 3000*16*2 {
		t.Errorf("B(j,k)*x(k) is estimated at %g iterations, and takes %d", n, 3000*16)
	}
	nests := 0
	for _, a := range list[1:] {
		if a.Time < best.Time || a.Why == "" {
			t.Errorf("an alternative that takes %g ns, where the best takes %g: %q", a.Time, best.Time, a.Why)
		}
		if a.What == "one nest" {
			nests++
			if len(a.Steps) != 1 || a.Steps[0].Iterations < 3000*16*8 {
				t.Errorf("one nest: %+v", a.Steps)
			}
		}
	}
	if nests != 1 || len(list) < 3 {
		t.Errorf("%d alternatives, %d of which are one nest", len(list), nests)
	}
	if text, err := k.Explain("choices"); err != nil || text != c.String() {
		t.Errorf("without operands %v:\n%s\nwith:\n%s", err, text, c)
	}
	if k, err = s.Compile(ctx, "y(i) = A(i,j)*B(j,k)*x(k)", declare.Format("A", tensor.CSR, tensor.Float64), declare.Format("B", tensor.CSR, tensor.Float64), declare.Format("x", tensor.Dense(1), tensor.Float64)); err != nil {
		t.Fatal(err)
	}
	if text, err := k.Explain("choices"); err != nil || !strings.Contains(text, "guessed, as nothing is known of their data: statistics of A, B, x") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// TestMaskedProducts says how a product under a mask is computed: row by row where the mask has as many entries as the factors, each entry by itself, from columns, where
// it has few.
func TestMaskedProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	const n = 1000
	a, b := randomMatrix(t, r, n, n, 16, tensor.CSR), randomMatrix(t, r, n, n, 16, tensor.CSR)
	for want, mask := range map[string]*tensor.Tensor{
		"with a workspace (chosen)":  randomMatrix(t, r, n, n, 16, tensor.CSR),
		"with a conversion (chosen)": randomMatrix(t, r, n, n, 1, tensor.CSR),
	} {
		s := NewSession(WithEngine(runtime.Interp())) // which keeps what it has chosen for such a program
		k, err := s.Compile(ctx, "C(i,k) = M(i,k) * sum_j A(i,j)*B(j,k)", Result("C", tensor.CSR), declare.Operand("A", a), declare.Operand("B", b), declare.Operand("M", mask))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := k.Explain("plan"); err != nil || !strings.Contains(text, want) {
			t.Errorf("a mask of %d entries: %v, %s\nwant %s", mask.NNZ(), err, text, want)
		}
	}
}

// TestOneThread names what keeps threads from sharing a loop, and what would not.
func TestOneThread(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	s := NewSession(WithEngine(runtime.Interp()))
	a := randomMatrix(t, r, 100, 100, 4, tensor.CSC)
	for _, test := range []struct {
		text string
		args Args
		want string
	}{
		{"y(i) = A(i,j)*x(j)", Args{"A": a, "x": denseVector(t, 100)}, "runs on one thread, because chunks of its outermost loop, over j, add to the same elements of y: with A stored in another order, such as CSR, it is shared"},
		{"y(j) = A(i,j)*x(i)", Args{"A": a, "x": denseVector(t, 100)}, ""},
		{"y(i) = max_j A(i,j)", Args{"A": a}, ""},
	} {
		k, err := s.kernelFor(ctx, test.text, test.args, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.Choices(ctx, test.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Warnings, "\n"); !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "one thread") {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

// TestProfile compares what is said of the steps of a run with what they did.
func TestProfile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	args := Args{"A": randomMatrix(t, r, 500, 500, 8, tensor.CSR), "B": randomMatrix(t, r, 500, 500, 8, tensor.CSC), "x": denseVector(t, 500)}
	s := NewSession(WithEngine(runtime.Interp()))
	for _, test := range []struct {
		text    string
		results string
		sparse  string // of which the entries are compared
	}{
		{"y(i) = A(i,j)*B(j,k)*x(k)", "t1 y", ""},
		{"C(i,k) = A(i,j)*B(j,k)", "B_1 C", "C"},
	} {
		used := Args{"A": args["A"], "B": args["B"]}
		if strings.Contains(test.text, "x(") {
			used["x"] = args["x"]
		}
		k, err := s.kernelFor(ctx, test.text, used, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := k.RunAll(ctx, used)
		if err != nil {
			t.Fatal(err)
		}
		p, out, err := k.Profile(ctx, used)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, st := range p.Steps {
			names = append(names, st.Result)
			if strings.HasPrefix(st.What, "convert") {
				continue
			}
			checkLoops(t, test.text, &st)
			if st.Estimate == nil || st.Estimate.Time <= 0 || st.Took <= 0 || st.Took > p.Took {
				t.Errorf("%s: %+v", test.text, st)
				continue
			}
			if ratio := math.Abs(math.Log2(st.Estimate.Entries / float64(st.Entries))); st.Result == test.sparse && ratio > 2 {
				t.Errorf("%s: %g entries of %s are estimated, and there are %d", test.text, st.Estimate.Entries, st.Result, st.Entries)
			}
		}
		if got := strings.Join(names, " "); got != test.results {
			t.Errorf("%s: steps %q, want %q", test.text, got, test.results)
		}
		for name, o := range out {
			if diff := tensor.Diff(o, want[name]); diff != "" {
				t.Errorf("%s: %s differs under a profile: %s", test.text, name, diff)
			}
		}
		if text := p.String(); !strings.Contains(text, "in all") {
			t.Error(text)
		}
	}
	if _, _, err := (&Kernel{}).Profile(ctx, nil); err == nil {
		t.Error("a kernel of nothing has a profile")
	}
}

// checkLoops looks at the loops of a step: one is within the time of what is around it, and has a place in the program.
func checkLoops(t *testing.T, text string, st *StepProfile) {
	t.Helper()
	reached := 0
	for _, stage := range st.Stages {
		around := []time.Duration{stage.Took}
		for _, l := range stage.Loops {
			if l.Depth >= len(around) || l.Took > around[l.Depth] || l.Visits == 0 && l.Iterations > 0 || l.Pos >= len(text) {
				t.Errorf("%s, stage %s: %+v within %v", text, stage.Name, l, around)
				continue
			}
			around = append(around[:l.Depth+1], l.Took)
			if l.Visits > 0 && l.Iterations > 0 && l.Pos >= 0 {
				reached++
			}
		}
	}
	if reached == 0 {
		t.Errorf("%s: no loop of %s is told of", text, st.Result)
	}
}

// TestLoopsOfUnwanted: loops follow from what intermediates store, too, where the last result alone is wanted.
func TestLoopsOfUnwanted(t *testing.T) {
	ctx := context.Background()
	T := sparseLine(t, 30*30*30, []int64{30, 30, 30}, tensor.CSF(3), tensor.Float64, 0)
	dense := func() *tensor.Tensor {
		x, err := tensor.FromDense([]int64{30, 8}, tensor.Dense(2), tensor.ArrayOf(make([]float64, 240)))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	args := Args{"T": T, "U": dense(), "V": dense(), "W": dense()}
	s := NewSession(WithEngine(runtime.Interp()))
	var said [2]string
	for i, opts := range [][]Option{nil, {declare.Only("G")}} {
		k, err := s.kernelFor(ctx, "G(p,q,r) = T(i,j,k)*U(i,p)*V(j,q)*W(k,r)", args, opts)
		if err != nil {
			t.Fatal(err)
		}
		if said[i], err = k.Explain("schedule"); err != nil {
			t.Fatal(err)
		}
	}
	if said[0] != said[1] || strings.Count(said[0], "temporary") < 2 {
		t.Errorf("with all results wanted:\n%s\nwith the last one:\n%s", said[0], said[1])
	}
}
