package operand

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// generated is the tensor of a generator's text.
func generated(t *testing.T, text string, q Qualifiers) *tensor.Tensor {
	t.Helper()
	g, err := parseGenerator(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Load(context.Background(), cli.NewEnv(io.Discard, io.Discard), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestGenerate(t *testing.T) {
	tests := []struct {
		text string
		qual Qualifiers
		want string // as Tensor.String has it
	}{
		{"random(3,4)", Qualifiers{}, "3x4 f64 D, 12 stored, fill 0"},
		{"random(10,10,density=0.25)", Qualifiers{}, "10x10 f64 CSR, 25 stored, fill 0"},
		{"random(10,10,density=1)", Qualifiers{}, "10x10 f64 CSR, 100 stored, fill 0"},
		{"random(10,10,density=0)", Qualifiers{}, "10x10 f64 CSR, 0 stored, fill 0"},
		{"random(10,10,nnz=7)", Qualifiers{Format: "COO", DType: tensor.Int8}, "10x10 i8 COO, 7 stored, fill 0"},
		{"random(5,5,5,nnz=7,dtype=c64)", Qualifiers{}, "5x5x5 c64 CSF, 7 stored, fill 0+0i"},
		{"random(20,nnz=7,dtype=bool)", Qualifiers{}, "20 bool S, 7 stored, fill false"},
		{"random(0,5,density=0.5)", Qualifiers{}, "0x5 f64 CSR, 0 stored, fill 0"},
		{"random(1e10,1e10,nnz=5)", Qualifiers{}, "10000000000x10000000000 f64 DCSR, 5 stored, fill 0"},
		{"random(1000000000000000000,nnz=5)", Qualifiers{}, "1000000000000000000 f64 S, 5 stored, fill 0"},
		{"range(3)", Qualifiers{}, "3 i64 D, 3 stored, fill 0"},
		{"range(3,dtype=f16)", Qualifiers{}, "3 f16 D, 3 stored, fill 0"},
	}
	for _, test := range tests {
		if got := generated(t, test.text, test.qual).String(); got != test.want {
			t.Errorf("%s is %s, want %s", test.text, got, test.want)
		}
	}
}

func TestGenerateIsReproducible(t *testing.T) {
	first := generated(t, "random(30,30,density=0.1,seed=4)", Qualifiers{})
	if d := tensor.Diff(first, generated(t, "random(30,30,density=0.1,seed=4)", Qualifiers{})); d != "" {
		t.Errorf("the same seed gave another tensor: %s", d)
	}
	if tensor.Equal(first, generated(t, "random(30,30,density=0.1,seed=5)", Qualifiers{})) {
		t.Error("another seed gave the same tensor")
	}
}

func TestSeedsDiffer(t *testing.T) {
	list, err := ParseAll([]string{"A=random(9)", "n=range(3)", "B=random(9)", "C=random(9,seed=1)"})
	if err != nil {
		t.Fatal(err)
	}
	var seeds []uint64
	for _, o := range list {
		seeds = append(seeds, o.Source.(*generator).seed)
	}
	if want := []uint64{1, 1, 2, 1}; !slices.Equal(seeds, want) {
		t.Errorf("seeds %v, want %v", seeds, want)
	}
}
