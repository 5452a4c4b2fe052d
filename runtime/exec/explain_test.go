package exec

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGoldenStages compares what every stage prints with testdata/explain: one
// file for each program holds its operands and the text of the stages, and
// counts of loops, branches, loads and stores, so that a lost optimisation
// shows.
func TestGoldenStages(t *testing.T) {
	files, err := filepath.Glob("testdata/explain/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	session := NewSession(WithEngine(runtime.Interp()), WithThreads(2))
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			section := func(name string) string {
				for _, f := range archive.Files {
					if f.Name == name {
						return string(f.Data)
					}
				}
				return ""
			}
			k, err := session.Compile(t.Context(), strings.TrimSpace(section("program")), goldenOperands(t, section("operands"))...)
			if err != nil {
				t.Fatal(err)
			}
			out := &txtar.Archive{Files: []txtar.File{
				{Name: "program", Data: []byte(section("program"))},
				{Name: "operands", Data: []byte(section("operands"))},
			}}
			for _, stage := range []string{"syntax", "plan", "lattice", "loops"} {
				text, err := k.Explain(stage)
				if err != nil {
					t.Fatal(err)
				}
				out.Files = append(out.Files, txtar.File{Name: stage, Data: []byte(strings.TrimRight(text, "\n") + "\n")})
			}
			stats, err := k.eachVersion(func(v *version) (string, error) { return v.Lower.Program.Stats().String() + "\n", nil })
			if err != nil {
				t.Fatal(err)
			}
			out.Files = append(out.Files, txtar.File{Name: "stats", Data: []byte(stats)})
			got := txtar.Format(out)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(got)); diff != "" {
				t.Errorf("stages changed (run go test -update if that is right):\n%s", diff)
			}
		})
	}
}

// goldenOperands parses lines "NAME: FORMAT TYPE [RANK] [STRUCTURE] [fill VALUE]"; an
// operand in parts has their formats with plus signs between.
func goldenOperands(t *testing.T, text string) []Option {
	var opts []Option
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		rank := 2
		if len(fields) > 2 {
			if n, err := strconv.Atoi(fields[2]); err == nil {
				rank = n
			}
		}
		var formats []tensor.Format
		for _, text := range strings.Split(fields[0], "+") {
			f, err := tensor.ParseFormat(text, rank)
			if err != nil {
				t.Fatal(err)
			}
			formats = append(formats, f)
		}
		dt, err := tensor.ParseDType(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		switch structure, err := tensor.ParseStructure(fields[len(fields)-1]); {
		case err == nil:
			opts = append(opts, FormatTriangle(name, formats[0], dt, structure))
		case len(formats) > 1:
			opts = append(opts, FormatParts(name, dt, formats...))
		default:
			opts = append(opts, Format(name, formats[0], dt))
		}
		if i := strings.Index(rest, "fill "); i >= 0 {
			v, err := tensor.ParseScalar(strings.TrimSpace(rest[i+5:]), dt)
			if err != nil {
				t.Fatal(err)
			}
			opts = append(opts, Fill(name, v))
		}
	}
	return opts
}

// Warnings name loops over whole dimensions of which operands store only some
// coordinates, and no others.
func TestWarnings(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()), WithThreads(2))
	sparse, dense := Format("x", tensor.CSF(1), tensor.Float64), Format("x", tensor.Dense(1), tensor.Float64)
	for _, test := range []struct {
		text string
		opts []Option
		want string
	}{
		{"y = sum_i sin(x(i)+i)", []Option{sparse}, "visits every i: x stores only some"},
		{"y = sum_i sin(x(i)+i)", []Option{dense}, ""},
		{"y = sum_i cos(x(i))", []Option{sparse}, ""},                                                                 // one value at the others
		{"y(i) = x(i)+i", []Option{sparse}, ""},                                                                       // y is as large
		{"y = sum_i (x(i)+i)*z(i)", []Option{sparse, Format("z", tensor.Dense(1), tensor.Float64)}, ""},               // z too
		{"y = sum_i max(x(i)+i,z(i))", []Option{sparse, Format("z", tensor.CSF(1), tensor.Float64)}, "x and z store"}, // neither
		{"y = sum_{i,j} sin(A(i,j)+j)", []Option{Format("A", tensor.DCSR, tensor.Float64)}, "visits every j: A"},
	} {
		k, err := s.Compile(t.Context(), test.text, test.opts...)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range k.Warnings() {
			got += "\n" + w.Msg
			if w.Code != lang.WarnWholeLoop || !strings.HasPrefix(test.text[w.Pos.Offset:], strings.Split(w.Msg, ":")[0][len("visits every "):]) {
				t.Errorf("%s: the warning is %s, at %s", test.text, w.Code, w.Pos)
			}
		}
		got = strings.TrimPrefix(got, "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: warnings %q, want %q", test.text, got, test.want)
		}
		plan, err := k.Explain("plan")
		if err != nil || strings.Contains(plan, "warning: visits") != (got != "") {
			t.Errorf("%s: the plan is %q (%v)", test.text, plan, err)
		}
	}
}

// TestExplainWorkspaceKind: the extents and entries of the latest run are why workspaces are of
// their kind.
func TestExplainWorkspaceKind(t *testing.T) {
	matrix := func(columns int64, entries int) *tensor.Tensor {
		coords := [][]int64{{}, {}}
		for p := range int64(entries) {
			coords[0], coords[1] = append(coords[0], p%7), append(coords[1], p*(columns/int64(entries)))
		}
		a, err := tensor.FromCoords([]int64{7, columns}, tensor.DCSR, coords, tensor.ArrayOf(make([]float64, entries)))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	small := matrix(7, 7)
	k, err := NewSession(WithEngine(runtime.Interp())).Compile(t.Context(), "C(i,j) = sum_k A(i,k) * B(k,j)", Operand("A", small), Operand("B", small), Result("C", tensor.DCSR))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		b    *tensor.Tensor // nil: no run
		want string
	}{
		{nil, "workspaces: dense until a run tells the extents"},
		{matrix(20_000, 20), "workspaces: dense, as 20,000 keys are no more than 1,048,576: 159 KiB for each thread"},
		{matrix(1<<40, 20), "workspaces: sort, as 1,099,511,627,776 keys are too many for a place each (8.12 TiB), and the operands have only 27 entries"},
		{matrix(1<<40, 1000), "workspaces: hash, as 1,099,511,627,776 keys are too many for a place each (8.12 TiB), and the operands have 1,007 entries, too many for a list to sort"},
	} {
		if c.b != nil {
			if _, err := k.Run(t.Context(), Args{"A": small, "B": c.b}); err != nil {
				t.Fatal(err)
			}
		}
		text, err := k.Explain("lattice")
		if err != nil || !strings.Contains(text, c.want) {
			t.Errorf("want %q in:\n%s (%v)", c.want, text, err)
		}
	}
}
