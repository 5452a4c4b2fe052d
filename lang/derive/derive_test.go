package derive_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lang/derive"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// derived derives a program whose operands are declared as "A:CSR x:D".
func derived(t *testing.T, src, wrt, operands string) (string, error) {
	t.Helper()
	file, err := lang.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	decls := map[string]lang.Decl{}
	for _, n := range file.Names() {
		if !n.Assigned || strings.Contains(src, n.Name+"(i) +=") || strings.Contains(src, n.Name+"(i) *=") || strings.Contains(src, n.Name+"(i) max=") || strings.Contains(src, n.Name+"(i) |=") || strings.Contains(src, n.Name+"(0) +=") ||
			strings.HasPrefix(src, n.Name+"(p(i)) +=") {
			decls[n.Name] = lang.Decl{Rank: n.Rank, Format: tensor.Dense(n.Rank), HasFormat: true}
		}
	}
	for _, o := range strings.Fields(operands) {
		name, format, _ := strings.Cut(o, ":")
		d := lang.Decl{Rank: lang.AnyRank}
		if dt, err := tensor.ParseDType(format); err == nil {
			d.DType, d.HasDType = dt, true
		} else {
			f, err := tensor.ParseFormat(format, -1)
			if err != nil {
				t.Fatal(err)
			}
			d.Rank, d.Format, d.HasFormat = f.Rank(), f, true
		}
		decls[name] = d
	}
	check := func(f *lang.File) (*lang.Program, error) { return lang.Check(f, decls) }
	if _, err := check(file); err != nil {
		t.Fatal(err)
	}
	stores := func(p *lang.Program) map[*lang.Tensor]tensor.Format {
		plan, err := plan.New(t.Context(), p, ir.Options{}, scalar.Eval)
		if err != nil {
			t.Fatal(err)
		}
		formats := map[*lang.Tensor]tensor.Format{}
		for of, r := range plan.Results {
			formats[of] = r.Format
		}
		return formats
	}
	g, err := derive.Program(file, check, stores, wrt)
	if err != nil {
		return "", err
	}
	return g.File.String(), nil
}

func TestProgram(t *testing.T) {
	tests := []struct{ name, src, wrt, operands, want string }{
		{"product", "y(i) = sum_j A(i,j)*x(j)", "A", "A:CSR",
			"dA(i,j) = where(stored(A(i,j)), dy(i)*x(j), 0)"},
		{"the other factor", "y(i) = sum_j A(i,j)*x(j)", "x", "A:CSR",
			"dx(j) = sum_i (dy(i)*A(i,j))"},
		{"sampled product", "C(i,j) = A(i,j) * sum_k B(i,k)*D(k,j)", "B", "A:CSR",
			"g(i,j) = dC(i,j)*A(i,j)\ndB(i,k) = sum_j (g(i,j)*D(k,j))"},
		{"a sum of everything needs the extents of the operand", "y = sum_{i,j} A(i,j)", "A", "",
			"dA(i,j) = like(dy, A(i,j))"},
		{"ties share", "y(i) = max_j A(i,j)", "A", "A:CSR",
			"t(i) = max_j A(i,j)\nn(i) = sum_j where(A(i,j) == t(i) or A(i,j) != A(i,j), 1.0, 0)\n" +
				"dA(i,j) = where(stored(A(i,j)), where(A(i,j) == t(i) or A(i,j) != A(i,j), dy(i)/f64(n(i)), 0), 0)"},
		{"used twice", "y(i) = x(i)*x(i)", "x", "", "dx(i) = dy(i)*x(i) + dy(i)*x(i)"},
		{"two statements", "t(i) = exp(x(i)); y = sum_i t(i)*t(i)", "x", "",
			"t(i) = exp(x(i))\ndt(i) = dy*t(i) + dy*t(i)\ndx(i) = dt(i)*exp(x(i))"},
		{"convolution", "y(i) = sum_k x(i+k)*w(k)", "x", "",
			"dx(m) = like(sum_k (dy(m-k)*w(k)), x(m))"},
		{"convolution by the kernel", "y(i) = sum_k x(i+k)*w(k)", "w", "",
			"dw(k) = like(sum_i (dy(i)*x(i+k)), w(k))"},
		{"gather", "y(i) = A(p(i),i)", "A", "p:i64",
			"s(m,m1) = like(f64(0), A(m,m1))\ns(p(i),i) += dy(i)\ndA(m,m1) = s(m,m1)"},
		{"gather from a sparse tensor", "y(i) = A(p(i),i)", "A", "A:CSR p:i64",
			"s(m,m1) = where(stored(A(m,m1)), f64(0), 0)\ns(p(i),i) += dy(i)\ndA(m,m1) = where(stored(A(m,m1)), s(m,m1), 0)"},
		{"scatter", "u(j) = y(j); u(p(i)) += x(i); z = sum_j u(j)*w(j)", "x", "p:i64",
			"du(j) = dz*w(j)\ndx(i) = du(p(i))"},
		{"scatter, by what is added to", "u(j) = y(j); u(p(i)) += x(i); z = sum_j u(j)*w(j)", "y", "p:i64",
			"du(j) = dz*w(j)\ndy(j) = du(j)"},
		{"adding to a part", "y(0) += x(0)", "y", "", "dy1(m) = dy(m)"},
		{"diagonal", "y(i) = A(i,i)", "A", "A:CSC",
			"dA(i,m) = where(stored(A(i,m)), like(where(m == i, dy(i), 0), A(i,m)), 0)"},
		{"what decides is not differentiated", "y(i) = where(x(i) > 2, x(i), z(i))", "x", "",
			"dx(i) = where(x(i) > 2.0, dy(i), 0)"},
		{"nor what is not chosen", "y(i) = where(x(i) > 0, log(x(i)), 0)", "x", "",
			"dx(i) = where(x(i) > 0.0, dy(i)/x(i), 0)"},
		{"the other branch", "y(i) = where(x(i) > 0, 0, 1/x(i))", "x", "",
			"dx(i) = where(not x(i) > 0.0, -(dy(i)*(1.0/x(i))/x(i)), 0)"},
		{"zero everywhere", "y(i) = floor(x(i)) + 1", "x", "", "dx(m) = like(f64(0), x(m))"},
		{"an update that later statements read", "u(p(i)) += x(i)^2; y = sum_i u(i)^2", "x", "p:i64",
			"u(p(i)) += x(i)^2\ndu(i) = dy*2.0*u(i)\ndx(i) = du(p(i))*2.0*x(i)"},
		{"a change of type is undone", "y(i) = f64(x(i))*z(i)", "x", "x:f32",
			"dx(i) = f32(dy(i)*z(i))"},
		{"powers by a number", "y(i) = x(i)^3", "x", "", "dx(i) = dy(i)*3.0*x(i)^2.0"},
		{"mean", "y(i) = mean_j A(i,j)", "A", "",
			"n = sum_j like(1.0, A(0,j))\ndA(i,j) = like(dy(i)/f64(n), A(i,j))"},
		{"an update", "y(i) += x(i)^2", "x", "", "dx(i) = dy(i)*2.0*x(i)"},
		{"an update of the operand", "y(i) *= x(i)", "y", "", "dy1(i) = dy(i)*x(i)"},
		{"complex numbers", "y(i) = x(i)*z(i)", "x", "x:c128 z:c128", "dx(i) = dy(i)*conj(z(i))"},
		{"running maximum", "y(i) = cummax_i x(i)", "x", "",
			"t(i) = cummax_i x(i)\np(i) = cummax_i where(x(i) == t(i) or x(i) != x(i), i, -1)\ns(i) = like(f64(0), x(i))\ns(p(i)) += dy(i)\ndx(i) = s(i)"},
		{"sort", "y(i) = sort_i[descending] x(i)", "x", "",
			"p(i) = argsort_i[descending] x(i)\ns(i) = like(f64(0), x(i))\ns(p(i)) += dy(i)\ndx(i) = s(i)"},
		{"the first of a sort", "y(i) = sort_i[first=2] x(i)", "x", "",
			"p(i) = argsort_i[first=2] x(i)\ng(i) = where(i < 2, dy(i), 0)\ns(i) = like(f64(0), x(i))\ns(p(i)) += g(i)\ndx(i) = s(i)"},
		{"the first of a sort of a sparse operand", "y(i,j) = sort_j[first=2] A(i,j)", "A", "A:CSR",
			"p(i,j) = argsort_j[first=2] A(i,j)\ng(i,j) = where(j < 2, dy(i,j), 0)\ns(i,j) = where(stored(A(i,j)), f64(0), 0)\n" +
				"s(i,p(i,j)) += g(i,j)\ndA(i,j) = where(stored(A(i,j)), s(i,j), 0)"},
		{"scan over stored elements", "y(i,j) = cumsum_{j in A} A(i,j)", "A", "A:CSR",
			"g(i,j) = where(stored(A(i,j)), cumsum_{j in A}[reverse] where(stored(A(i,j)), dy(i,j), 0), 0)\ndA(i,j) = where(stored(A(i,j)), g(i,j), 0)"},
		{"a gather by what the program computes", "p(i) = floor(n(i)/2); q(i) = i64(p(i)); y(i) = x(q(i))", "x", "n:i64",
			"p(i) = floor(n(i)/2)\nq(i) = i64(p(i))\ns(m) = like(f64(0), x(m))\ns(q(i)) += dy(i)\ndx(m) = s(m)"},
		{"a value for each assignment", "t(i) = exp(x(i)); t(i) *= t(i) + x(i); y = sum_i t(i)", "x", "",
			"t(i) = exp(x(i))\n" +
				"t1(i) = t(i)*(t(i) + x(i))\n" +
				"dt1(i) = like(dy, t1(i))\n" +
				"dt(i) = dt1(i)*(t(i) + x(i)) + dt1(i)*t(i)\n" +
				"dx(i) = dt1(i)*t(i) + dt(i)*exp(x(i))"},
		{"a part that is assigned", "t(i) = x(i)^2; t(0:3) = z(:)*x(1); y(i) = t(i)*x(i)", "x", "",
			"t(i) = x(i)^2\n" +
				"t1(m) = t(m)\n" +
				"t1(:3) = z(:)*x(1)\n" +
				"dt1(i) = dy(i)*x(i)\n" +
				"g(:) = dt1(:3)\n" +
				"dt(m) = where(m < 3, 0, dt1(m))\n" +
				"dx(i) = dy(i)*t1(i) + like(sum_s where(s < 3 and i == 1, g(s)*z(s), 0), x(i)) + dt(i)*2.0*x(i)"},
		{"an update of a sparse operand that is read again", "A(i,j) *= x(j); y(i) = sum_j A(i,j)^2", "A", "A:CSR",
			"A1(i,j) = A(i,j)*x(j)\n" +
				"dA1(i,j) = where(stored(A(i,j)), dy(i)*2.0*A1(i,j), 0)\n" +
				"dA(i,j) = where(stored(A(i,j)), dA1(i,j)*x(j), 0)"},
		{"an adjoint is stored where the operand is after an update, too", "t(i,j) = exp(A(i,j)); t(0,j) = 1; y(i) = sum_j t(i,j)*x(j)", "A", "A:CSR",
			"dt1(i,j) = where(stored(A(i,j)), dy(i)*x(j), 0)\n" +
				"dt(m,m1) = where(stored(A(m,m1)), where(m == 0, 0, dt1(m,m1)), 0)\n" +
				"dA(i,j) = where(stored(A(i,j)), dt(i,j)*exp(A(i,j)), 0)"},
		{"a scatter of maxima", "r(p(i)) max= x(i)^2; y = sum_i r(i)*z(i)", "x", "p:i64 r:S",
			"r1(m) = r(m)\n" +
				"r1(p(i)) max= x(i)^2\n" +
				"dr1(i) = dy*z(i)\n" +
				"n(m) = where(stored(r(m)), f64(0), 0)\n" +
				"n(p(i)) += where(x(i)^2.0 == r1(p(i)) or x(i)^2.0 != x(i)^2.0, 1.0, 0)\n" +
				"dx(i) = where(x(i)^2.0 == r1(p(i)) or x(i)^2.0 != x(i)^2.0, dr1(p(i))/f64(n(p(i)) + where(r(p(i)) == r1(p(i)) or r(p(i)) != r(p(i)), 1.0, 0)), 0)*2.0*x(i)"},
		{"a scatter of factors", "r(p(i)) *= x(i); y(i) = r(i)^2", "r", "p:i64 r:S",
			"r1(m) = r(m)\n" +
				"r1(p(i)) *= x(i)\n" +
				"dr1(i) = where(stored(r(i)), dy(i)*2.0*r1(i), 0)\n" +
				"p1(m) = like(f64(1), r(m))\n" +
				"p1(p(i)) *= x(i)\n" +
				"dr(m) = where(stored(r(m)), dr1(m)*p1(m), 0)"},
		{"an extent from an index summed before", "y = sum_i (sum_k x(i+k)*w(k))^2", "w", "",
			"e(i) = sum_k like(0.0, x(i+k), w(k))\n" +
				"t(i) = like(sum_k (x(i+k)*w(k)), e(i))\n" +
				"g(i) = dy*2.0*t(i)\n" +
				"dw(k) = like(sum_i (g(i)*x(i+k)), w(k))"},
		{"product", "y(i) = prod_j x(i,j)", "x", "",
			"p(i,j) = cumprod_j[exclusive] x(i,j)\n" +
				"p1(i,j) = cumprod_j[exclusive, reverse] x(i,j)\n" +
				"dx(i,j) = dy(i)*(p(i,j)*p1(i,j))"},
		{"product of a sparse operand", "y(i) = prod_j A(i,j)", "A", "A:CSR",
			"n(i) = prod_j where(stored(A(i,j)), 1, A(i,j))\n" +
				"p(i,j) = cumprod_{j in A}[exclusive] A(i,j)\n" +
				"p1(i,j) = cumprod_{j in A}[exclusive, reverse] A(i,j)\n" +
				"dA(i,j) = where(stored(A(i,j)), dy(i)*(p(i,j)*p1(i,j)*n(i)), 0)"},
		{"product over stored elements", "y(i) = prod_{j in A} A(i,j)*x(j)", "x", "A:CSR",
			"x1(i,j) = where(stored(A(i,j)), A(i,j)*x(j), 0)\n" +
				"p(i,j) = where(stored(A(i,j)), cumprod_{j in A}[exclusive] where(stored(A(i,j)), x1(i,j), 0), 0)\n" +
				"p1(i,j) = where(stored(A(i,j)), cumprod_{j in A}[exclusive, reverse] where(stored(A(i,j)), x1(i,j), 0), 0)\n" +
				"dx(j) = sum_i (where(stored(A(i,j)), dy(i)*(p(i,j)*p1(i,j)), 0)*A(i,j))"},
		{"product of results that are dense beside a sparse operand", "t(i) = sum_j A(i,j)*x(j); y = prod_i t(i)", "x", "A:CSR",
			"t(i) = sum_j A(i,j)*x(j)\n" +
				"p(i) = cumprod_i[exclusive] t(i)\n" +
				"p1(i) = cumprod_i[exclusive, reverse] t(i)\n" +
				"dt(i) = dy*(p(i)*p1(i))\n" +
				"dx(j) = sum_i (dt(i)*A(i,j))"},
		{"product of rows that the operand has places for", "y = prod_i (sum_j A(i,j)*x(j))", "x", "A:CSR",
			"t(i) = sum_j (A(i,j)*x(j))\n" +
				"p(i) = cumprod_i[exclusive] t(i)\n" +
				"p1(i) = cumprod_i[exclusive, reverse] t(i)\n" +
				"g(i) = dy*(p(i)*p1(i))\n" +
				"dx(j) = sum_i (g(i)*A(i,j))"},
		{"a narrow type", "y(i) = var_j A(i,j)", "A", "A:bf16",
			"n = sum_j like(1.0, A(0,j))\n" +
				"t(i) = mean_j f32(A(i,j))\n" +
				"dA(i,j) = bf16(f32(dy(i))*2*(f32(A(i,j)) - t(i))/f32(n))"},
		{"names in use are avoided", "y = exp(sum_i t(i)*x(i))", "x", "",
			"t1 = sum_i (t(i)*x(i))\ng = dy*exp(t1)\ndx(i) = g*t(i)"},
	}
	for _, test := range tests {
		got, err := derived(t, test.src, test.wrt, test.operands)
		if err != nil || got != test.want {
			t.Errorf("%s: %s by %s gives\n%s %v\nwant\n%s", test.name, test.src, test.wrt, got, err, test.want)
			continue
		}
		if _, err := lang.Parse(got); err != nil {
			t.Errorf("%s: what is derived does not parse: %v", test.name, err)
		}
	}
}

func TestNoGradient(t *testing.T) {
	tests := []struct{ src, operands, want string }{
		{"y(i) = argsort_i x(i)*1.5", "", "argsort is not differentiable"},
		{"T(i,j) = 2*x(i)*A(i,j); y(i) = sum_{j in T} T(i,j)", "A:CSR", "what the result T stores"},
		{"T(i,j) = 2*x(i)*A(i,j); y(i,j) = cumsum_{j in T} T(i,j)", "A:CSR", "what the result T stores"},
		{"y(i) = cumsum_i x(i); z = y(p(i))", "p:i64", ""},
		{"n(i) *= i64(x(i)); y = sum_i n(i)*x(i)", "n:i64", "1:9: a conversion to i64 is not differentiable"},
		{"n(i) max= i64(x(i)); y = sum_i n(i)*x(i)", "n:i64", "1:11: a conversion to i64 is not differentiable"},
		{"n(i) |= x(i) > 0.2; y = sum_i n(i)*x(i)", "n:bool", "1:14: > is not differentiable"},
		{"z(i) = x(i) > 0.2; n(i) |= z(i); y = sum_i n(i)*x(i)", "n:bool", "1:20: or is not differentiable"},
		{"x(i) *= 2; y = prod_{i in x} x(i)", "x:S", "1:16: the gradient through what x stores after it was assigned again"},
		{"x(i) = 2.0", "", "1:1: x is assigned before anything reads it"},
		{"y(i) = z(i); y(i) *= z(i); w = sum_i x(i); y(i) += 1", "", "y does not depend on the values of x"},
	}
	for _, test := range tests {
		_, err := derived(t, test.src, "x", test.operands)
		if test.want == "" && err == nil {
			continue
		}
		if err == nil || test.want == "" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.src, err)
		}
	}
}

// TestErrorsPage checks the examples of docs/errors.md with a gradient.
func TestErrorsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range strings.Split(string(text), "\n## ")[1:] {
		code, _, _ := strings.Cut(entry, " ")
		_, block, _ := strings.Cut(entry, "```lacuna\n")
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(block, "# gradient:") {
			continue
		}
		seen++
		var wrt, operands, src string
		for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
			switch {
			case strings.HasPrefix(line, "# gradient: "):
				wrt = strings.TrimPrefix(line, "# gradient: ")
			case strings.HasPrefix(line, "# operands: "):
				for o := range strings.SplitSeq(strings.TrimPrefix(line, "# operands: "), ",") {
					name, rest, _ := strings.Cut(strings.TrimSpace(o), "(")
					if _, dt, typed := strings.Cut(rest, " "); typed {
						operands += name + ":" + dt + " "
					}
				}
			default:
				src += line + "\n"
			}
		}
		_, err := derived(t, src, wrt, operands)
		var e *lang.Error
		if !errors.As(err, &e) || string(e.Code) != code {
			t.Errorf("the example of %s gives %v", code, err)
		}
	}
	if seen != 3 {
		t.Errorf("%d examples with a gradient, want one for each code", seen)
	}
}
