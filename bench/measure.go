//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// side is one of the things compared in a table. Its run does the work once and
// says how long that took.
type side struct {
	name string
	run  func() (cost, error)
}

// cost is what a piece of work took: time by the clock, and processor time of
// all threads, which does not count waiting for a processor.
type cost struct{ wall, cpu time.Duration }

// timed is a side whose cost is that of calling f in this process.
func timed(name string, f func() error) side {
	return side{name, func() (cost, error) { return costOf(f) }}
}

func costOf(f func() error) (cost, error) {
	before, err1 := processorTime()
	start := time.Now()
	err := f()
	wall := time.Since(start)
	after, err2 := processorTime()
	return cost{wall, after - before}, errors.Join(err, err1, err2)
}

// processorTime is what all threads of this process have used so far.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// samples are the costs of one side, each kind sorted.
type samples struct{ wall, cpu []time.Duration }

func (s *samples) add(c cost) { s.wall, s.cpu = append(s.wall, c.wall), append(s.cpu, c.cpu) }

func (s *samples) sort() {
	slices.Sort(s.wall)
	slices.Sort(s.cpu)
}

func (s *samples) median() time.Duration  { return s.wall[len(s.wall)/2] }
func (s *samples) rounds() int            { return len(s.wall) }
func (s *samples) least() time.Duration   { return s.wall[0] }
func (s *samples) cpuTime() time.Duration { return s.cpu[len(s.cpu)/2] }

// cells are the columns that costHeader heads.
func (s *samples) cells() []string {
	return []string{millis(s.median()), millis(s.least()), millis(s.cpuTime())}
}

var costHeader = []string{"median ms", "least ms", "cpu ms"}

// fewestRounds is measured even if that takes longer than the budget.
const fewestRounds = 9

// interleave runs the sides by turns until the budget is used up: one round
// runs each once, and each round begins with another side. Two rounds go first
// that are not counted.
func interleave(budget time.Duration, sides []side) ([]samples, error) {
	out := make([]samples, len(sides))
	const warm = 2
	start := time.Now()
	for round := 0; round < warm+fewestRounds || time.Since(start) < budget; round++ {
		for k := range sides {
			i := (k + round) % len(sides)
			c, err := sides[i].run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].name, err)
			}
			if round >= warm {
				out[i].add(c)
			}
		}
	}
	for i := range out {
		out[i].sort()
	}
	return out, nil
}

// table prints rows of cells as a Markdown table.
func table(header []string, rows [][]string) {
	line := func(cells []string) { fmt.Printf("| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	rule := slices.Repeat([]string{"---:"}, len(header))
	rule[0] = "---"
	line(rule)
	for _, r := range rows {
		line(r)
	}
	fmt.Println()
}

// millis writes a duration in milliseconds with four digits.
func millis(d time.Duration) string { return fmt.Sprintf("%.4g", float64(d.Nanoseconds())/1e6) }
