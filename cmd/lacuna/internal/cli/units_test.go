package cli

import (
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	tests := []struct{ got, want string }{
		{FormatDuration(999), "999 ns"},
		{FormatDuration(1500 * time.Microsecond), "1.5 ms"},
		{FormatDuration(90 * time.Second), "90 s"},
		{FormatShape(nil), "scalar"},
		{FormatShape([]int64{3, 0, 4}), "3x0x4"},
		{DidYouMean("evla", []string{"eval", "explain"}), "; did you mean eval?"},
		{DidYouMean("a", []string{"A", "b"}), "; did you mean A?"},
		{DidYouMean("x", []string{"y", "z"}), ""},
		{DidYouMean("loop", []string{"loops", "plan"}), "; did you mean loops?"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
