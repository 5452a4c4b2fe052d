package difftest

import (
	"context"
	"flag"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
)

var onRanks = flag.Int("ranks", 60, "number of random programs in TestSeededOnRanks, without -short at least 1000")

var onDevices = flag.Int("devices", 12, "number of random programs in TestSeededOnDevices, without -short at least 200")

// TestSeededOnRanks runs random programs on 1 to 8 ranks, with operands that are placed over them at random, or where they are thought to cost least.
func TestSeededOnRanks(t *testing.T) {
	s := session(runtime.Interp(), 1, setting{})
	seededOnRanks(t, *onRanks, 1000, Ranks{Session: s, End: func(t transport.Transport) transport.Transport { return t }})
}

// TestSeededOnDevices does so where values go from device to device.
func TestSeededOnDevices(t *testing.T) {
	s := exec.NewSession(exec.WithEngine(runtime.Simulated()), exec.WithThreads(1), exec.WithResidentResults())
	seededOnRanks(t, *onDevices, 200, Ranks{Session: (*lacuna.Session)(s), Near: true, End: func(t transport.Transport) transport.Transport {
		return testengine.OnDevice(t, s.Engine(), 1<<40)
	}})
}

// seededOnRanks runs so many random programs on ranks, without -short more.
func seededOnRanks(t *testing.T, programs, more int, on Ranks) {
	s := session(runtime.Interp(), 1, setting{})
	if !testing.Short() && *only < 0 {
		programs = max(programs, more)
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
		out, err := c.CompareRanks(context.Background(), s, on, choose)
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
	if *only < 0 && programs >= 60 && failed == 0 && total.Alone*4 > total.Statement*3 {
		t.Error("hardly a statement is cut")
	}
}
