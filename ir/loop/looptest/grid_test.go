package looptest_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

func TestDrawnGridFunctionsVerifyAndRun(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.DrawGrid(t)
		if err := c.Func.Verify(nil); err != nil {
			t.Fatalf("%v\n%s", err, c.Func)
		}
		status, _, err := c.Run(nil)
		if err != nil || status < 0 || status > len(c.Func.Fails) {
			t.Fatalf("status %d, %v\n%s", status, err, c.Func)
		}
		loop.WalkStmts(c.Func.Body, func(s loop.Stmt) {
			switch s := s.(type) {
			case *loop.Barrier:
				seen["barrier"]++
			case *loop.Shuffle:
				seen[s.Kind.String()]++
			case *loop.Atomic:
				seen[s.Op.String()]++
			}
		})
	})
	for _, what := range []string{"barrier", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "atomic_add", "atomic_cas"} {
		if seen[what] == 0 && !testing.Short() { // rapid draws a fifth then
			t.Errorf("%s was never drawn", what)
		}
	}
}

func TestRunGrid(t *testing.T) {
	for _, c := range []struct{ body, want, err string }{
		{"let v: u32 = shuffle_down(u32(thread()), 1)\ny[thread()] = v", "1 2 31", ""},
		{"let v: u32 = ballot(thread() < 2)\ny[thread()] = v", "3 3 3", ""},
		{"s[thread()] = u32(thread())\nbarrier\ny[thread()] = s[31 - thread()]", "31 30 0", ""},
		{"s[thread()] = 0:u32\nbarrier\natomic_add(s[0], 2:u32)\nlet old: u32 = atomic_cas(y[thread()], 0:u32, 7:u32)\nbarrier\ny[thread()] = s[0] + old", "64 64 64", ""},
		{"if thread() == 1 {\nfail 0 \"one\"\n}\ny[thread()] = 9:u32", "9 0 9", ""},
		{"for i = thread() to 31 {\ny[thread()] = y[thread()] + 1:u32\n}", "31 30 0", ""},
		{"if thread() == 1 {\nbarrier\n}", "", "1 threads come to a barrier, of 32"},
		{"if thread() == 1 {\nlet v: i64 = shuffle(1, 0)\n}", "", "1 threads of a warp meet"},
		{"while true {\n}", "", "statements were run"},
		{"y[99] = 1:u32", "", "y[99]: the buffer has 32 elements"},
	} {
		f, err := loop.ParseFunc("func f(y: []u32) grid threads 32 {\nshared s: [32]u32\n" + c.body + "\n}")
		if err != nil {
			t.Fatal(err)
		}
		_, m, err := looptest.GridCase{Func: f, Memory: [][]byte{make([]byte, 128)}, Blocks: 1}.Run(nil)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.body, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if got := fmt.Sprint(m[0][0], m[0][4], m[0][31*4]); got != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
}
