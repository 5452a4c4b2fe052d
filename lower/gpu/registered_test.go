package gpu

import (
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Schedules have a word for each mapping, and no other; mappings of the same stages are tried one after the other, and
// no two say what the same stages do.
func TestRegistered(t *testing.T) {
	words := []string{byElement}
	said := map[string]string{}
	for _, x := range registered {
		words = append(words, x.word)
		for how := range x.says {
			if other, twice := said[how]; twice {
				t.Errorf("%s and %s say what stages by %q do", other, x.word, how)
			}
			said[how] = x.word
		}
		for _, y := range waysOf(x.of) {
			if y.place == x.place && y.word != x.word {
				t.Errorf("it is open whether %s or %s is tried first", x.word, y.word)
			}
		}
	}
	if slices.Sort(words); !slices.Equal(words, slices.Sorted(slices.Values(ir.Mappings))) {
		t.Errorf("there are mappings %v, and words %v", words, ir.Mappings)
	}
}

// What gives up has added nothing.
func TestAttempt(t *testing.T) {
	m := mapped(&loop.Program{Name: "p"}, Options{})
	before := m.out.String()
	for _, takes := range []bool{false, true} {
		m.attempt(func(m *mapper, _ *loop.Stage) bool {
			m.partition("part", loop.SizeScalar(m.scalar("n")))
			m.add(loop.Stage{Name: "s", Partition: -1, Allocs: []loop.Alloc{{Buffer: m.temp("t", loop.I64), Len: loop.SizeConst(1)}}})
			return takes
		}, nil)
		parts := len(m.from.Partitions)
		if got := m.out.String(); (got != before) != takes || (parts == 1) != takes || len(m.style) != parts || len(m.cuts) != parts {
			t.Errorf("taken %v: %d partitions, %d styles, %d cuts, in\n%s", takes, parts, len(m.style), len(m.cuts), got)
		}
	}
}
