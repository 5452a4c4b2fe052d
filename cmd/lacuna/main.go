// Command lacuna compiles and runs sparse tensor algebra from the shell.
//
//	lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=web.mtx:CSR x=x.npy -o y.npy
//
// One file holds one command: eval.go, explain.go, build.go, convert.go, inspect.go,
// unique.go, cache.go, doctor.go, version.go. What they share: the syntax of operands
// (operand.go, qualifier.go) and where tensors come from (source.go, generate.go), the
// names of a program (program.go), printing (print.go, stats.go, raster.go),
// progress (progress.go), and errors with their exit statuses (errors.go).
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
