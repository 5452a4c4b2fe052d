package gpu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

// TestAskedMappings maps a product in the ways that can be asked for, and says of others what there is.
func TestAskedMappings(t *testing.T) {
	p, err := loop.ParseProgram(spmv)
	if err != nil {
		t.Fatal(err)
	}
	usual := gpu.Chosen(p, gpu.Options{})
	if len(usual) == 0 {
		t.Fatal("no stage has several ways")
	}
	seen := map[string]bool{}
	for _, word := range ir.Mappings {
		asked := gpu.Options{Mapping: []ir.Mapping{{Way: word}}}
		out, err := gpu.Lower(p, asked)
		var unmet *gpu.MappingError
		if errors.As(err, &unmet) {
			if !strings.Contains(err.Error(), usual[0].String()) || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v does not say what there is", word, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		got := gpu.Chosen(p, asked)
		if !slices.ContainsFunc(got, func(m ir.Mapping) bool { return m.Way == word }) {
			t.Errorf("%s was asked for, and %v taken", word, got)
		}
		again, err := gpu.Lower(p, gpu.Options{Mapping: got})
		if err != nil || again.String() != out.String() {
			t.Errorf("%v gives another program: %v", got, err)
		}
		seen[word] = true
	}
	for _, word := range []string{usual[0].Way, "rows", "elements"} {
		if !seen[word] {
			t.Errorf("%s cannot be asked for", word)
		}
	}
	if _, err := gpu.Lower(p, gpu.Options{Mapping: []ir.Mapping{{Stage: "other", Way: usual[0].Way}}}); err == nil {
		t.Error("a stage that is not there has a way")
	}
}
