package loop

import (
	"slices"
	"strconv"
)

// Anonymous is the program with other names, which say nothing: two programs that differ in names alone become equal. Messages of functions that may fail
// stay as they are.
func (p *Program) Anonymous() *Program {
	q := *p
	q.Name = "p"
	q.Scalars, q.Buffers, q.Partitions, q.Stages = slices.Clone(p.Scalars), slices.Clone(p.Buffers), slices.Clone(p.Partitions), slices.Clone(p.Stages)
	for i := range q.Scalars {
		q.Scalars[i].Name = "s" + strconv.Itoa(i)
	}
	for i := range q.Buffers {
		q.Buffers[i].Name = "b" + strconv.Itoa(i)
	}
	for i := range q.Partitions {
		q.Partitions[i].Name = "c" + strconv.Itoa(i)
	}
	for i := range q.Stages {
		s := &q.Stages[i]
		if s.Name = "t" + strconv.Itoa(i); s.Func != nil {
			s.Func = s.Func.anonymous()
		}
	}
	return &q
}

// anonymous is the function with other names.
func (f *Func) anonymous() *Func {
	g := *f
	g.Name, g.Bufs, g.Vars = "f", slices.Clone(f.Bufs), slices.Clone(f.Vars)
	for i := range g.Bufs {
		g.Bufs[i].Name = "b" + strconv.Itoa(i)
	}
	for i := range g.Vars {
		g.Vars[i].Name = "v" + strconv.Itoa(i)
	}
	return &g
}

// OnGrids reports whether the program has functions that many threads run together.
func (p *Program) OnGrids() bool {
	return slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Func != nil && s.Func.Grid != nil })
}
