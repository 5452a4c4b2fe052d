package lang

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// extentsText writes the extents of a program: for each statement its index
// variables, then the shapes of the results.
func extentsText(p *Program, e *Extents) string {
	var words []string
	for i, s := range p.Stmts {
		for _, x := range s.Indices {
			name := x.Name
			if name == "" {
				name = ":"
			}
			words = append(words, fmt.Sprintf("%s=%d", name, e.Index[i][x.ID]))
		}
	}
	for _, t := range p.Tensors {
		if t.Result {
			words = append(words, fmt.Sprintf("%s%v", t.Name, e.Shapes[t.Name]))
		}
	}
	return strings.Join(words, " ")
}

func TestBind(t *testing.T) {
	for _, c := range []struct{ src, decls, shapes, want string }{
		{"y(i) = A(i,j)*x(j)", "A(2), x(1)", "A=3x4 x=4", "i=3 j=4 y[3]"},
		{"y = x(i)*x(i)", "x(1)", "x=7", "i=7 y[]"},
		{"y = 2", "", "", "y[]"},
		{"y(i) = A(i,j)", "A(2)", "A=0x4", "i=0 j=4 y[0]"},
		{"t(i,k) = A(i,j)*A(j,k); y(k) = t(i,k)", "A(2)", "A=3x3", "i=3 k=3 j=3 k=3 i=3 t[3 3] y[3]"},
		// The largest extent for which affine uses stay inside.
		{"y(i) = x(i+1)", "x(1)", "x=5", "i=4 y[4]"},
		{"y(i) = x(i-1)", "x(1)", "x=5", "i=6 y[6]"},
		{"y(i) = x(2*i)", "x(1)", "x=5", "i=3 y[3]"},
		{"y(i) = x(2*i+1)", "x(1)", "x=5", "i=2 y[2]"},
		{"y(i) = x(3-i)", "x(1)", "x=5", "i=4 y[4]"},
		{"y(i) = x(9-2*i)", "x(1)", "x=5", "i=5 y[5]"},
		{"y(i) = x(-i)", "x(1)", "x=5", "i=1 y[1]"},
		{"y(i) = x(-1-i)", "x(1)", "x=5", "i=0 y[0]"},
		{"y(i) = x(i+7)", "x(1)", "x=5", "i=0 y[0]"},
		{"y(i) = x(i+1) + z(i+2)", "x(1), z(1)", "x=5 z=9", "i=4 y[4]"},
		{"y(i) = x(i+k)*w(k)", "x(1), w(1)", "x=9 w=3", "i=7 k=3 y[7]"},
		{"y(i) = x(i-k+1)*w(k)", "x(1), w(1)", "x=9 w=3", "i=8 k=3 y[8]"},
		{"y(i) = x(i+k)*w(k)", "x(1), w(1)", "x=9 w=0", "i=9 k=0 y[9]"},
		{"y(i) = x(i+k)*w(k)", "x(1), w(1)", "x=2 w=3", "i=0 k=3 y[0]"},
		{"y(i,j) = x(i+k)*w(k)*z(j+i)", "x(1), w(1), z(1)", "x=9 w=3 z=20", "i=7 j=14 k=3 y[7 14]"},
		{"y(j,i) = x(i+k)*w(k)*z(j+i)", "x(1), w(1), z(1)", "x=9 w=3 z=20", "j=14 i=7 k=3 y[14 7]"},
		{"y(j,i) = x(i+k)*w(k)*z(j+i)*v(j+k)", "x(1), w(1), z(1), v(1)", "x=9 w=3 z=20 v=5", ""},
		{"y(i) = x(i+k+l)*w(k+l)*w(l)", "x(1), w(1)", "x=9 w=4", "i=6 k=1 l=4 y[6]"},
		{"y(i) = x(i+1)", "x(1), result y(1) shape=9", "x=5", "i=9 y[9]"},
		{"y(i) = x(9223372036854775807*i)", "x(1)", "x=5", "i=1 y[1]"},
		{"y(i) = x(i+1)", "x(1)", "x=9223372036854775807", "i=9223372036854775806 y[9223372036854775806]"},
		// What does not fit 64 bits is refused, and what fits just so is not.
		{"y(i) = x(i-9223372036854775807)", "x(1)", "x=5", ""},
		{"y(i) = x(i-9223372036854775801)", "x(1)", "x=5", "i=9223372036854775806 y[9223372036854775806]"},
		{"y(i) = x(4611686018427387904*k-i)*w(k)", "x(1), w(1)", "x=5 w=3", ""},
		{"y(i) = x(4611686018427387904*k-i)*w(k)", "x(1), w(1)", "x=5 w=2", "i=1 k=2 y[1]"},
		{"y(i) = x(i+4611686018427387904*k)*w(k)", "x(1), w(1)", "x=5 w=2", "i=0 k=2 y[0]"},
		{"y(i) = x(i-4611686018427387904*k)*w(k)", "x(1), w(1)", "x=5 w=4", ""},
		{"y(i) = z(i)*x(4611686018427387904*i)", "x(1), z(1)", "x=5 z=3", ""},
		{"y(i) = z(i)*x(4611686018427387904*i)", "x(1), z(1)", "x=5 z=2", "i=2 y[2]"},
		{"y(4611686018427387904*i) = z(i)", "z(1)", "z=3", ""},
		// Results: declared shapes, affine and constant left sides.
		{"y(i,j) = x(i)", "x(1), result y(2) shape=5x2", "x=5", "i=5 j=2 y[5 2]"},
		{"y(2*i+1) = x(i)", "x(1)", "x=3", "i=3 y[6]"},
		{"y(5-i) = x(i)", "x(1)", "x=3", "i=3 y[6]"},
		{"y(2*i) = 1", "result y(1) shape=6", "", "i=3 y[6]"},
		{"y(i,i) = x(i)", "x(1)", "x=3", "i=3 y[3 3]"},
		{"y(2,i) = x(i)", "x(1)", "x=3", "i=3 y[3 3]"},
		{"y(2*i) = x(i)", "x(1)", "x=0", "i=0 y[0]"},
		{"y(2) = 1.0; y(0) = 2.0", "", "", "y[3]"},
		{"y(i) += x(i)", "x(1), y(1)", "x=3 y=3", "i=3 y[3]"},
		// Slices.
		{"y(:) = x(:)", "x(1)", "x=5", ":=5 y[5]"},
		{"y(:) = x(1:4)", "x(1)", "x=5", ":=3 y[3]"},
		{"y(:) = x(1::2)", "x(1)", "x=6", ":=3 y[3]"},
		{"y(:) = x(0:10:4)", "x(1)", "x=9", ":=3 y[3]"},
		{"y(1:4) = x(0:3)", "x(1)", "x=5", ":=3 y[4]"},
		{"y(:,:) = A(1:,:2)", "A(2)", "A=3x4", ":=2 :=2 y[2 2]"},
		{"y(:) = x(5:)", "x(1)", "x=5", ":=0 y[0]"},
		{"y(:) = x(2:2)", "x(1)", "x=2", ":=0 y[0]"},
		{"y = x(:)*z(1:)", "x(1), z(1)", "x=4 z=5", ":=4 y[]"},
		// Gathers and shared extents of scattered sums.
		{"y(i) = x(p(i))", "x(1), p(1) i64", "x=5 p=3", "i=3 y[3]"},
		{"y(i) = A(i,p(j))", "A(2), p(1) u8", "A=2x5 p=3", "i=2 j=3 y[2]"},
		{"y(i) = A(i,j) + w(i) + B(i,j)", "A(2), B(2), w(1)", "A=2x5 B=2x5 w=2", "i=2 j=5 j=5 y[2]"},
		{"y(i) = A(i,j) + w(i) + j", "A(2), w(1)", "A=2x5 w=2", "i=2 j=5 j=5 y[2]"},
		{"y(i) = (sum_j A(i,j))*(sum_j w(j))", "A(2), w(1)", "A=2x5 w=7", "i=2 j=5 j=7 y[2]"},
		{"L(i,j) = cumsum_j A(i,j)", "A(2)", "A=2x5", "i=2 j=5 L[2 5]"},
	} {
		p, err := checkText(t, c.src, c.decls)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		e, err := Bind(p, parseShapes(t, c.shapes))
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s with %s: no error", c.src, c.shapes)
		case c.want == "":
		case err != nil:
			t.Errorf("%s with %s: %v", c.src, c.shapes, err)
		default:
			if got := extentsText(p, e); got != c.want {
				t.Errorf("%s with %s: got %s, want %s", c.src, c.shapes, got, c.want)
			}
		}
	}
}

func TestBindDoesNotAlias(t *testing.T) {
	p, err := checkText(t, "y(i) = x(i)", "x(1), result y(1) shape=-1")
	if err == nil {
		shapes := map[string][]int64{"x": {3}}
		var e *Extents
		if e, err = Bind(p, shapes); err == nil {
			e.Shapes["x"][0], e.Shapes["y"][0] = 7, 7
			if shapes["x"][0] != 3 || p.Tensors[0].Shape[0] != -1 {
				t.Error("Bind shares its slices with its arguments")
			}
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestOperandFlags(t *testing.T) {
	for _, c := range []struct{ src, decls, want string }{
		{"y(i) = x(i)", "x(1), y(1)", "x"},
		{"y(i) += x(i)", "x(1), y(1)", "x y"},
		{"y(2*i) = x(i)", "x(1), y(1)", "x y"},
		{"y(i,i) = x(i)", "x(1), y(2)", "x y"},
		{"y(2*i) = x(i)", "x(1), result y(1)", "x"},
		{"y(2*i) = x(i)", "x(1)", "x"},
		{"y(:) = x(:)", "x(1), y(1)", "x"},
		{"y(1:) = x(:)", "x(1), y(1)", "x y"},
		{"y(i) = y(i) + x(i)", "x(1), y(1)", "x y"},
		{"y(i) = x(i); z(i) = y(i)", "x(1), y(1)", "x"},
		{"z(i) = y(i); y(i) = x(i)", "x(1), y(1)", "x y"},
		{"z(i) = x(p(i))", "x(1), p(1) i64, q(1)", "p x"},
	} {
		p, err := checkText(t, c.src, c.decls)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		var got []string
		for i, x := range p.Tensors {
			if x.ID != i {
				t.Errorf("%s: tensor %d has ID %d", c.src, i, x.ID)
			}
			if x.Operand {
				got = append(got, x.Name)
				if !x.FillKnown || !x.HasFormat {
					t.Errorf("%s: operand %s has no fill or no format", c.src, x.Name)
				}
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s with %s: the operands are %v, want %s", c.src, c.decls, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	f, err := Parse("y(i) = A(i,p(j))*x(j) + s; s = y(k); t = s")
	if err != nil {
		t.Fatal(err)
	}
	want := "[{y 1 true} {A 2 false} {p 1 false} {x 1 false} {s 0 true} {t 0 true}]"
	if got := fmt.Sprint(f.Names()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
