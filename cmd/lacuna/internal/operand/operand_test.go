package operand

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// existing is a file system for parseSource.
func existing(paths ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(paths, path) }
}

func TestParseSource(t *testing.T) {
	exists := existing("web.mtx", "a:b.mtx", "odd:CSR", `C:\x.mtx`, "3", "random(2)")
	tests := []struct {
		text   string
		source string // kind and text
		quals  Qualifiers
	}{
		{"web.mtx", "file web.mtx", Qualifiers{}},
		{"web.mtx:CSR", "file web.mtx", Qualifiers{Format: "CSR"}},
		{"web.mtx:CSR[f32]", "file web.mtx", Qualifiers{Format: "CSR", DType: tensor.Float32}},
		{"web.mtx:[f32]", "file web.mtx", Qualifiers{DType: tensor.Float32}},
		{"web.mtx:f32", "file web.mtx", Qualifiers{DType: tensor.Float32}},
		{"web.mtx:C-S[1,0]", "file web.mtx", Qualifiers{Format: "C-S[1,0]"}},
		{"web.mtx:CSF[2,0,1][i8]", "file web.mtx", Qualifiers{Format: "CSF[2,0,1]", DType: tensor.Int8}},
		{"web.mtx:ds:base=0", "file web.mtx", Qualifiers{Format: "ds", base: "0"}},
		// Names with colons belong to the files that are there.
		{"a:b.mtx", "file a:b.mtx", Qualifiers{}},
		{"a:b.mtx:CSC", "file a:b.mtx", Qualifiers{Format: "CSC"}},
		{"odd:CSR", "file odd:CSR", Qualifiers{}},
		{`C:\x.mtx:CSR`, `file C:\x.mtx`, Qualifiers{Format: "CSR"}},
		// Of files that are not, all that can be qualifiers is.
		{"gone.mtx:CSR", "file gone.mtx", Qualifiers{Format: "CSR"}},
		{"go:ne.npz:entry=x:CSR", "file go:ne.npz", Qualifiers{entry: "x", Format: "CSR"}},
		{"gone.mtx:what", "file gone.mtx:what", Qualifiers{}},
		{"t.tns:dims=4,1e3:kind=tns", "file t.tns", Qualifiers{dims: []int64{4, 1000}, kind: "tns"}},
		{"-", "file -", Qualifiers{}},
		// Numbers.
		{"3.5", "number 3.5", Qualifiers{}},
		{"-3:[f32]", "number -3", Qualifiers{DType: tensor.Float32}},
		{"1+2i", "number 1+2i", Qualifiers{}},
		{"inf", "number inf", Qualifiers{}},
		{"true", "number true", Qualifiers{}},
		{"3", "file 3", Qualifiers{}},
		// Generators.
		{"random(3,4,density=0.5):CSC[c64]", "generator random(3,4,density=0.5)", Qualifiers{Format: "CSC", DType: tensor.Complex64}},
		{"range(4)", "generator range(4)", Qualifiers{}},
		{"random(2)", "file random(2)", Qualifiers{}},
	}
	for _, test := range tests {
		src, q, err := parseSource(test.text, exists)
		if err != nil {
			t.Errorf("parseSource(%q): %v", test.text, err)
			continue
		}
		got := "generator " + src.String()
		switch src.(type) {
		case DiskFile:
			got = "file " + src.String()
		case literal:
			got = "number " + src.String()
		}
		if got != test.source {
			t.Errorf("parseSource(%q) = %s, want %s", test.text, got, test.source)
		}
		if d := cmp.Diff(test.quals, q, cmp.AllowUnexported(Qualifiers{})); d != "" {
			t.Errorf("parseSource(%q): qualifiers (-want +got):\n%s", test.text, d)
		}
	}
}

func TestParseOperandErrors(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"x", "is not an operand: write NAME=FILE"},
		{"operand_test.go", "is a file: write NAME=operand_test.go"},
		{"", "is not an operand"},
		{"=web.mtx", "is not a name"},
		{"3x=web.mtx", "is not a name"},
		{"a-b=web.mtx", "is not a name"},
		{"x=", "nothing behind"},
		{"y:", "nothing behind the colon"},
		{"y=:CSR", "no file in front"},
		{"x=operand_test.go:entry=", "entry=: a name or number is missing"},
		{"x=operand_test.go:nodes=a,", "nodes=a,: a name or number is missing"},
		{"x=gone.mtx:CRS", "there is no file gone.mtx; and behind it: unknown format \"CRS\": did you mean \"CSR\"?"},
		{"x=gone.mtx:entri=x", "there is no file gone.mtx; and behind it: unknown option \"entri\"; did you mean entry?"},
		{"y:CRS", "unknown format"},
		{"y:CSR:CSC", "more than one format"},
		{"y:CSR[f33]", "unknown element type"},
		{"y:entry=x", "need a file"},
		{"x=operand_test.go:entri=x", "unknown option \"entri\"; did you mean entry?"},
		{"x=operand_test.go:kind=mtxx", "did you mean mtx?"},
		{"x=operand_test.go:base=2", "from 0 or from 1"},
		{"x=operand_test.go:dims=4,-1", "is not a size"},
		{"x=random(3", "is not closed"},
		{"x=random(3)CSR", "a format follows a colon"},
		{"x=rondom(3)", "did you mean random?"},
		{"x=random(3,densty=1)", "did you mean density?"},
		{"x=random(3,)", "is not a size"},
		{"x=random(3,density=nan)", "from 0 to 1"},
		{"x=random(3,density=1,nnz=3)", "give one of them"},
		{"x=random(3,nnz=4)", "more than the 3 elements"},
		{"x=random(3,seed=-1)", "seed=-1"},
		{"x=random(99999999999999999999)", "is not a size"},
		{"x=range(3,4)", "takes one size"},
		{"x=range(3,seed=4)", "range has no argument \"seed\""},
		{"x=random(" + strings.Repeat("1,", 64) + "1)", "there may be 64"},
	}
	for _, test := range tests {
		_, err := Parse(test.arg)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q): %v, want an error with %q", test.arg, err, test.want)
		} else if cli.StatusOf(err) != cli.StatusUsage {
			t.Errorf("Parse(%q): status %d, want %d", test.arg, cli.StatusOf(err), cli.StatusUsage)
		}
	}
}

func TestParseDestination(t *testing.T) {
	tests := []struct{ text, name, path, format string }{
		{"y.npy", "", "y.npy", ""},
		{"y=out.npy", "y", "out.npy", ""},
		{"dir/y=out.npy", "", "dir/y=out.npy", ""},
		{"./y=out.npy", "", "./y=out.npy", ""},
		{"C=c.mtx:CSC", "C", "c.mtx", "CSC"},
		{"a:b.mtx", "", "a:b.mtx", ""},
	}
	for _, test := range tests {
		d, err := ParseDestination(test.text)
		if err != nil || d.Name != test.name || d.Path != test.path || d.qual.Format != test.format {
			t.Errorf("ParseDestination(%q) = %+v, %v", test.text, d, err)
		}
	}
	for _, text := range []string{"", "y=", "y.npy:[f32]"} {
		if _, err := ParseDestination(text); cli.StatusOf(err) != cli.StatusUsage {
			t.Errorf("ParseDestination(%q): %v, want a usage error", text, err)
		}
	}
}

func TestParseNumber(t *testing.T) {
	tests := []struct {
		text string
		want tensor.Scalar
	}{
		{"3", tensor.Int(tensor.Int64, 3)},
		{"-3", tensor.Int(tensor.Int64, -3)},
		{"3.0", tensor.Float(tensor.Float64, 3)},
		{"1e3", tensor.Float(tensor.Float64, 1000)},
		{"99999999999999999999", tensor.Float(tensor.Float64, 1e20)},
		{"2i", tensor.Complex(tensor.Complex128, 2i)},
		{"1-2i", tensor.Complex(tensor.Complex128, 1-2i)},
		{"false", tensor.Truth(false)},
	}
	for _, test := range tests {
		if got, err := ParseNumber(test.text, tensor.Invalid); err != nil || got != test.want {
			t.Errorf("ParseNumber(%q) = %v (%s), %v", test.text, got, got.DType(), err)
		}
	}
	for _, text := range []string{"", "x", "-", "+-3", "1.2.3", "web.mtx"} {
		if got, err := ParseNumber(text, tensor.Invalid); err == nil {
			t.Errorf("ParseNumber(%q) = %v, want an error", text, got)
		}
	}
}

// FuzzOperand checks that no argument makes the parsers panic.
func FuzzOperand(f *testing.F) {
	for _, seed := range []string{"A=web.mtx:CSR[f32]", "x=random(3,density=.5,seed=1):D", "y:CSF[1,0]", "a=1+2i", "α=:::", "x=random(,)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		Parse(arg)
		ParseDestination(arg)
		units.ParseBytes(arg)
	})
}
