package machine

import "testing"

func TestRestricted(t *testing.T) {
	for _, name := range []string{"", "native"} {
		t.Setenv(CPUEnv, name)
		if got, err := Restricted(); got != "" || err != nil {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	for _, names := range processors {
		for _, name := range names {
			t.Setenv(CPUEnv, name)
			got, err := Restricted()
			if (err == nil) != (got == name) {
				t.Errorf("%q is %q, %v", name, got, err)
			}
		}
	}
	t.Setenv(CPUEnv, "nosuch")
	if got, err := Restricted(); err == nil {
		t.Errorf("nosuch is taken for %q", got)
	}
}

// TestWithout: code for a processor that has what this one lacks must not use it.
func TestWithout(t *testing.T) {
	for features, want := range map[string]string{
		"": "", "+avx2": "", "+sse2,-avx512f,+avx2,-fma4": "-avx512f,-fma4", "-sha": "-sha",
	} {
		if got := Without(features); got != want {
			t.Errorf("Without(%q) = %q, want %q", features, got, want)
		}
	}
}
