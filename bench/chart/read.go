package main

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chart is what is drawn: the times of sides as multiples of one side's.
type chart struct {
	title, unit string
	rows        []string
	sides       []string // without the unit, in the order of the page
	dots        []dot
}

type dot struct {
	row, side int
	ratio     float64
}

// table is one of a page, under its heading.
type table struct {
	heading string
	header  []string
	rows    [][]string
}

// tables finds those of a page.
func tables(page string) (title string, list []table) {
	heading, open := "", false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if h, ok := strings.CutPrefix(line, "# "); ok {
			title = h
		}
		if strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
		if !strings.HasPrefix(line, "|") {
			open = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !open:
			list = append(list, table{heading: heading, header: cells})
			open = true
		case strings.Trim(cells[0], "-:") != "":
			list[len(list)-1].rows = append(list[len(list)-1].rows, cells)
		}
	}
	return title, list
}

const ours = "lacuna 1t"

// read makes a chart of the first table with a column of ours, or of all that have a row for each side.
func read(page string) (*chart, error) {
	title, list := tables(page)
	c := &chart{title: title}
	for _, t := range list {
		if unit := slices.Index(t.header, ours); unit >= 0 {
			c.wide(t, unit)
			return c, nil
		}
	}
	for _, t := range list {
		if median := slices.Index(t.header, "median ms"); t.header[0] == "side" && median > 0 && len(t.rows) > 1 {
			c.long(t, median)
		}
	}
	if len(c.dots) == 0 {
		return nil, errors.New("there is no table with a column " + ours + ", and none with a row for each side")
	}
	return c, nil
}

// wide adds a table with a column for each side.
func (c *chart) wide(t table, unit int) {
	c.unit = t.header[unit]
	for _, cells := range t.rows {
		if len(cells) != len(t.header) {
			continue
		}
		base := number(cells[unit])
		if base == 0 {
			continue
		}
		for i, v := range cells {
			if side := t.header[i]; i != unit && i > 0 && !strings.Contains(side, " / ") && side != "input" && !strings.HasPrefix(side, "entries") {
				c.add(cells[0], side, number(v)/base)
			}
		}
	}
}

// long adds a table with a row for each side, the first of which is the unit.
func (c *chart) long(t table, median int) {
	row, _, _ := strings.Cut(t.heading, ":")
	c.unit = t.rows[0][0]
	base := number(t.rows[0][median])
	for _, cells := range t.rows[1:] {
		c.add(row, cells[0], number(cells[median])/base)
	}
}

// add adds a dot, unless nothing was measured.
func (c *chart) add(row, side string, ratio float64) {
	if ratio <= 0 {
		return
	}
	index := func(list *[]string, name string) int {
		if i := slices.Index(*list, name); i >= 0 {
			return i
		}
		*list = append(*list, name)
		return len(*list) - 1
	}
	c.dots = append(c.dots, dot{index(&c.rows, row), index(&c.sides, side), ratio})
}

var leading = regexp.MustCompile(`^[0-9][0-9,]*(\.[0-9]+)?`)

// number reads the number that a cell begins with; 0 if there is none.
func number(cell string) float64 {
	v, _ := strconv.ParseFloat(strings.ReplaceAll(leading.FindString(cell), ",", ""), 64)
	return v
}
