package testengine

import (
	"flag"
	"os"
	"runtime"
	gcdebug "runtime/debug"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// Main runs the tests of a package that compiles programs; its TestMain calls it. Under -short, as "make test"
// runs them, engines compile in a hurry: nine tenths of such a test are LLVM's otherwise. "make test-long"
// optimises as what users run for long.
func Main(m *testing.M) {
	flag.Parse()
	debug.QuickOnly, debug.OneTier = testing.Short(), true
	if testing.Short() {
		keepCompiled()
	}
	gcdebug.SetGCPercent(400) // a fifth of the time goes to collecting otherwise
	// Ballast has the collector wait until as much again is allocated, times four: what tests keep is so little that it
	// would run every few milliseconds. Nobody touches it, so that it takes no memory.
	ballast := make([]byte, 48<<20)
	code := m.Run()
	runtime.KeepAlive(ballast)
	ondisk.Wait()
	os.Exit(code)
}
