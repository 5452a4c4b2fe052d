// Package coop writes functions of grids for cooperative groups of threads, which are called teams here. Where
// threads have to exchange more than the sums that a mapping of loops (package gpu) knows of,
// whoever lowers writes such functions as they are, by means of a Team, and the mapping leaves them alone.
package coop
