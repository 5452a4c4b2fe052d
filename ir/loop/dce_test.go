package loop

import "testing"

func TestRemoveDead(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"an unused let and what it alone needs", `
			let a: i64 = n + 1
			let b: i64 = a + 1
			let keep: i64 = 2
			x[keep] = 1.0`, `
  let keep: i64 = 2
  x[keep] = 1.0
`},
		{"a sum that nobody reads", `
			var s: f64 = 0.0
			for i = lo to hi { s = s + x[i] }
			x[0] = 1.0`, `
  x[0] = 1.0
`},
		{"a cycle of variables", `
			var a: i64 = 0
			var b: i64 = 1
			for i = lo to hi {
				a = b
				b = a
			}`, "\n"},
		{"branches left empty", `
			var a: i64 = 0
			if n == 1 { a = 1 } else { x[0] = 1.0 }
			if n == 2 { x[0] = 1.0 } else { a = 2 }
			if n == 3 {
				// only a comment
				a = 3
			}`, `
  if n != 1 {
    x[0] = 1.0
  }
  if n == 2 {
    x[0] = 1.0
  }
`},
		{"the last reader goes with its branch", `
			let flag: bool = x[0] < x[1]
			var a: i64 = 0
			if flag { a = 1 }`, "\n"},
		{"while loops, their conditions and failures stay", `
			var k: i64 = 0
			while k < n {
				let unused: i64 = k
				k = k + 1
			}
			if n == 4 { fail 1 "one" }
			for i = 0 to n { fail 1 "one" }`, `
  var k: i64 = 0
  while k < n {
    k = k + 1
  }
  if n == 4 {
    fail 0 "one"
  }
  for i = 0 to n {
    fail 0 "one"
  }
`},
	} {
		f, err := ParseFunc(inFunc(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		before := f.String()
		want := "func f(readonly r: []u32, w: []f16, x: []f64; n: i64) chunk c, lo, hi {" + c.want + "}\n"
		if got := RemoveDead(f).String(); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
		if f.String() != before {
			t.Errorf("%s: the function was changed", c.name)
		}
	}
}
