package exec

import (
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestSourceMap looks up lines of stages: where in the program they come from.
func TestSourceMap(t *testing.T) {
	csr := func(names ...string) (opts []Option) {
		for _, name := range names {
			opts = append(opts, Format(name, tensor.CSR, tensor.Float64))
		}
		return opts
	}
	vector := func(name string) Option { return Format(name, tensor.Dense(1), tensor.Float64) }
	for _, test := range []struct {
		name, program string
		opts          []Option
		// stage, the beginning of a line, and what stands in the program where it comes from, between "<" and ">"
		want [][3]string
	}{
		{"product", "y(i) = sum_j A(i,j)*x(j)", append(csr("A"), vector("x")), [][3]string{
			{"syntax", "y(i) = A(i,j)", ""},
			{"syntax", "y(i) = sum_j", "<y>(i) = sum_j A(i,j)*x(j)"},
			{"logic", "y(i)", "<y>(i) = sum_j A(i,j)*x(j)"},
			{"schedule", "y(i)", "<y>(i) = sum_j A(i,j)*x(j)"},
			{"plan", "tensor A", "y(i) = sum_j <A>(i,j)*x(j)"},
			{"plan", "forall i", "y(<i>) = sum_j A(i,j)*x(j)"},
			{"plan", "forall j", "y(i) = sum_<j> A(i,j)*x(j)"},
			{"plan", "t0 sum= ", "y(i) = sum_j A(i,j)*<x>(j)"},
			{"lattice", "j: A, by entries", "y(i) = sum_<j> A(i,j)*x(j)"},
			{"loops", "for i =", "y(<i>) = sum_j A(i,j)*x(j)"},
			{"loops", "for p_A.1", "y(i) = sum_<j> A(i,j)*x(j)"},
			{"loops", "let A.8", "y(i) = sum_j <A>(i,j)*x(j)"},
			{"loops", "let x.9", "y(i) = sum_j A(i,j)*<x>(j)"},
			{"loops", "y_vals[i] = t", "<y>(i) = sum_j A(i,j)*x(j)"},
		}},
		{"two statements", "z(i) = sin(x(i)); C(i,j) = A(i,j) + B(i,j)", append(csr("A", "B"), vector("x"), Result("C", tensor.CSR)), [][3]string{
			{"logic", "C(i,j)", "z(i) = sin(x(i)); <C>(i,j) = A(i,j) + B(i,j)"},
			{"plan", "C(i,j) =", "z(i) = sin(x(i)); C(i,j) = A(i,j) + <B>(i,j)"},
			{"lattice", "j: A ∪ B", "z(i) = sin(x(i)); C(i,<j>) = A(i,j) + B(i,j)"},
			{"loops", "while ", "z(i) = sin(x(i)); C(i,<j>) = A(i,j) + B(i,j)"},
			{"loops", "z_vals[i]", "<z>(i) = sin(x(i)); C(i,j) = A(i,j) + B(i,j)"},
			{"loops", "C_vals[", "z(i) = sin(x(i)); <C>(i,j) = A(i,j) + B(i,j)"},
		}},
		{"scan", "S(i,j) = cumsum_j A(i,j)", csr("A"), [][3]string{
			{"plan", "scan ", "S(i,j) = <cumsum_j> A(i,j)"},
			{"loops", "for ", "S(i,j) = <cumsum_j> A(i,j)"},
		}},
		{"another order", "y(i) = sum_{j,k} A(i,j)*B(j,k)*x(k)", append(csr("A", "B"), vector("x")), [][3]string{
			{"plan", "forall k", "y(i) = sum_{j,<k>} A(i,j)*B(j,k)*x(k)"},
			{"loops", "let B", "y(i) = sum_{j,k} A(i,j)*<B>(j,k)*x(k)"},
		}},
	} {
		k, err := NewSession(WithEngine(runtime.Interp()), WithThreads(1)).Compile(t.Context(), test.program, test.opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range test.want {
			text, err := k.Explain(w[0])
			if err != nil {
				t.Fatal(err)
			}
			lines, err := k.SourceMap(w[0])
			if err != nil {
				t.Fatal(err)
			}
			if w[2] == "" {
				continue
			}
			marked := strings.Index(w[2], "<")
			if plain := strings.NewReplacer("<", "", ">", "").Replace(w[2]); plain != test.program {
				t.Fatalf("%s is not the program", plain)
			}
			found := false
			for i, line := range strings.Split(text, "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), w[1]) {
					found = found || slices.Contains(lines, SourceLine{i + 1, marked})
				}
			}
			if !found {
				t.Errorf("%s, %s: no line %q comes from %s:\n%s%v", test.name, w[0], w[1], w[2], text, lines)
			}
		}
	}
}
