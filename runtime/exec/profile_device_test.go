package exec_test

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Nobody tells of stages on a device, and a profile ends without them.
func TestProfileOnDevice(t *testing.T) {
	x, err := tensor.NewDense([]float64{1, 2, 3}, 3)
	if err != nil {
		t.Fatal(err)
	}
	s := exec.NewSession(exec.WithEngine(runtime.Simulated()))
	k, err := s.Compile(t.Context(), "y(i) = 2*x(i)", exec.Operand("x", x))
	if err != nil {
		t.Fatal(err)
	}
	p, out, err := k.Profile(t.Context(), exec.Args{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != 1 || len(p.Steps[0].Stages) != 0 || out["y"].NNZ() != 3 {
		t.Errorf("profile %+v of y = %v", p, out["y"])
	}
}
