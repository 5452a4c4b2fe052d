// Command run loads the objects library and kernels, calls the functions of the
// second and prints what they return. It needs no C library, so that it runs in an
// emulator of another processor.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/lacuna-sparse/lacuna/internal/object"
)

// call calls a C function.
func call(fn uintptr, args *int64, a, b, c int64) int64

func main() {
	library := load(os.Args[1], func(string) uintptr { return 0 })
	kernels := load(os.Args[2], func(name string) uintptr {
		fn, err := library.Func(name)
		if err != nil {
			panic(err)
		}
		return fn
	})
	for _, t := range Calls {
		fn, err := kernels.Func(t.Name)
		if err != nil {
			panic(err)
		}
		args := make([]int64, 4)
		for i := range args {
			args[i] = -1
		}
		r := call(fn, &args[0], t.A, t.B, t.C)
		if t.Name == "elsewhere" {
			args[0] = 0 // an address
		}
		fmt.Println(t.Name, t.A, t.B, t.C, r, args)
	}
	runtime.KeepAlive(library)
	runtime.KeepAlive(kernels)
}

func load(path string, resolve object.Resolve) *object.Code {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	code, err := object.Load(data, resolve)
	if err != nil {
		panic(err)
	}
	return code
}

// Calls are the calls made, in the order of their results.
var Calls = []struct {
	Name    string
	A, B, C int64
}{
	{"jumps", 0, 5, 2}, {"jumps", 1, 5, 2}, {"jumps", 2, 5, 2}, {"jumps", 3, 5, 2}, {"jumps", 4, 5, 3}, {"jumps", 5, 5, 3}, {"jumps", 6, 5, 3},
	{"tables", 0, 0, 0}, {"tables", 4, 1, 0}, {"tables", 7, 2, 0},
	{"constants", 2, 0, 0}, {"constants", -3, 0, 0},
	{"elsewhere", 1, 3, 2},
	{"zeros", 3, 0, 0},
}
