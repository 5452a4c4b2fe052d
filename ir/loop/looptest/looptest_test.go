package looptest_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

func TestDrawnFunctionsVerifyAndRun(t *testing.T) {
	twice, err := loop.ParseScalar("scalar twice_f64(x: f64) f64 { return x + x }")
	if err != nil {
		t.Fatal(err)
	}
	resolve := func(name string) (*loop.Scalar, bool) { return twice, name == twice.Name }
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.Draw(t, twice)
		if err := c.Func.Verify(resolve); err != nil {
			t.Fatalf("%v\n%s", err, c.Func)
		}
		if len(c.Memory) != len(c.Func.Bufs) || len(c.Args) != len(c.Func.Args) {
			t.Fatalf("memory for %d buffers and %d arguments for\n%s", len(c.Memory), len(c.Args), c.Func)
		}
		if err := looptest.SameMemory(c.Func, c.CopyMemory(), c.Memory); err != nil {
			t.Fatal(err)
		}
		// It ends, and every index is in range.
		status, _, err := c.Run(resolve)
		if err != nil || status < 0 || status > len(c.Func.Fails) {
			t.Fatalf("status %d, %v\n%s", status, err, c.Func)
		}
	})
}

func TestSameMemory(t *testing.T) {
	nan, other, one := []byte{0, 0, 0xc0, 0x7f}, []byte{1, 0, 0xc0, 0xff}, []byte{0, 0, 0x80, 0x3f}
	for _, c := range []struct {
		elem      loop.Type
		got, want []byte
		same      bool
	}{
		{loop.F32, nan, other, true},
		{loop.F32, nan, one, false},
		{loop.U32, nan, other, false},
		{loop.C64, append(one[:4:4], nan...), append(one[:4:4], other...), true},
		{loop.C64, append(one[:4:4], nan...), append(nan[:4:4], one...), false},
		{loop.F16, []byte{1, 0x7c}, []byte{0, 0xfe}, true},
		{loop.F16, []byte{0, 0x7c}, []byte{0, 0xfe}, false}, // inf and nan
		{loop.BF16, []byte{0xc0, 0x7f}, []byte{0xc1, 0xff}, true},
		{loop.BF16, []byte{0, 0}, []byte{0, 0x80}, false}, // 0 and -0
		{loop.F32, nan, nil, false},
	} {
		f := &loop.Func{Name: "f", Bufs: []loop.Buf{{Name: "m", Elem: c.elem}}}
		err := looptest.SameMemory(f, [][]byte{c.got}, [][]byte{c.want})
		if (err == nil) != c.same {
			t.Errorf("%s %x and %x: %v", c.elem, c.got, c.want, err)
		}
	}
}

func TestRun(t *testing.T) {
	f, err := loop.ParseFunc(`func f(readonly a: []i16, h: []f16, z: []c64; n: i64) chunk c, lo, hi {
  for i = lo to hi {
    var k: i64 = i64(a[i])
    while k > 0 {
      k = k - n
    }
    h[i] = f32(k) / 3.0:f32
    z[i] = complex(1.0:f32, -0.0:f32)
    if i == 2 {
      fail 0 "two"
    }
  }
}`)
	if err != nil {
		t.Fatal(err)
	}
	c := looptest.Case{
		Func:   f,
		Memory: [][]byte{{0xff, 0xff, 5, 0, 0, 0}, make([]byte, 6), make([]byte, 24)},
		Args:   []int64{2}, Chunk: 0, Lo: 0, Hi: 3,
	}
	status, m, err := c.Run(nil)
	if err != nil || status != 1 {
		t.Fatalf("status %d, %v", status, err)
	}
	// -1/3 twice (5-2-2-2 is -1), then 0, in half precision.
	if got, want := fmt.Sprintf("%x", m[1]), "55b555b50000"; got != want {
		t.Errorf("h is %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%x", m[2][:8]), "0000803f00000080"; got != want {
		t.Errorf("z[0] is %s, want %s", got, want)
	}
	c.Hi = 4
	c.Lo = 3
	if _, _, err := c.Run(nil); err == nil || !strings.Contains(err.Error(), "a[3]: the buffer has 3 elements") {
		t.Errorf("out of range: %v", err)
	}
	c.Args, c.Lo, c.Hi = []int64{0}, 1, 2
	if _, _, err := c.Run(nil); err == nil || !strings.Contains(err.Error(), "statements were run") {
		t.Errorf("endless loop: %v", err)
	}
}

func TestRunScalar(t *testing.T) {
	s, err := loop.ParseScalar(`scalar gcd_i64(a: i64, b: i64) i64 {
  var x: i64 = a
  var y: i64 = b
  while y != 0 {
    let r: i64 = x % y
    x = y
    y = r
  }
  return x
}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := looptest.RunScalar(s, []loop.Const{*loop.Int(54), *loop.Int(24)}, nil)
	if err != nil || got != *loop.Int(6) {
		t.Errorf("gcd(54, 24) = %v, %v", got, err)
	}
}
