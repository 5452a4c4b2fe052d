// Package file reads and writes tensors in files.
//
// One table, [Kinds], says what there is: Matrix Market and its tensor
// extension (.mtx, .ttx), FROSTT (.tns), NumPy arrays (.npy, .npz), and binsparse
// in three containers: HDF5 (.h5), archives (.bsp.npz) and directories (.bspnpy),
// and tables of entries (.csv, .tsv, Parquet). Sparse matrices of SciPy, AnnData
// (HDF5, and Zarr to read) and pydata/sparse, which are sets of named arrays too, are read
// as binsparse tensors whose indices may be in any order. A
// file is recognised by its first bytes where the format has a signature and by
// its extension otherwise; compression (.gz, .bz2) is recognised by its first
// bytes and undone on the way.
//
// Reading goes through the same few steps for every kind:
//
//	open ─ decompress ─ recognise ─▶ kind's reader ─▶ tensor.FromColumns / FromDense
//	                                       └ named arrays ─▶ binsparse.Read ─▶ tensor.New
//
// The text readers cut their input into blocks of whole lines and parse the
// blocks on several goroutines; results are joined in file order, so the answer
// and the first error reported never depend on the number of threads.
//
// Large matrices take two passes over the text instead, the first of which counts,
// and become compressed rows without a list of coordinates in between. [Open] maps
// a file into memory and uses its arrays where they lie.
//
// No input may crash, hang or exhaust memory. A size that a header promises is
// believed only as far as the size of the file can justify it (fits and plan in read.go); where the size
// is not known (a pipe, a compressed file) memory grows with what has really
// been read. Every complaint is a [*FileError] that names file and line.
//
// Writing goes to a temporary file beside the target, which is synced and then
// renamed over it: a reader sees the old file or the new one, never a part.
package file
