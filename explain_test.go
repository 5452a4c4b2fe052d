package lacuna

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

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
	session := NewSession(WithEngine(runtime.Interp()))
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
			k, err := session.Compile(strings.TrimSpace(section("program")), goldenOperands(t, section("operands"))...)
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
			stats, err := k.eachVariant(func(v *variant) (string, error) { return v.lower.Program.Stats().String() + "\n", nil })
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

// goldenOperands parses lines "NAME: FORMAT TYPE [RANK] [fill VALUE]".
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
		f, err := tensor.ParseFormat(fields[0], rank)
		if err != nil {
			t.Fatal(err)
		}
		dt, err := tensor.ParseDType(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		opts = append(opts, Format(name, f, dt))
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
