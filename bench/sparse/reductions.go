package main

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The suite of reductions: every fold along either axis of a matrix in CSR and
// COO, scans of a dense matrix, quantiles of one that is 1 % full. Results are dense.

const reductionsNotes = `f64 values, one thread unless a column says otherwise. Results are dense vectors
and matrices. Every side reads the same arrays, with 32-bit indices but for
PyTorch, which takes 64 bits. Allocating the result is timed, freeing it is not;
every side frees its result before the next repetition, ours by Release.
"Rows" are results by row, reductions along axis 1; "columns" those along axis 0.

SciPy is asked for A.sum(axis) and so on; its max and min are sparse. NumPy does
what one would write over the arrays of the format: add.reduceat, bincount,
maximum.reduceat. PyTorch puts entries into a dense vector: index_add_,
scatter_reduce_, its max and min taking for granted that every line has a gap.
Ours counts gaps. C is a loop over the entries in the order in which they are stored,
compiled by gcc -O3 -march=native; of sums by column also one that adds up both halves of
the entries at once. It takes gaps for granted too. It shows what this processor can do
and does not count as a peer. Quantiles are np.quantile of the matrix made dense.

Each result was compared with those of the others before it was timed.

`

var reductions = reductionSuite()

func reductionSuite() []operation {
	var list []operation
	sparse := []string{"unif", "lap", "rmat13", "rmat16"}
	for _, fold := range []string{"sum", "any", "max", "min"} {
		for _, lines := range []string{"rows", "columns"} {
			for _, stored := range []string{"csr", "coo"} {
				sides := []string{ours, scipy}
				if lines == "rows" || fold == "sum" || fold == "any" {
					sides = append(sides, numpy)
				}
				if stored == "coo" && fold != "any" {
					sides = append(sides, torch)
				}
				var loops []string // over entries by column, or by row in a list
				if fold != "any" && (lines == "columns" || stored == "coo") {
					loops = []string{fold + "-" + lines + "-loop"}
					if fold == "sum" && lines == "columns" {
						loops = append(loops, "sum-columns-twice")
					}
					sides = append(sides, cLoop)
				}
				index := int64(4) // bytes an entry
				if stored == "csr" && lines == "rows" {
					index = 0
				}
				list = append(list, operation{
					name: fold + "-" + lines + "-" + stored, title: fold + ", " + lines + ", " + stored,
					sides: sides, loops: loops, anyPattern: true, inputs: sparse,
					bytes: func(in inputFacts) int64 {
						width := int64(8)
						if fold == "any" {
							width = 1
						}
						pointers := int64(0)
						if stored == "csr" {
							pointers = 4 * (in.rows + 1)
						}
						return pointers + (8+index)*in.entries + width*in.rows
					},
				})
			}
		}
	}
	whole := func(in inputFacts) int64 { return 16 * in.entries }
	for _, lines := range []string{"rows", "columns"} {
		list = append(list,
			operation{name: "quantile-" + lines, title: "quantile 0.995, " + lines, sides: []string{ours, scipy}, anyPattern: true, inputs: []string{"percent"}},
			operation{name: "logcumsumexp-" + lines, title: "logcumsumexp, " + lines, sides: []string{ours, torch}, inputs: []string{"dense"}, bytes: whole},
			operation{name: "cumsum-" + lines, title: "cumsum, " + lines, sides: []string{ours, numpy, torch}, inputs: []string{"dense"}, bytes: whole})
	}
	return append(list, operation{name: copying, title: "copy", sides: []string{numpy}, inputs: []string{"dense"}, bytes: whole})
}

// copying is the operation that others' use of memory is compared with.
const copying = "copy"

// reductionPrograms are what our side computes.
func reductionPrograms() map[string]program {
	list := map[string]program{}
	for lines, index := range map[string][2]string{"rows": {"i", "j"}, "columns": {"j", "i"}} {
		to, along := index[0], index[1]
		dense := []lacuna.Option{lacuna.Result("y", tensor.Dense(1))}
		for _, fold := range []string{"sum", "any", "max", "min"} {
			for stored, operand := range map[string]string{"csr": "A0", "coo": "S"} {
				list[fold+"-"+lines+"-"+stored] = program{fmt.Sprintf("y(%s) = %s_%s %s(i,j)", to, fold, along, operand), dense, []string{operand}}
			}
		}
		list["quantile-"+lines] = program{fmt.Sprintf("y(%s) = quantile_%s(A0(i,j), 0.995)", to, along), dense, []string{"A0"}}
		for _, scan := range []string{"cumsum", "logcumsumexp"} {
			list[scan+"-"+lines] = program{fmt.Sprintf("y(i,j) = %s_%s D(i,j)", scan, along), nil, []string{"D"}}
		}
	}
	return list
}
