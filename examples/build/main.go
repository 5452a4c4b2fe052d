// Build compiles a kernel ahead of time in the three ways there are: for C, as a Go package with machine code inside, and as plain Go.
//
//	go run ./examples/build FOLDER
//
// The first two need LLVM where they are made, none needs it where it runs. The command line does the same: lacuna build.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: build FOLDER")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal("build: ", err)
	}
}

const program = "y(i) = A(i,j)*x(j)"

var operands = []lacuna.Option{lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64)}

func run(ctx context.Context, folder string) error {
	files := map[string][]byte{}
	kernel := lacuna.GoKernel{Func: "SpMV", Source: program, Options: operands}
	source, err := lacuna.BuildGoSource(ctx, "kernels", kernel)
	if err != nil {
		return err
	}
	files["plain/spmv.go"] = source

	unit, err := lacuna.Build(ctx, program, lacuna.BuildOptions{Name: "spmv", Target: "x86_64-linux-gnu", CPU: "x86-64-v3"}, operands...)
	var missing *runtime.UnavailableError
	if errors.As(err, &missing) {
		fmt.Fprintln(os.Stderr, "without LLVM there is plain Go alone:", missing)
		return write(folder, files)
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"c/spmv.o", "c/spmv.h"} {
		if files[name], err = unit.File(name); err != nil {
			return err
		}
	}
	compiled, err := lacuna.BuildGo(ctx, lacuna.GoPackage{Name: "kernels", Kernels: []lacuna.GoKernel{kernel}, CPUs: map[string]string{"amd64": "x86-64-v3"}})
	if err != nil {
		return err
	}
	for name, text := range compiled {
		files["kernels/"+name] = text
	}
	return write(folder, files)
}

func write(folder string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return nil
}
