package aot_test

import (
	"fmt"
	"testing"
	"time"
	"strings"
	"os"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/aot"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestProbe(t *testing.T) {
	l := needLLVM(t)
	for range 3 {
	start := time.Now()
	p, err := lacuna.Link("spmv", "y(i) = A(i,j)*x(j)", lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil { t.Fatal(err) }
	linked := time.Since(start)
	target, _ := aot.ParseTarget(l, "", "")
	text, err := aot.Module(p, target)
	mod := time.Since(start)
	o, err := aot.Object(l, p, target)
	if err != nil { t.Fatal(err) }
	fmt.Println(linked, mod, time.Since(start), len(text), strings.Count(text, "\n"), len(o))
	os.WriteFile("/tmp/s7c/spmv.ll", []byte(text), 0o644)
	os.WriteFile("/tmp/s7c/spmv.o", o, 0o644)
	}
}
