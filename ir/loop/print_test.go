package loop

import (
	"slices"
	"strings"
	"testing"
)

func TestPrintNames(t *testing.T) {
	ref := func(id VarID) Expr { return &Ref{Var: id, Typ: I64} }
	f := &Func{
		Name: "f",
		Bufs: []Buf{{Name: "x", Elem: I64}, {Name: "x", Elem: I64}},
		Vars: []Var{{"x", I64}, {"to", I64}, {"lo", I64}, {"hi", I64}, {"späť", I64}, {"lo", I64}, {"", I64}, {"9", I64}},
		Args: []VarID{0}, Chunk: 1, Lo: 2, Hi: 3,
		Body: []Stmt{
			// Numbers do not follow the text; names do.
			&Let{Var: 5, Value: ref(2)},
			&Let{Var: 4, Value: ref(5)},
			&For{Var: 7, Lo: ref(0), Hi: ref(1), Body: []Stmt{&Let{Var: 6, Value: ref(7)}}},
			&Store{Buf: 1, Index: ref(0), Value: ref(4)},
			&Store{Buf: 7, Index: ref(-1), Value: &Load{Buf: -2, Elem: I64, Index: ref(99)}},
		},
	}
	const want = `func f(x: []i64, x.1: []i64; x.2: i64) chunk to.1, lo, hi {
  let lo.1: i64 = lo
  let sp____: i64 = lo.1
  for _9 = x.2 to to.1 {
    let v: i64 = _9
  }
  x.1[x.2] = sp____
  ?7[?-1] = ?-2[?99]
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Parentheses stand where they are needed and nowhere else; each of these
// prints as it is written here.
func TestPrintExpressions(t *testing.T) {
	for _, line := range []string{
		"var a: i64 = n + n * n - n / n % n",
		"var a: i64 = n - (n - n) - n",
		"var a: i64 = n / (n * n) * (n + n)",
		"var a: i64 = -n * -(n + n) - -1 - -(1) - -(-n) - -(-(1))",
		"var a: i64 = !n & !-n & -!n | n & (n | n)",
		"var a: bool = n < n | n == n & !(n >= n)",
		"var a: bool = (n < n) == (n > n)",
		"var a: i64 = min(n, n + 1) + max(n | n, n) + xor(n, n) + shl(n, 1) + shr(n, 1)",
		"var a: i64 = select(n < n, n + n, i64(r[n + 1] + 1:u32))",
		"var a: f64 = sqrt(abs(x[n])) + floor(ceil(trunc(rint(1.0)))) + real(complex(x[0], 1.0)) + imag(complex(1.0, 2.0))",
		"var a: c128 = complex((1.0), 2.0) * complex(1.0, 2.0) * complex(-(1.0), 2.0)",
		"var a: f32 = frombits(bits(roundf16(w[0]) + roundbf16(f32(x[0]))))",
		"var a: f64 = exp_f64(x[0]) + pow_f64(x[0], 2.0) + erf(x[0]):f64 + odd_i8(n):f64",
		"var a: bool = isnan(x[0]):bool | true",
	} {
		f, err := ParseFunc(inFunc(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := strings.TrimSpace(strings.Split(f.String(), "\n")[1]); got != line {
			t.Errorf("%s\nprints as\n%s", line, got)
		}
	}
}

// Printing never fails, whatever it is given.
func TestPrintInvalid(t *testing.T) {
	f := &Func{Chunk: 3, Args: []VarID{-1}, Body: []Stmt{
		nil, &Let{Value: nil}, &Fail{Code: 7}, &Comment{Text: "two\n\nlines"},
	}}
	const want = `func v(; ?-1: invalid) chunk ?3, ?0, ?0 {
  ?
  let ?0: invalid = ?
  fail 7 "?"
  // two
  //
  // lines
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p := &Program{
		Buffers:    []Buffer{{Name: "a", Role: 9}},
		Partitions: []Partition{{Weights: 5, Chunks: -1}},
		Stages:     []Stage{{Partition: 3, Allocs: []Alloc{{Buffer: 8, Len: SizeScalar(2)}}}},
	}
	const wantProgram = `program v {
  buffer a: []invalid ?
  partition v of ? weights ?5 grain 0 chunks ?-1
  stage v over ? {
    alloc ?8[?2]
  }
}
`
	if got := p.String(); got != wantProgram {
		t.Errorf("got\n%s\nwant\n%s", got, wantProgram)
	}
}

// TestListing finds each statement on its line.
func TestListing(t *testing.T) {
	p, err := ParseProgram(`program p {
  scalar n bound
  buffer y: []f64 inout
  stage s {
    run(y; n)
    func f(y: []f64; n: i64) chunk c, lo, hi {
      // of all
      for i = 0 to n {
        if y[i] < 0.0 {
          y[i] = 0.0
        } else if y[i] > 1.0 {
          y[i] = 1.0
        }
      }
    }
  }
}
`)
	if err != nil {
		t.Fatal(err)
	}
	text, lines := p.Listing()
	if text != p.String() {
		t.Errorf("listing\n%s\nis not\n%s", text, p)
	}
	var got []int
	WalkStmts(p.Stages[0].Func.Body, func(s Stmt) { got = append(got, lines[s]) })
	if want := []int{7, 8, 9, 10, 11, 12}; !slices.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
}
