// Package tensor stores sparse and dense tensors.
//
// A [Tensor] is a shape, a [Format], one array of values and, for each level
// of the format, the arrays that say where the values stand. Coordinates that
// are not stored hold the tensor's fill, 0 unless said otherwise.
//
// # Spelled and physical levels
//
// A format is spelled in the vocabulary of the binsparse rank-N draft: one
// [LevelKind] per dimension (S sparse, C compressed, DC doubly compressed,
// D dense) and the order in which levels store the logical axes. CSR is C-S in
// the order [0,1], CSC is C-S in the order [1,0], a compressed sparse fibre
// tree of rank 3 is DC-DC-S.
//
// The compiler sees the same tensor as a list of physical levels, each dense,
// compressed or singleton ([LevelType]); [Format.Physical] converts. The
// arrays are the same memory in both views:
//
//   - a C or D level is a dense level: position = parent*size + coordinate;
//   - a run of S levels that a DC level or the last S closes is one compressed
//     level followed by singletons;
//   - pointers_k of the spelled level k is the Pos array of the compressed
//     level k+1; indices_k is the Crd array of level k.
//
// Physical level 0, when compressed, has a Pos array [0, n] that the spelling
// leaves out.
//
// # Beyond standard formats
//
// [LevelFlags] allow unsorted levels and several values or positions per coordinate; a
// [Structure] makes one stored triangle mean the whole matrix. Kernels take neither:
// [Tensor.Canonical] gives what they take. [Fields] are several tensors over one structure,
// [Tensor.Blocked] splits axes into blocks. The same arrays, as MLIR and TACO know them, are
// what package interop is for.
//
// # Validate once, trust after
//
// Every constructor that takes index arrays checks them in one pass: pointers
// start at 0 and never fall, indices are in range, sorted and unique, lengths
// fit. Kernels rely on it. What breaks a rule is a [FormatError] that names the
// tensor, the level and the position. [NewTrusted] alone trusts its input; it is
// for results that our own kernels wrote.
//
// Tensors are immutable after construction and may share arrays. The slices
// that [View] returns alias the stored memory: read them, never write them. Memory
// that is not Go's own, such as that of a mapped file, is a [Foreign], which lives
// as long as an array lies in it.
//
// # Files
//
//	tensor.go         Tensor and Level; array.go: typed memory; dtype.go, scalar.go, half.go: element types and values
//	format.go         Format; spelling.go: spelled and physical levels; format_text.go: names and letters; flags.go
//	level.go          what a kind of level is, one file a kind (level_*.go); listed.go: registered kinds as lists
//	errors.go         FormatError and the others
//
//	new.go            tensors of existing arrays, checked (validate.go); make.go: of the usual formats; options.go
//	convert.go        Convert and FromCoords: entries (listentries.go lists them) mapped, sorted and put into levels
//	                  (mapentries.go, assemble.go, assemblevalues.go); columns.go: the columns of internal/column as arrays
//	json.go, unchecked.go   tensors as JSON; for the compiler's own packages, without checks
//
//	reshape.go        Transpose and other shapes; concat.go, window.go, prune.go
//	update.go         Update, and overlay.go: edits that wait for their arrays
//	entries.go        loops over entries; fibre.go: over rows and columns; pattern.go; formatted.go: for people
//	equal.go          Equal, Diff; fibres.go: lengths of fibres; statistics.go: what estimates need; assume.go: estimates without a tensor
//
//	relaxed.go        unsorted and repeated coordinates
//	structure.go      triangles that stand for a matrix; attributes.go: claims about elements
//	fields.go         several values over one structure; partition.go and parts.go: several formats for one tensor
//	blocks.go, blocked.go   axes split into blocks
//
//	foreign.go        memory that is not Go's; pooled.go: that goes back to a pool; remote.go: copies on a device
//	release.go, memory.go   when memory goes, and whether there is enough
package tensor
