package main

import (
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	tests := []struct{ got, want string }{
		{formatDuration(999), "999 ns"},
		{formatDuration(1500 * time.Microsecond), "1.5 ms"},
		{formatDuration(90 * time.Second), "90 s"},
		{formatShape(nil), "scalar"},
		{formatShape([]int64{3, 0, 4}), "3x0x4"},
		{didYouMean("evla", []string{"eval", "explain"}), "; did you mean eval?"},
		{didYouMean("a", []string{"A", "b"}), "; did you mean A?"},
		{didYouMean("x", []string{"y", "z"}), ""},
		{didYouMean("loop", []string{"loops", "plan"}), "; did you mean loops?"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestProgramNames(t *testing.T) {
	p, err := parseProgram("t(i) = A(i,j)*x(p(j))*alpha; y(q(i)) += t(i); z = sum_i t(i)")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]use{
		"A":     {rank: 2, needed: true, certain: true},
		"p":     {rank: 1, needed: true, certain: true},
		"q":     {rank: 1, needed: true, certain: true},
		"alpha": {needed: true},
		"t":     {rank: 1, assigned: true, certain: true},
		"y":     {rank: 1, assigned: true, needed: true, certain: true},
		"z":     {assigned: true, certain: true},
	} {
		if got := p.uses[name]; got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if p.last != "z" {
		t.Errorf("last is %s", p.last)
	}
}
