package testengine

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
)

// Or returns the engine that the environment asks for, or the one that the test uses of
// itself.
func Or(t testing.TB, usual runtime.Engine) runtime.Engine {
	if e := Named(t); e != nil {
		return e
	}
	return usual
}

// All returns the engines that a test of the whole compiler runs on: the one that the
// environment asks for, or the interpreter and then, if it is to be had, the compiler for
// this machine.
func All(t testing.TB) []runtime.Engine {
	if e := Named(t); e != nil {
		return []runtime.Engine{e}
	}
	list := []runtime.Engine{runtime.Interp()}
	cpu, err := runtime.CPU()
	if err != nil {
		t.Logf("interpreter only: %v", err)
		return list
	}
	return append(list, cpu)
}
