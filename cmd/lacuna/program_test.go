package main

import "testing"

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
