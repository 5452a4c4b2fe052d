package gpu

import (
	"maps"
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

// A mapping is a file that registers it: it is taken for the stages that it is for, alone, and schedules have its word.
func TestRegister(t *testing.T) {
	const text = `program p {
  buffer y: []f64 output
  stage allocate {
    alloc y[2]
  }
  stage mine {
    run(y)
    func mine(y: []f64) chunk chunk, lo, hi {
      y[0] = 1.0
    }
  }
  stage other {
    run(y)
    func other(y: []f64) chunk chunk, lo, hi {
      y[1] = 2.0
    }
  }
}`
	p, err := loop.ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	usual := Chosen(p, Options{})
	mappings, known, words := slices.Clone(registered), maps.Clone(ways), slices.Clone(ir.Mappings)
	defer func() { registered, ways, ir.Mappings = mappings, known, words }()
	register(mapping{of: ofOneCall, place: -1, word: "tested", take: func(m *mapper, s *loop.Stage) bool {
		return s.Name == "mine" && m.serial(s)
	}})
	chosen := Chosen(p, Options{})
	if len(usual) != 2 || len(chosen) != 2 || chosen[0].Way != "tested" || chosen[1] != usual[1] {
		t.Errorf("mapped as %v, and before as %v", chosen, usual)
	}
	if asked := Chosen(p, Options{Mapping: []ir.Mapping{{Way: usual[0].Way}}}); asked[0] != usual[0] {
		t.Errorf("mapped as %v, where %v was asked for", asked, usual[0])
	}
	if _, err := Lower(p, Options{Mapping: []ir.Mapping{{Stage: "other", Way: "tested"}}}); err == nil {
		t.Error("a mapping is taken for a stage that it is not for")
	}
	if !slices.Contains(ir.Mappings, "tested") {
		t.Errorf("schedules have the words %v", ir.Mappings)
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
