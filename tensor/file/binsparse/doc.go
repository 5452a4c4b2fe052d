// Package binsparse reads and writes tensors in the binsparse format, version
// 0.1 (https://graphblas.org/binsparse-specification/): a JSON descriptor and a
// few named one-dimensional arrays, kept together in a container.
//
//	descriptor ─ Parse ─▶ Descriptor ─┐
//	                                  ├─ Read ─▶ tensor.Tensor ─ Encode ─▶ descriptor, arrays
//	named arrays ─ Container ─────────┘
//
// The containers themselves (HDF5, .npz, directories of .npy files) are the
// business of package file; here they are a [Container], which names
// arrays and loads those that are asked for.
//
// A format of binsparse is a nest of levels, each dense, sparse or element
// ([Level]). They are the segments of a [tensor.Format]: a dense level of rank r
// is r C levels, or r D levels where nothing sparse follows; a sparse level of
// rank r is a run of r-1 S levels closed by DC, or by S where nothing sparse
// follows. Arrays are shared, not copied, wherever the file holds them as a
// tensor does.
//
// The descriptor is never believed: number_of_stored_values and the shape are
// compared with the lengths of the arrays before any of them is loaded, so that
// what is allocated is bounded by what the container holds.
package binsparse
