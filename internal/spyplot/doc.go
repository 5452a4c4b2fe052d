// Package spyplot draws where the entries of a tensor stand: in characters, and as pictures with scales and histograms.
package spyplot
