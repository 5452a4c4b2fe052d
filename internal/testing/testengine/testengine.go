// Package testengine says how the tests of the whole compiler run: on which engine, such as
// a GPU that few machines have, and how thoroughly (main.go, thin.go).
package testengine

import (
	"os"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// Env names the environment variable with the name of an engine: "cuda",
// "simulated" for the interpreter in place of a GPU, or "ptx" for translation to PTX
// and runs on the interpreter.
const Env = "LACUNA_TEST_ENGINE"

var quick sync.Once

// Named returns the engine that the environment asks for, nil if it asks for none.
// The test fails if that engine is not to be had.
func Named(t testing.TB) runtime.Engine {
	name := os.Getenv(Env)
	if name == "" {
		return nil
	}
	var e runtime.Engine
	var err error
	if name == runtime.CUDAName { // most programs of tests run once
		quick.Do(func() { debug.QuickOnly = true })
	}
	if name == "ptx" {
		e, err = PTX()
	} else {
		e, err = runtime.EngineByName(name, nil)
	}
	if err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	return e
}
