package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// report is everything measured.
type report struct {
	suite  suite
	limit  time.Duration
	sides  []*side
	inputs []inputFacts
	rows   []row
}

// wrong is an error if any result was.
func (rep *report) wrong() error {
	var all []error
	for _, r := range rep.rows {
		for _, c := range r.cells {
			var w wrongError
			if errors.As(c.err, &w) {
				all = append(all, fmt.Errorf("%s, %s, %s: %w", r.op.title, r.input.name, c.side.name, w))
			}
		}
	}
	return errors.Join(all...)
}

func (rep *report) print(out io.Writer) {
	rep.printSetting(out)
	fmt.Fprint(out, "## Times\n\nMedians in milliseconds. The last column is the time of the fastest peer over ours, both on one thread: above\n1 ours is faster.\n\n")
	notes := rep.printTimes(out)
	for k, note := range notes {
		fmt.Fprintf(out, "[%d] %s\n", k+1, note)
	}
	if len(notes) > 0 {
		fmt.Fprintln(out)
	}
	rep.printRepetitions(out)
	rep.printMemory(out)
	rep.printBandwidth(out)
	fmt.Fprint(out, "## Processor time\n\nMedians in milliseconds, of all threads, our garbage collector's too. They do not count waiting for a processor.\n\n")
	rep.printTable(out, cpu)
	fmt.Fprint(out, "## Least times\n\nThe least of all repetitions in milliseconds.\n\n")
	rep.printTable(out, least)
}

const resultsNotes = `f64 values. Every side reads the same arrays, with 32-bit indices; GraphBLAS
holds them with 64 bits. All peers use one thread.

Allocating the result is timed, freeing it is not. Every side frees its result
before the next repetition: the peers by their destructors and counts of
references, ours by Release. The peers' malloc is told to keep memory that was
freed, as our pool does for some collections: otherwise clearing new pages takes
up to half of their time. Kernels are compiled before.

Sums of 8 and 16 are one kernel for us; peers add two matrices at a time, either
pairs, pairs of those and so on, or all one after another, whichever is faster.
Rows are sorted in all results but those "as they come":
after its operation SciPy calls sort_indices, GraphBLAS GrB_Matrix_wait;
Eigen's results are sorted. GraphBLAS counts triangles with a structural mask
and PLUS_PAIR. Where the operands of one of our kernels must be converted
first, that is timed too. Our results may share arrays with operands, as when
coordinates turn out to be sorted. Shuffled coordinates of the RMAT graphs have
duplicates, which are summed; the other coordinates have none. The C loops
allocate their results as well.

Each result was compared with those of the others before it was timed: number of
entries, a hash of their places, the sum of the values, and their sum weighted
by place.

`

func (rep *report) printSetting(out io.Writer) {
	fmt.Fprint(out, rep.suite.notes)
	var lines [][]string
	for _, s := range rep.sides {
		lines = append(lines, []string{s.name, s.version})
	}
	table(out, []string{"side", "version"}, lines)
	lines = nil
	for _, in := range rep.inputs {
		lines = append(lines, []string{in.name, in.what, fmt.Sprint(in.rows), fmt.Sprint(in.entries), fmt.Sprint(in.below), fmt.Sprint(in.tuples)})
	}
	table(out, []string{"input", "what", "rows", "entries of A", "of L", "shuffled"}, lines)
}

// cell is the fastest of a side with a number of threads, or nil.
func (r *row) cell(name string, threads int) *cell {
	var found *cell
	for _, c := range r.cells {
		if c.side.name != name || c.threads != threads {
			continue
		}
		// One that is wrong stays: it must be seen.
		var w wrongError
		if found == nil || errors.As(c.err, &w) || found.err == nil && c.err == nil && c.medianMS < found.medianMS {
			found = c
		}
	}
	return found
}

// peerColumns are the names of the sides but ours.
func (rep *report) peerColumns() []string {
	var list []string
	for _, s := range rep.sides {
		if s.name != ours {
			list = append(list, s.name)
		}
	}
	return list
}

// printTimes prints the main table and returns the notes that its cells refer to.
func (rep *report) printTimes(out io.Writer) (notes []string) {
	text := func(c *cell) string {
		switch {
		case c == nil:
			return ""
		case c.err == nil:
			return number(c.medianMS)
		case errors.Is(c.err, errSlow):
			return fmt.Sprintf("> %g s", rep.limit.Seconds())
		}
		notes = append(notes, fmt.Sprintf("%s: %v", c.side.name, c.err))
		return fmt.Sprintf("none [%d]", len(notes))
	}
	header := append([]string{"operation", "input", "entries of the result", "lacuna 1t", "lacuna 2t", "1t / 2t"}, rep.peerColumns()...)
	var lines [][]string
	for _, r := range rep.rows {
		one, two := r.cell(ours, 1), r.cell(ours, 2)
		line := []string{r.op.title, r.input.name, r.entries(), text(one), text(two), quotient(one, two, median)}
		for _, name := range rep.peerColumns() {
			line = append(line, text(r.cell(name, 1)))
		}
		lines = append(lines, append(line, rep.lead(r, median)))
	}
	table(out, append(header, "fastest peer / lacuna 1t"), lines)
	return notes
}

// entries is the number of entries of the result, by the first side that has it.
func (r *row) entries() string {
	for _, c := range r.cells {
		if c.err == nil {
			return fmt.Sprint(c.result.nnz)
		}
	}
	return ""
}

func median(c *cell) float64 { return c.medianMS }
func cpu(c *cell) float64    { return c.cpuMS }
func least(c *cell) float64  { return c.leastMS }

func quotient(a, b *cell, time func(*cell) float64) string {
	if a == nil || b == nil || a.err != nil || b.err != nil {
		return ""
	}
	return fmt.Sprintf("%.2f", time(a)/time(b))
}

// lead is the time of the fastest peer over ours, with its name.
func (rep *report) lead(r row, time func(*cell) float64) string {
	var fastest *cell
	for _, name := range rep.peerColumns() {
		if c := r.cell(name, 1); r.op.isPeer(name) && c != nil && c.err == nil && (fastest == nil || time(c) < time(fastest)) {
			fastest = c
		}
	}
	q := quotient(fastest, r.cell(ours, 1), time)
	if q != "" {
		q += " " + fastest.side.name
	}
	return q
}

// printTable prints one number of each cell.
func (rep *report) printTable(out io.Writer, time func(*cell) float64) {
	text := func(c *cell) string {
		if c == nil || c.err != nil {
			return ""
		}
		return number(time(c))
	}
	var lines [][]string
	for _, r := range rep.rows {
		line := []string{r.op.title, r.input.name, text(r.cell(ours, 1)), text(r.cell(ours, 2))}
		for _, name := range rep.peerColumns() {
			line = append(line, text(r.cell(name, 1)))
		}
		lines = append(lines, append(line, rep.lead(r, time)))
	}
	header := append([]string{"operation", "input", "lacuna 1t", "lacuna 2t"}, rep.peerColumns()...)
	table(out, append(header, "fastest peer / lacuna 1t"), lines)
}

// printRepetitions prints how often everything was measured.
func (rep *report) printRepetitions(out io.Writer) {
	fewest := 0
	for _, r := range rep.rows {
		for _, c := range r.cells {
			if c.err == nil && c.medianMS < milliseconds(slow) && (fewest == 0 || c.repetitions < fewest) {
				fewest = c.repetitions
			}
		}
	}
	fmt.Fprintf(out, "Medians are of %d repetitions or more, in %d bursts; what takes more than %v ran once.\n\n", fewest, bursts, slow)
}

// printMemory prints the peak memory of the first operation of a process.
func (rep *report) printMemory(out io.Writer) {
	var lines [][]string
	for _, r := range rep.rows {
		if r.op.name != rep.suite.peaksOf {
			continue
		}
		csr := func(entries int64) float64 { return float64(12*entries + 4*(r.input.rows+1)) }
		for _, c := range r.peaks {
			if c.err != nil || c.result.peakKB == 0 {
				continue
			}
			arrays := csr(c.result.nnz) + 2*csr(r.input.entries)
			peak := float64(c.result.peakKB) * 1024
			lines = append(lines, []string{r.input.name, c.side.name, fmt.Sprintf("%.1f", arrays/1e6), fmt.Sprintf("%.1f", peak/1e6), fmt.Sprintf("%.2f", peak/arrays)})
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "## Peak memory: %s\n\n", rep.suite.peaksOf)
	fmt.Fprint(out, "VmHWM of a new process that has read A and made the product once; it holds the program and its libraries too. Arrays\nare those of the result and of two operands, with 32-bit indices.\n\n")
	table(out, []string{"input", "side", "arrays MB", "peak MB", "peak / arrays"}, lines)
}

// printBandwidth prints how much our side reads and writes in a second.
func (rep *report) printBandwidth(out io.Writer) {
	rate := func(r row, c *cell) float64 { return float64(r.op.bytes(r.input)) / c.medianMS / 1e6 }
	var most float64
	for _, r := range rep.rows {
		if c := r.cell(numpy, 1); r.op.name == copying && c != nil && c.err == nil {
			most = rate(r, c)
		}
	}
	if most == 0 {
		return
	}
	var lines [][]string
	for _, r := range rep.rows {
		if c := r.cell(ours, 1); c != nil && c.err == nil && r.op.bytes != nil {
			lines = append(lines, []string{r.op.title, r.input.name, number(float64(r.op.bytes(r.input)) / 1e6), number(rate(r, c)), fmt.Sprintf("%.0f %%", 100*rate(r, c)/most)})
		}
	}
	fmt.Fprintf(out, "## Memory\n\nBytes that must be read and written, once each, over our median on one thread; and the share of what copying the\ndense input moves, %.1f GB/s. Small inputs stay in the caches between repetitions, and may move more.\n\n", most)
	table(out, []string{"operation", "input", "MB", "GB/s", "of a copy"}, lines)
}

// number writes milliseconds with three digits.
func number(ms float64) string {
	if ms <= 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(ms)))
	return fmt.Sprintf("%.*f", max(digits, 0), ms)
}

// table prints lines of cells as a Markdown table, numbers to the right.
func table(out io.Writer, header []string, lines [][]string) {
	print := func(cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	print(header)
	rule := make([]string, len(header))
	for k := range rule {
		if rule[k] = "---:"; k < 2 {
			rule[k] = "---"
		}
	}
	print(rule)
	for _, l := range lines {
		print(l)
	}
	fmt.Fprintln(out)
}
