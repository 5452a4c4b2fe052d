// Package from makes tensors of what Go programs have at hand: slices of structs, lists of edges with names in CSV,
// images.
//
//	ratings, err := from.Structs[float64](list, tensor.CSR, from.KeepLast)
//	G, names, err := from.Graph[float64](file, tensor.CSR, from.Sum)
//
// Entries that come one by one are for a [Builder], on which the rest of this package stands.
package from
