package debug

import "testing"

// TestAllSwitchesAreOff keeps a switch that was turned on while looking for a
// bug from being committed.
func TestAllSwitchesAreOff(t *testing.T) {
	if Workspace != "" {
		t.Error("debug.Workspace is set")
	}
	if ChunkGrain != 0 {
		t.Error("debug.ChunkGrain is set")
	}
	if Compiled != nil {
		t.Error("debug.Compiled is set")
	}
	if Overlap != 0 {
		t.Error("debug.Overlap is set")
	}
	for name, on := range map[string]bool{
		"EagerOptimiser":   EagerOptimiser,
		"OneTier":          OneTier,
		"PoisonMemory":     PoisonMemory,
		"QuickOnly":        QuickOnly,
		"ReverseChunks":    ReverseChunks,
		"TraceCompilation": TraceCompilation,
		"TraceStages":      TraceStages,
	} {
		if on {
			t.Errorf("debug.%s is on", name)
		}
	}
}
