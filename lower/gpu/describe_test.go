package gpu_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

// What runs on one thread says why; what does not, says who shares it.
func TestMappings(t *testing.T) {
	long := loop.NewBuilder("long")
	list := long.Buf("list", loop.I64, loop.ReadWrite)
	long.For("i", loop.Int(1), loop.Int(100), func(i loop.Expr) {
		long.Store(list, i, long.Add(long.Load(list, long.Sub(i, loop.Int(1))), i))
	})
	p := &loop.Program{Name: "p", Buffers: []loop.Buffer{{Name: "list", Elem: loop.I64, Role: loop.InOut}},
		Stages: []loop.Stage{{Name: "chain", Partition: -1, Func: long.Func(), Bufs: []loop.BufferID{0}}}}
	got := gpu.Mappings(gpu.Map(p, gpu.Options{}))
	for _, want := range []string{"chain_by_one_thread", "in order: iterations read what earlier ones wrote to list"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	for _, text := range []string{spmv, cube, strings.NewReplacer("p_A = begin to end", "p_A = 0 to n_i", "x_vals[j]", "x_vals[i]").Replace(spmv)} {
		p := mapped(t, text)
		got := gpu.Mappings(p)
		for _, s := range p.Stages {
			if s.Func != nil && !strings.Contains(got, "  "+s.Name+" ") {
				t.Errorf("there is nothing about stage %s in\n%s", s.Name, got)
			}
		}
	}
}
