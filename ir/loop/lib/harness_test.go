package lib_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// This file calls functions of the library.

// memory is a slice as the interpreter takes it.
func memory[E any](s []E) interp.Memory {
	return interp.Memory{Ptr: unsafe.Pointer(unsafe.SliceData(s)), Len: int64(len(s))}
}

// run calls the text of a loop over y[i], x[i] and possibly w[i].
func run[E, R any](t *testing.T, call, elem, result string, x, w []E) []R {
	t.Helper()
	f, err := loop.ParseFunc(fmt.Sprintf(
		"func each(readonly x: []%s, readonly w: []%s, y: []%s) chunk c, lo, hi { for i = lo to hi { y[i] = %s } }",
		elem, elem, result, call))
	if err != nil {
		t.Fatal(err)
	}
	k, err := interp.Compile(f, lib.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]R, len(x))
	bufs := []interp.Memory{memory(x), memory(w), memory(y)}
	if status := k.Call(bufs, nil, 0, 0, int64(len(x))); status != 0 {
		t.Fatalf("%s: status %d", call, status)
	}
	return y
}

// apply1 is the function over f64.
func apply1(t *testing.T, name string, x []float64) []float64 {
	t.Helper()
	return run[float64, float64](t, name+"(x[i])", "f64", "f64", x, nil)
}

// apply2 is the function of two arguments over f64.
func apply2(t *testing.T, name string, x, w []float64) []float64 {
	t.Helper()
	return run[float64, float64](t, name+"(x[i], w[i])", "f64", "f64", x, w)
}

// A domain says where arguments are drawn from: half of them uniform in lo … hi,
// half with a uniform binary exponent in minExp … maxExp and either sign.
type domain struct {
	lo, hi         float64
	minExp, maxExp int
	positive       bool
}

func (d domain) draw(rng *rand.Rand, i int) float64 {
	if i%2 == 0 {
		return d.lo + (d.hi-d.lo)*rng.Float64()
	}
	x := math.Ldexp(1+rng.Float64(), d.minExp+rng.IntN(d.maxExp-d.minExp))
	if !d.positive && rng.IntN(2) == 0 {
		x = -x
	}
	return x
}

// samples is the number of arguments drawn for each function.
func samples() int {
	if testing.Short() {
		return 2000
	}
	return 20000
}

var statedBound = regexp.MustCompile(`\b([a-z0-9]+) (\d+\.\d+)`)

// bounds reads the largest errors that the head of each file states: the lines
// after "Largest errors", as pairs "exp 0.76", keyed by function name with type.
var bounds = sync.OnceValue(func() map[string]float64 {
	all := map[string]float64{}
	files, err := os.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file.Name())
		if err != nil || !strings.HasSuffix(file.Name(), ".loop") {
			continue
		}
		suffix := "_f64"
		if file.Name() == "complex.loop" {
			suffix = "_c128"
		}
		_, rest, _ := strings.Cut(string(text), "// Largest errors")
		head, _, _ := strings.Cut(rest, "\n\n")
		head = strings.ReplaceAll(head, "\n// ", " ")
		for _, m := range statedBound.FindAllStringSubmatch(head, -1) {
			all[m[1]+suffix], _ = strconv.ParseFloat(m[2], 64)
		}
	}
	return all
})

// bound is the stated largest error of a function.
func bound(t *testing.T, name string) float64 {
	t.Helper()
	b, ok := bounds()[name]
	if !ok {
		t.Fatalf("no file states the largest error of %s", name)
	}
	return b
}

// same reports equality with nan equal to nan and -0 distinct from 0.
func same(x, y float64) bool {
	return math.IsNaN(x) && math.IsNaN(y) || math.Float64bits(x) == math.Float64bits(y)
}
