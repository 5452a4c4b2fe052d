package convert

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// TestConversionPays: kernels are compiled once enough has been converted.
func TestConversionPays(t *testing.T) {
	cpu, err := runtime.CPU()
	if err != nil {
		t.Skip(err)
	}
	s := &Service{Target: &invoke.Target{Engine: cpu}}
	interp := &Service{Target: &invoke.Target{Engine: runtime.Interp()}}
	for i, want := range []bool{false, false, true, true} {
		if got := s.pays("a", ondisk.Limits().CompileEntries/5*2); got != want {
			t.Errorf("request %d: %t, want %t", i, got, want)
		}
	}
	if s.pays("b", cost.FewEntries-1) || interp.pays("b", ondisk.Limits().CompileEntries) {
		t.Error("a kernel for few entries, or for the interpreter")
	}
	if !s.pays("b", ondisk.Limits().CompileEntries) {
		t.Error("no kernel for many entries")
	}
}
