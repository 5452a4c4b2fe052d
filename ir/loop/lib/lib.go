// Package lib is the mathematical library of the loop language: exp, log, sin,
// pow and their kin, written as scalar functions of the language itself. The
// interpreter, the LLVM back ends and the GPU all compile the same text, so they
// all compute the same bits, and a compiler that vectorises loops vectorises
// these with them.
//
// # Names
//
// A function is called by name and operand type: exp_f64, pow_i64, sqrt_c128.
// There are versions for f64, c128, i64 and u64 only, but for some steps in f32; callers cast other types
// (which makes f32 results nearly always correctly rounded). The result type is the
// operand type, except that abs_c128 returns f64. Functions whose names start
// with an underscore are parts of others; Lookup finds them, because engines
// need them, and Names does not list them.
//
// # What engines must keep
//
// Accuracy rests on every operation being rounded as IEEE 754 says: no fused
// multiply-add but where the text has fma, no reassociation, no flushing of subnormals, rounding to
// nearest. Several functions add a constant to a number only to subtract it
// again, or recover the rounding error of a product; "fast" floating-point flags
// break them.
//
// # Files
//
// One file holds one family and opens with its method and its errors; dd.loop
// holds the double-double arithmetic that all share. There are no tables (the
// language's scalar functions cannot load), few branches and, except for
// integer powers, the remainder and trigonometric arguments beyond 2^20, no loops
// or rare paths: choices are selects. Polynomials were interpolated at
// Chebyshev nodes in 80-digit arithmetic and rounded to f64. The errors that
// the files and docs/numerics.md state are those that the tests measure and enforce.
package lib

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

//go:embed *.loop
var sources embed.FS

// library parses the embedded files on first use.
var library = sync.OnceValue(func() map[string]*loop.Scalar {
	files, err := sources.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("BUG: embedded library: %v", err))
	}
	all := map[string]*loop.Scalar{}
	for _, f := range files {
		text, err := sources.ReadFile(f.Name())
		if err != nil {
			panic(fmt.Sprintf("BUG: embedded library: %v", err))
		}
		scalars, err := loop.ParseScalars(string(text))
		if err != nil {
			panic(fmt.Sprintf("BUG: %s:%v", f.Name(), err))
		}
		for _, s := range scalars {
			if all[s.Name] != nil {
				panic(fmt.Sprintf("BUG: %s: %s is defined twice", f.Name(), s.Name))
			}
			all[s.Name] = s
		}
	}
	return all
})

// Lookup returns the function of the given name, such as "exp_f64". The result
// is shared by all callers and must not be changed.
func Lookup(name string) (*loop.Scalar, bool) {
	s, ok := library()[name]
	return s, ok
}

// Names lists the functions for callers, in alphabetical order.
func Names() []string {
	var names []string
	for name := range library() {
		if !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
