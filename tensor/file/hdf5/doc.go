// Package hdf5 reads and writes the part of HDF5 that numeric arrays live in:
// groups, attributes and datasets of numbers, booleans, complex numbers and
// strings. It is written in Go alone, for files that may be hostile: every
// offset and size is checked against the file before it is used.
//
// The file format is described by "HDF5 File Format Specification Version 3.0"
// of The HDF Group; section numbers in comments (III.A and so on) are its own.
//
// # Reading
//
// A file is a tree of objects. [Open] finds the superblock, [File.Root] is the
// group at "/", and from there objects are looked up by path:
//
//	f, err := hdf5.Open(r, size)
//	d, err := f.Dataset("/tensor/values")
//	data := make([]byte, d.Size())
//	err = d.ReadInto(data)
//
// An object is a header, a list of typed messages: its dataspace (how many
// elements), its datatype, its layout (where the bytes are), its filters, links
// and attributes. Each of these is parsed where it is needed and not before, so
// that an unreadable object does not spoil its neighbours.
//
//	superblock ─▶ object header ─▶ links ─▶ object header ─▶ layout ─▶ chunks ─▶ filters ─▶ elements
//
// Elements come in the order of the file, last dimension fastest, packed and in
// little-endian byte order whatever the file has.
//
// What is read: superblocks 0 to 3, object headers 1 and 2, groups of every kind
// (symbol tables, compact and dense links), layouts compact, contiguous and
// chunked with every chunk index there is, the filters deflate, shuffle,
// fletcher32 and lzf, committed datatypes, attributes of every kind. What is
// refused, by name: soft and external links, virtual and external storage, other
// filters, elements of variable length other than strings.
//
// # Writing
//
// [Create] writes a file of superblock version 2, which HDF5 1.8 and later read.
// Data go to the file as they are given; the tree that leads to them is written
// by [Writer.Close]. The same calls give the same bytes.
package hdf5
