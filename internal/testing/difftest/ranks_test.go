package difftest

import (
	"context"
	"flag"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
)

var onRanks = flag.Int("ranks", 60, "number of random programs in TestSeededOnRanks, without -short at least 1000")

// TestSeededOnRanks runs random programs on 1 to 6 ranks, with operands that are placed over them at random.
func TestSeededOnRanks(t *testing.T) {
	s := session(runtime.Interp(), 1, setting{})
	programs := *onRanks
	if !testing.Short() && *only < 0 {
		programs = max(programs, 1000)
	}
	var mu sync.Mutex
	var total RanksOutcome
	refused, failed := 0, 0
	testengine.Each(programs, func(n int) bool {
		if *only >= 0 && n != *only {
			return true
		}
		choose := program(*seed+77, n)
		c := New(choose)
		out, err := c.CompareRanks(context.Background(), s, choose)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed++
			t.Errorf("program %d: %v", n, err)
		}
		if out.Refused {
			refused++
		}
		total.Statement += out.Statement
		total.Alone += out.Alone
		total.Combined += out.Combined
		return failed < *failures
	})
	t.Logf("%d statements: %d computed on one rank, %d with a reduction that is cut; %d programs refused", total.Statement, total.Alone, total.Combined, refused)
	if *only < 0 && *onRanks >= 60 && failed == 0 && total.Alone*4 > total.Statement*3 {
		t.Error("hardly a statement is cut")
	}
}
