// Package show prints tensors for people: their elements (print.go), what can be counted of them (stats.go), and their arrays as
// other programs call these (foreignarrays.go).
package show
