package gpu

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// TestLoopOverChunk: a loop over the chunk is one only where each of its iterations is all that there is for an element.
func TestLoopOverChunk(t *testing.T) {
	const row, other = "for i = lo to hi {\n y[i] = n\n }\n", "for k = 0 to n {\n y[k] = n\n }\n"
	for body, want := range map[string]bool{
		row:                                true,
		"let m: i64 = n + 1\n" + row:       true,
		other:                              false,
		row + row:                          false,
		row + other:                        false,
		"y[0] = n\n" + row:                 false,
		strings.Replace(row, "hi", "n", 1): false,
	} {
		text := "program p {\n scalar n bound\n scalar chunks\n buffer y: []i64 output\n partition cut of n grain 1 chunks chunks\n stage s over cut {\n alloc y[n]\n run(y; n)\n func f(y: []i64; n: i64) chunk chunk, lo, hi {\n" + body + "}\n }\n}\n"
		p, err := loop.ParseProgram(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if _, got := loopOverChunk(p.Stages[0].Func); got != want {
			t.Errorf("%v, want %v, for\n%s", got, want, body)
		}
	}
}
