package exec

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// scheduled compiles a program of a page: the line before it declares operands that are not dense, "# A:CSR".
func scheduled(t *testing.T, block string) (*Kernel, error) {
	t.Helper()
	head, src, _ := strings.Cut(block, "\n")
	var opts []declare.Option
	for _, field := range strings.Fields(strings.TrimPrefix(head, "#")) {
		name, format, _ := strings.Cut(field, ":")
		f, err := tensor.ParseFormat(format, -1)
		if err != nil {
			t.Fatal(err)
		}
		if name == "C" {
			opts = append(opts, declare.Result(name, f))
		} else {
			opts = append(opts, declare.Format(name, f, tensor.Float64))
		}
	}
	opts = append(opts, declare.Format("x", tensor.Dense(1), tensor.Float64))
	return NewSession(WithEngine(runtime.Interp())).Compile(context.Background(), src, opts...)
}

// TestSchedulePage compiles the programs of docs/schedule.md: those that hold, and those that are refused.
func TestSchedulePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/schedule.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, block := range strings.Split(string(page), "```") {
		kind, text, _ := strings.Cut(block, "\n")
		if i%2 == 0 || kind != "schedule" && kind != "refused" {
			continue
		}
		n++
		_, err := scheduled(t, text)
		var refused *lang.Error
		switch {
		case kind == "schedule" && err != nil:
			t.Errorf("%s%v", text, err)
		case kind == "refused" && (!errors.As(err, &refused) || refused.Code != lang.ErrSchedule || !refused.Pos.IsKnown() || refused.Source == ""):
			t.Errorf("%s%v, want E402 with a place", text, err)
		}
	}
	if n < 6 {
		t.Errorf("%d examples", n)
	}
}

// TestSchedules tells what schedules make of a program.
func TestSchedules(t *testing.T) {
	const product = "# A:CSR B:CSR C:CSR\nC(i,j) = A(i,k)*B(k,j) with "
	const matVec = "# A:CSR\ny(i) = A(i,j)*x(j) with "
	const dense = "# A:D-D B:D-D\nY(i,j) = A(i,k)*B(k,j) with order(i, k, j), "
	for _, test := range []struct{ program, stage, want string }{
		{matVec + "order(i, j)", "schedule", "order(i, {j}), parallel(i)"},
		{matVec + "order(j, i)", "plan", "convert A -> A_1: CSC"},
		{matVec + "convert(A: CSC)", "schedule", "order(j, i), convert(A: CSC)"},
		{matVec + "convert(A: DCSR)", "plan", "convert A -> A_1: DCSR    # the schedule asks for it"},
		{matVec + "serial", "loops", "stage compute {"},
		{matVec + "parallel(i: 7)", "loops", "grain 7 "},
		{matVec + "unroll(i: 2)", "loops", "for unroll 2 i = lo to hi"},
		{matVec + "unroll(i: 2)", "schedule", "unroll(i: 2), parallel(i)"},
		{matVec + "split(j: 64, i: 4)", "loops", "for p_A.1 = from.2 to to.3 {"},
		{matVec + "split(j: 64, i: 4)", "schedule", "split(i: 4, j: 64), parallel(i)"},
		{dense + "tile(k: 32, j: 64)", "loops", "for k = from to to.1 {"},
		{dense + "tile(i: 32, k: 64), vectorize(j: 4)", "loops", "for independent lanes 4 j = 0 to n_j {"},
		{dense + "tile(i: 32, k: 64), vectorize(j: 4)", "schedule", "order(i, k, j), vectorize(j: 4), tile(i: 32, k: 64), parallel(i)"},
		{matVec + "positions(j: A)", "schedule", "order(i, {j}), parallel(i)"},
		{product + "workspace(none)", "schedule", "order(i, j, {k})"},
		{product + "workspace(j: hash)", "lattice", "hash"},
		{product + "workspace(i, j)", "plan", "rank 2"},
		{product + "order(k, i, j)", "schedule", "order({k, i, j}, i, j)"},
		{"# A:CSR\ns = A(i,j)*A(j,k)*A(i,k) with intersect(merge)", "loops", "func reduce_t0("},
	} {
		k, err := scheduled(t, test.program)
		if err != nil {
			t.Errorf("%s: %v", test.program, err)
			continue
		}
		text, err := k.Explain(test.stage)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, test.want) {
			t.Errorf("%s has the %s\n%swant %q in it", test.program, test.stage, text, test.want)
		}
	}
}

// TestSchedulesRefused tells what is said of schedules that cannot hold.
func TestSchedulesRefused(t *testing.T) {
	const matVec = "# A:CSR\ny(i) = A(i,j)*x(j) with "
	for _, test := range []struct{ program, want string }{
		{matVec + "oder(i)", "did you mean order?"},
		{matVec + "order(i, k)", "no loop over k"},
		{matVec + "order(i, i)", "twice"},
		{matVec + "order(j, {i})", "no loops that compute the statement"},
		{matVec + "order(i, j), order(j, i)", "said twice"},
		{matVec + "order(j, i), convert(none)", "each command can hold"},
		{matVec + "workspace(j)", "no loops"},
		{matVec + "workspace(i: tree)", "kinds are dense, hash, sort"},
		{matVec + "convert(B: CSC)", "reads no tensor B"},
		{matVec + "convert(A: D-D)", "single entries"},
		{matVec + "convert(A: CSX)", "convert"},
		{matVec + "intersect(table)", "no loops"},
		{matVec + "assemble(joined)", "dense"},
		{matVec + "parallel(j)", "no loops"},
		{matVec + "positions(j: x)", "no loops that compute the statement have positions(j: x)"},
		{matVec + "positions(j: B)", "reads no tensor B"},
		{matVec + "unroll(i)", "numbers from 1 to 64"},
		{matVec + "unroll(k: 2)", "no loop over k"},
		{matVec + "split(i: 0)", "numbers from 1 to"},
		{matVec + "split(i: 2, i: 3)", "split has the loop over i twice"},
		{matVec + "tile(i: 2)", "write split(i: 64) for one loop"},
		{matVec + "tile(i: 2, j: 4)", "do not stand directly in each other"},
		{matVec + "order(j, i), tile(j: 2, i: 4)", "runs over what is stored under another"},
		{"# A:CSR B:CSR\ny(i) = A(i,j)*B(i,j) with split(j: 2)", "no counting loop runs over j"},
		{matVec + "vectorize(j: 4)", "may wait for the one before"},
		{matVec + "vectorize(j: 3)", "another power of two"},
		{"# A:CSR B:CSR\ny(i) = A(i,j)*B(i,j) with unroll(j: 2)", "no counting loop"},
		{matVec + "parallel(i: 0)", "from 1 on"},
		{matVec + "parallel(i), serial", "both"},
		{matVec + "store", "takes one format"},
		{"# A:CSR\ny(i) = x(i); y(i) += x(i) with order(i", "never closed"},
		{"# C:CSR\nC(i,j) = x(i)*x(j) with order(j, i), workspace(none)", "no loops"},
	} {
		_, err := scheduled(t, test.program)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "^") {
			t.Errorf("%s: %v, want %q", test.program, err, test.want)
		}
	}
}

// TestScheduleText finds the statements that a schedule in a text of its own speaks of, and the places in that text.
func TestScheduleText(t *testing.T) {
	compile := func(text string) error {
		_, err := NewSession(WithEngine(runtime.Interp())).Compile(context.Background(), "y(i) = x(i); y(i) += 2*x(i); z(i) = y(i)",
			declare.Format("x", tensor.Dense(1), tensor.Float64), declare.Schedule(text))
		return err
	}
	if err := compile("y: serial; y: parallel(i)\nz: order(i)"); err != nil {
		t.Error(err)
	}
	for _, test := range []struct{ text, want string }{
		{"order(i)", "begin it with what the statement assigns"},
		{"y: serial; y: serial; y: serial", "is left"},
		{"z: order(j)", "z: order(j)\n             ^"},
		{"z: order(i", "never closed"},
		{"z: order i", "unexpected"},
	} {
		if err := compile(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		}
	}
}

// TestScheduleOfScheduled: what is printed of a schedule can be read, also where the statement has steps that it does not speak
// of, or stores again what no schedule can name.
func TestScheduleOfScheduled(t *testing.T) {
	for _, program := range []string{
		"# A:CSR\ny(i) = stored(A(i,j))*x(j) with order(j, i)",
		"# A:CSR\ns = quantile_i(x(i)*x(i), where(x(0) != x(1), 0.25, 0.75)) + x(0:3)",
		"# A:CSR\ny(i) = A(i,j)*cumsum_j x(j) with serial",
	} {
		head, _, _ := strings.Cut(program, "\n")
		var said [2]string
		for i := range said {
			k, err := scheduled(t, program)
			if err != nil {
				t.Fatalf("%s: %v", program, err)
			}
			if said[i], err = k.Explain("schedule"); err != nil {
				t.Fatal(err)
			}
			program = head + "\n" + said[i]
		}
		if said[0] != said[1] {
			t.Errorf("%sgives\n%s", said[0], said[1])
		}
	}
}
