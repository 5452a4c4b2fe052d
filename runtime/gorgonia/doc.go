// Package gorgonia runs Lacuna's kernels in a CUDA context and on a stream that a
// program of gorgonia.org/cu has already, on memory that it has allocated, without
// copies:
//
//	engine, err := gorgonia.New(ctx, stream)
//	defer engine.Close()
//	session := lacuna.NewSession(lacuna.WithEngine(engine.Engine()), lacuna.WithResidentResults())
//	values, err := engine.Array(tensor.Float64, x, n) // x is a cu.DevicePtr
//	X, err := tensor.FromDense([]int64{n}, tensor.Dense(1), values)
//	y, err := session.Eval(context.Background(), "y(i) = A(i,j)*x(j)", lacuna.Args{"A": A, "x": X})
//	p, ok := gorgonia.Pointer(y.Values()) // good as long as y can be reached
//
// It is a module of its own, behind the build tag gorgonia_cu, because cu needs cgo
// and the headers of a CUDA toolkit, version 12 at most: cu v0.9.6 does not compile
// with those of CUDA 13. Lacuna's engine "cuda" needs neither.
//
//	CGO_CFLAGS=-I/usr/local/cuda-12/include go build -tags gorgonia_cu
//
// The folder example has a program that checks itself.
package gorgonia
