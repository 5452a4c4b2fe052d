//go:build unix

package bridge

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// outside is memory that is not Go's, as a caller's is.
func outside(t *testing.T, bytes int) []byte {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tokens are those that were given back.
type tokens struct {
	mu   sync.Mutex
	seen map[uint64]int
}

func (r *tokens) add(list ...uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, token := range list {
		r.seen[token]++
	}
}

func (r *tokens) count(token uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[token]
}

// caller is a Bridge and what it has given back.
func caller(t *testing.T) (*Bridge, *tokens) {
	given := &tokens{seen: map[uint64]int{}}
	b := New(func(token uint64) { given.add(token) })
	t.Cleanup(b.Close)
	return b, given
}

// ask serves a request as a job.
func ask(t *testing.T, b *Bridge, given *tokens, r request) answer {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	id := b.Start(text)
	var got []byte
	for got == nil {
		got = b.Wait(id, time.Second)
	}
	var a answer
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	given.add(a.Returned...)
	return a
}

// vector is a dense operand in memory of the caller's: n elements from an offset.
func vector(memory []byte, offset, n int, token uint64) operand {
	base := uint64(uintptr(unsafe.Pointer(&memory[0])))
	return operand{Shape: []int64{int64(n)}, Format: "D", Values: array{
		Type: "f64", Len: n, Address: base + uint64(8*offset), Base: base, Bytes: len(memory), Token: token,
	}}
}

// valuesOf are the values of the only result.
func valuesOf(t *testing.T, b *Bridge, a answer) []float64 {
	t.Helper()
	if a.Error != nil {
		t.Fatal(a.Error.Message)
	}
	for _, d := range a.Tensors {
		of, err := b.tensorOf(d.Handle)
		if err != nil {
			t.Fatal(err)
		}
		v := of.Values()
		return unsafe.Slice((*float64)(v.Pointer()), v.Len())
	}
	t.Fatal("there is no result")
	return nil
}

func TestMemoryOfTheCaller(t *testing.T) {
	b, given := caller(t)
	memory := outside(t, 8*1000)
	for i := range 1000 {
		*(*float64)(unsafe.Pointer(&memory[8*i])) = float64(i)
	}
	// Two arrays in one region: the second is kept by the token of the first.
	a := ask(t, b, given, request{Op: "eval", Program: "y(i) = a(i) + b(i)", Engine: "interp", Args: map[string]operand{
		"a": vector(memory, 0, 500, 1), "b": vector(memory, 250, 500, 2),
	}})
	got := valuesOf(t, b, a)
	for i, v := range got {
		if v != float64(2*i+250) {
			t.Fatalf("y[%d] = %v, want %v", i, v, 2*i+250)
		}
	}
	if given.count(2) != 1 {
		t.Error("the token of an array in a region that is kept is not given back")
	}
	for range 100 {
		if given.count(1) > 0 {
			break
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if given.count(1) != 1 {
		t.Errorf("the token of memory that nothing refers to was given back %d times, want once", given.count(1))
	}
	if got[0] != 250 {
		t.Error("a result went with its operands")
	}
}

func TestMemoryThatOverlapsIsCopied(t *testing.T) {
	b, given := caller(t)
	memory := outside(t, 8*1000)
	first, second := vector(memory, 0, 500, 1), vector(memory, 250, 500, 2)
	first.Values.Bytes = 8 * 500 // two regions that have a part in common
	second.Values.Base, second.Values.Bytes = second.Values.Address, 8*500
	a := ask(t, b, given, request{Op: "tensor", Args: map[string]operand{"a": first}})
	if len(valuesOf(t, b, a)) != 500 {
		t.Fatal("not the tensor")
	}
	a = ask(t, b, given, request{Op: "tensor", Args: map[string]operand{"b": second}})
	if got := valuesOf(t, b, a); uintptr(unsafe.Pointer(&got[0])) == uintptr(second.Values.Address) {
		t.Error("a region that overlaps another is shared")
	}
	if given.count(2) != 1 {
		t.Error("the token of an array that was copied is not given back")
	}
}

func TestRefusals(t *testing.T) {
	b, given := caller(t)
	memory := outside(t, 8*10)
	long := vector(memory, 5, 6, 3)
	for _, c := range []struct {
		request request
		kind    string
		want    string
	}{
		{request{Op: "eval", Program: "y(i) = z(i)"}, programFailure, "unknown tensor z"},
		{request{Op: "fly"}, otherFailure, `no operation "fly"`},
		{request{Op: "run", Kernel: 77}, otherFailure, "no kernel 77"},
		{request{Op: "eval", Program: "s = x(i)", Engine: "abacus"}, otherFailure, "abacus"},
		{request{Op: "eval", Program: "s = x(i)", Args: map[string]operand{"x": {Handle: 99}}}, otherFailure, "no tensor 99"},
		{request{Op: "eval", Program: "s = x(i)", Args: map[string]operand{"x": long}}, otherFailure, "does not lie in its memory"},
		{request{Op: "eval", Program: "s = x(i)", Args: map[string]operand{"x": {Shape: []int64{3}, Format: "Q"}}}, tensorFailure, "unknown format"},
		{request{Op: "eval", Program: "s = 2.0", Results: map[string]declaration{"z": {Format: "CSR"}}}, otherFailure, "no tensor z"},
		{request{Op: "explain", Program: "s = x(i)", Declare: map[string]declaration{"x": {Format: "D"}}, Stage: "stars"}, otherFailure, "stars"},
	} {
		a := ask(t, b, given, c.request)
		if a.Error == nil || a.Error.Kind != c.kind || !strings.Contains(a.Error.Message, c.want) {
			t.Errorf("%s %q: got %+v, want an error of kind %s with %q", c.request.Op, c.request.Program, a.Error, c.kind, c.want)
		}
	}
	if given.count(3) != 1 {
		t.Error("the token of an array that was refused is not given back")
	}
	if a := b.Serve(t.Context(), []byte("{")); !strings.Contains(string(a), "not one") {
		t.Errorf("no JSON: %s", a)
	}
}

func TestCancel(t *testing.T) {
	b, given := caller(t)
	const n = 800
	memory := outside(t, 8*n*n)
	x := vector(memory, 0, n*n, 1)
	x.Shape, x.Format = []int64{n, n}, "D"
	text, err := json.Marshal(request{Op: "eval", Program: "C(i,j) = A(i,k)*A(k,j)", Engine: "interp", Threads: 1, Args: map[string]operand{"A": x}})
	if err != nil {
		t.Fatal(err)
	}
	id := b.Start(text)
	if a := b.Wait(id, 50*time.Millisecond); a != nil {
		t.Fatalf("the job is over at once: %s", a)
	}
	b.Cancel(id)
	got := b.Wait(id, time.Minute)
	var a answer
	if err := json.Unmarshal(got, &a); err != nil || a.Error == nil || a.Error.Kind != cancelledFailure {
		t.Errorf("got %.200s, %v, want that it was cancelled", got, err)
	}
	given.add(a.Returned...)
	if again := string(b.Wait(id, 0)); !strings.Contains(again, fmt.Sprint("no job ", id)) {
		t.Errorf("a job that was waited for: %s", again)
	}
}
