package difftest

import (
	"context"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// tape takes choices from the bytes of a fuzzer, and zeros when they run out.
type tape struct{ bytes []byte }

func (t *tape) Intn(n int) int {
	if len(t.bytes) == 0 {
		return 0
	}
	b := t.bytes[0]
	t.bytes = t.bytes[1:]
	return int(b) % n
}

// FuzzPrograms lets the fuzzer choose the random program and its operands.
func FuzzPrograms(f *testing.F) {
	f.Add([]byte("sparse tensor algebra"))
	f.Add([]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5})
	s := session(runtime.Interp(), 1, setting{grain: 2})
	f.Fuzz(func(t *testing.T, choices []byte) {
		if _, err := New(&tape{choices}).Compare(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzText compiles and runs arbitrary text on fixed operands: it must answer
// with a result or an error, never with an internal error or a hang.
func FuzzText(f *testing.F) {
	for _, text := range peerPrograms {
		f.Add(text)
	}
	args := lacuna.Args{"s": tensor.ScalarTensor(tensor.Float(tensor.Float64, 2))}
	for name, shape := range map[string][]int64{"x": {3}, "A": {3, 3}, "B": {3, 3}, "T": {3, 3, 3}} {
		format := tensor.CSF(len(shape))
		if name == "A" {
			format = tensor.CSR
		}
		n := 1
		for range shape {
			n *= 3
		}
		vals := make([]float64, n)
		for i := range vals {
			vals[i] = float64(i%3 - 1)
		}
		t, err := tensor.FromDense(shape, format, tensor.ArrayOf(vals))
		if err != nil {
			f.Fatal(err)
		}
		args[name] = t
	}
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(1), lacuna.WithMemoryLimit(64<<20))
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := s.Eval(ctx, text, args)
			done <- err
		}()
		select {
		case err := <-done:
			if isInternal(err) {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("neither a result nor an error within 20 s, although the context ended after one")
		}
	})
}
