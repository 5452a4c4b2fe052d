package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// This file runs the scripts of testdata/script, which test the command as it is used.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lacuna": func() {
		debug.QuickOnly, debug.OneTier = os.Getenv(quickEnv) != "", true
		main()
	}})
}

// quickEnv names the environment variable that has the command compile in a hurry, as tests do under -short.
const quickEnv = "LACUNA_TEST_QUICK"

// TestScript runs the scripts of testdata/script. On top of the usual commands
// they have
//
//	exits STATUS COMMAND…    the command ends with this exit status
//
// and the conditions [llvm], there is an LLVM to compile with, and [mpirun], there is one.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "llvm":
				_, err := runtime.CPU()
				return err == nil, nil
			case "mpirun":
				_, err := exec.LookPath("mpirun")
				return err == nil, nil
			}
			return false, errors.New("unknown condition")
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("LACUNA_LLVM", os.Getenv("LACUNA_LLVM")) // the LLVM under test
			env.Setenv("LACUNA_CACHE", "off")
			if !testing.Short() {
				return nil
			}
			env.Setenv(quickEnv, "1")
			// To load and run LLVM is most of the time of a command. Scripts that say what is other with it have it.
			script, err := os.ReadFile(filepath.Join("testdata/script", strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")+".txtar"))
			if !strings.Contains(string(script), "llvm]") {
				env.Setenv("LACUNA_LLVM", "none")
			}
			return err
		},
		RequireExplicitExec: true,
	})
}

// exits is the script command of that name.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		status = exit.ExitCode()
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}
