// Package interop stores tensors as other compilers of sparse tensor algebra do, and makes tensors of what these store: MLIR's sparse_tensor
// dialect (mlir.go, mlir_encoding.go) and TACO (taco.go). The arrays are the same memory wherever the other has such arrays (indexarrays.go).
package interop
