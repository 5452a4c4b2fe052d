package loop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCompact(t *testing.T) {
	// Variables 0 and 6 and message 0 do not occur; the rest is out of order.
	f := &Func{
		Name: "f",
		Vars: []Var{{"unused", F64}, {"b", I64}, {"n", I64}, {"a", I64}, {"c", I64}, {"lo", I64}, {"gone", I8}, {"hi", I64}},
		Args: []VarID{2}, Chunk: 4, Lo: 5, Hi: 7,
		Fails: []string{"unused", "second", "first"},
		Body: []Stmt{
			&Let{Var: 3, Value: Int(1)},
			&For{Var: 1, Lo: &Ref{3, I64}, Hi: &Ref{2, I64}, Body: []Stmt{&Fail{Code: 2}}},
			&Fail{Code: 1},
		},
	}
	want := &Func{
		Name: "f",
		Vars: []Var{{"n", I64}, {"c", I64}, {"lo", I64}, {"hi", I64}, {"a", I64}, {"b", I64}},
		Args: []VarID{0}, Chunk: 1, Lo: 2, Hi: 3,
		Fails: []string{"first", "second"},
		Body: []Stmt{
			&Let{Var: 4, Value: Int(1)},
			&For{Var: 5, Lo: &Ref{4, I64}, Hi: &Ref{0, I64}, Body: []Stmt{&Fail{Code: 0}}},
			&Fail{Code: 1},
		},
	}
	got := Compact(f)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	read, err := ParseFunc(got.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, read, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("parsing what it prints (-compact +read):\n%s", diff)
	}
}

func TestStats(t *testing.T) {
	f, err := ParseFunc(inFunc(`
		// not counted
		let a: f64 = x[0] + exp_f64(x[1])
		for i = i64(r[0]) to n {
			while i < 2 { if i == 1 { x[i] = a } else { x[0] = x[i64(r[i])] } }
		}`))
	if err != nil {
		t.Fatal(err)
	}
	const body = "statements 6 loops 1 whiles 1 branches 1 loads 5 stores 2 calls 1"
	if got := f.Stats().String(); got != body {
		t.Errorf("got %s", got)
	}
	p := &Program{Stages: []Stage{{Func: f, Allocs: make([]Alloc, 2), PartitionAllocs: make([]Alloc, 1)}, {}}}
	if got, want := p.Stats().String(), "stages 2 buffers 3 "+body; got != want {
		t.Errorf("got %s", got)
	}
}
