package debug

import "testing"

// TestAllSwitchesAreOff keeps a switch that was turned on while looking for a
// bug from being committed.
func TestAllSwitchesAreOff(t *testing.T) {
	for name, on := range map[string]bool{
		"PoisonMemory":  PoisonMemory,
		"ReverseChunks": ReverseChunks,
		"TraceStages":   TraceStages,
	} {
		if on {
			t.Errorf("debug.%s is on", name)
		}
	}
}
