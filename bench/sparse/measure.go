package main

import (
	"fmt"
	"log"
	"slices"
	"strconv"
	"time"
)

// bursts is how often each side has its turn.
const bursts = 3

// slow is how long an operation must take to be measured only once.
const slow = 10 * time.Second

// cell is what was measured of one side with a number of threads.
type cell struct {
	side              *side
	threads           int
	way               string // what it was asked for
	medianMS, leastMS float64
	cpuMS             float64 // the median
	repetitions       int
	result            described
	err               error
}

// row is one operation on one input.
type row struct {
	op    operation
	input inputFacts
	cells []*cell
	peaks []*cell // of fresh processes, for the first operation
}

func measureInput(s settings, in inputFacts, sides []*side) []row {
	var rows []row
	for _, op := range s.suite.operations {
		if slices.Contains(s.operations, op.name) && op.takes(in.name) {
			log.Printf("%s: %s", in.name, op.title)
			r := measure(s, op, in, sides)
			if op.name == s.suite.peaksOf {
				r.measurePeaks(s)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// measure runs an operation once on all sides that have it, compares the
// results, and then lets the sides take turns. The first repetition counts only
// if it is so slow that it stays the only one.
func measure(s settings, op operation, in inputFacts, sides []*side) row {
	r := row{op: op, input: in}
	for _, side := range sides {
		switch {
		case !slices.Contains(op.sides, side.name):
		case side.name == ours:
			c := check(s, op.name, in, side, 1)
			r.cells = append(r.cells, c)
			if c.err == nil { // what takes too long with one thread does so with two
				r.cells = append(r.cells, check(s, op.name, in, side, 2))
			}
		default:
			for _, way := range op.waysOf(side.name) {
				r.cells = append(r.cells, check(s, way, in, side, 1))
			}
		}
	}
	r.compare()
	var quick []*cell
	for _, c := range r.cells {
		if c.err == nil && c.medianMS < milliseconds(slow) {
			c.repetitions = 0 // that one was to warm up
			quick = append(quick, c)
		}
	}
	medians, cpus := map[*cell][]float64{}, map[*cell][]float64{}
	for burst := range bursts {
		for k := range quick {
			c := quick[(k+burst)%len(quick)] // each burst begins with another side
			if c.err == nil {
				median, cpu := c.burst(s, in)
				medians[c], cpus[c] = append(medians[c], median), append(cpus[c], cpu)
			}
		}
	}
	for _, c := range quick {
		c.medianMS, c.cpuMS = middle(medians[c]), middle(cpus[c])
	}
	return r
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// measurePeaks runs the operation once more on each side that could do it, in a
// process that does nothing else.
func (r *row) measurePeaks(s settings) {
	for _, c := range r.cells {
		if c.err == nil && c.threads == 1 {
			fresh := c.side.untouched()
			r.peaks = append(r.peaks, check(s, c.way, r.input, fresh, 1))
			fresh.stop()
		}
	}
}

// describing is how long a side may take to look at its result.
const describing = 2 * time.Minute

// check runs an operation once.
func check(s settings, way string, in inputFacts, at *side, threads int) *cell {
	c := &cell{side: at, threads: threads, way: way}
	line, err := at.ask(in.name, s.limit, "check %s %d %g", way, threads, s.seconds)
	if err == nil {
		c.medianMS, c.cpuMS, err = c.read(line)
	}
	if err == nil {
		line, err = at.next(describing)
	}
	if err == nil {
		c.result, err = parseSummary(line)
	}
	c.err = err
	return c
}

// described is the second line of an answer to a check.
type described struct {
	summary
	peakKB int64 // the largest resident size of the process so far
}

func parseSummary(line string) (d described, err error) {
	var sorted int
	var pattern string
	if _, err := fmt.Sscan(line, &d.nnz, &sorted, &pattern, &d.sum, &d.weighted, &d.absolute, &d.peakKB); err != nil {
		return d, fmt.Errorf("cannot read the description %q: %w", line, err)
	}
	d.sorted = sorted == 1
	d.pattern, err = strconv.ParseUint(pattern, 16, 64)
	return d, err
}

// burst measures for a while and returns the medians of that while.
func (c *cell) burst(s settings, in inputFacts) (median, cpu float64) {
	line, err := c.side.ask(in.name, s.limit, "time %s %d %g", c.way, c.threads, s.seconds/bursts)
	if err != nil {
		c.err = err
		return 0, 0
	}
	median, cpu, c.err = c.read(line)
	return median, cpu
}

// read adds an answer "OPERATION INPUT MEDIAN LEAST REPETITIONS CPU" and returns
// the medians.
func (c *cell) read(line string) (median, cpu float64, err error) {
	var name, input string
	var least float64
	var repetitions int
	if _, err := fmt.Sscan(line, &name, &input, &median, &least, &repetitions, &cpu); err != nil {
		return 0, 0, fmt.Errorf("cannot read the answer %q: %w", line, err)
	}
	if c.repetitions == 0 || least < c.leastMS {
		c.leastMS = least
	}
	c.repetitions += repetitions
	return median, cpu, nil
}

// wrongError says that a side has another result than the others.
type wrongError string

func (e wrongError) Error() string { return "wrong result: " + string(e) }

// compare holds every result against that of the first peer that has one.
func (r *row) compare() {
	k := slices.IndexFunc(r.cells, func(c *cell) bool { return c.err == nil && c.side.name != ours })
	if k < 0 {
		return
	}
	want := r.cells[k]
	for _, c := range r.cells {
		if c.err != nil {
			continue
		}
		if d := c.result.differs(want.result.summary, r.op.anyPattern); d != "" {
			c.err = wrongError(fmt.Sprintf("%s (%s)", d, want.side.name))
		} else if !c.result.sorted && r.op.name != "spgemm-unsorted" {
			c.err = wrongError("not sorted")
		}
	}
}
