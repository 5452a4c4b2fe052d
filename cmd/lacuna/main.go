// Command lacuna compiles and runs sparse tensor algebra from the shell.
//
//	lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=web.mtx:CSR x=x.npy -o y.npy
//
// One file holds one command, by its name: eval.go, explain.go, build.go and build_go.go (--go-source), convert.go, inspect.go, tune.go, grad.go, repl.go (and
// replcommands.go, editor.go), serve.go, unique.go, binsparse.go, cache.go, doctor.go, man.go, complete.go, version.go.
// app.go makes the tree of commands, program.go tells what a program does with names, and declare.go has the flags that say what tensors are like.
// ranks.go, mpirun.go, placement.go, readshare.go and writeparts.go are for several ranks, stream.go and panels.go for what is larger than memory
// (internal/operand/outofcore.go sets --memory up, Go's heap included).
//
// What all commands stand on is in folders of its own: internal/cli (printing, errors, progress), internal/operand (arguments that name tensors)
// and internal/show (tensors for people).
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
