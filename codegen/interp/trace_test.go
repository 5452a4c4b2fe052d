package interp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// TestTrace runs a product of a row and a vector and reads what is told of it.
func TestTrace(t *testing.T) {
	f := mustParse(t, `func f(readonly pos: []u32, readonly vals: []f32, y: []f16; n: i64) chunk c, lo, hi {
  for i = lo to hi {
    var s: f32 = 0.0:f32
    for p = i64(pos[i]) to i64(pos[i + 1]) {
      s = s + vals[p]
    }
    if s != 0.0:f32 {
      y[i] = s
    }
  }
}
`)
	var log []string
	k, err := CompileTraced(f, nil, func(e *Event) {
		word := strings.TrimPrefix(fmt.Sprintf("%T", e.Stmt), "*loop.")
		line := word + " " + e.Value.String()
		for _, p := range e.Reads {
			line += fmt.Sprintf(" reads %s[%d]", f.Bufs[p.Buf].Name, p.Index)
		}
		if _, ok := e.Stmt.(*loop.Store); ok {
			line += fmt.Sprintf(" to %s[%d]", f.Bufs[e.Write.Buf].Name, e.Write.Index)
		}
		log = append(log, line)
	})
	if err != nil {
		t.Fatal(err)
	}
	y := []uint16{7, 7}
	status := k.Call([]Memory{memory([]uint32{0, 2, 2}), memory([]float32{1, 1.5}), memory(y)}, []int64{2}, 0, 0, 2)
	if status != 0 || y[0] != loop.F32ToF16(2.5) || y[1] != 7 {
		t.Fatalf("status %d, y %v", status, y)
	}
	want := `For 0
Let 0.0:f32
For 0 reads pos[0] reads pos[1]
Assign 1.0:f32 reads vals[0]
For 1 reads pos[0] reads pos[1]
Assign 2.5:f32 reads vals[1]
If true
Store 2.5:f32 to y[0]
For 1
Let 0.0:f32
If false`
	if got := strings.Join(log, "\n"); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}
