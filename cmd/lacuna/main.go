// Command lacuna compiles and runs sparse tensor algebra from the shell.
//
//	lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=web.mtx:CSR x=x.npy -o y.npy
//
// One file holds one command, by its name: eval.go, explain.go, build.go and build_go.go (--go-source), convert.go, inspect.go, tune.go, grad.go, repl.go (and
// replcommands.go, editor.go), serve.go, list.go, unique.go, binsparse.go, cache.go, doctor.go, man.go, complete.go, version.go.
// app.go has what commands stand on, with the flags that several have, and declare.go those that say what tensors are like.
//
// An operand is read by operand.go (NAME=FILE), qualifier.go and storedqualifier.go (what follows a colon), literal.go and generate.go (vectors and random ones),
// and comes from source.go, from readshare.go where each rank reads a part, or from stream.go in slices. ranks.go, mpirun.go and placement.go are for several ranks;
// outofcore.go and panels.go for what is larger than memory. Results are printed by print.go, stats.go, units.go and foreignarrays.go (as others call the arrays), or
// stored by store.go and writeparts.go. Errors and their exit statuses are in errors.go.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
