package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/interop"
)

// checkMaps takes the tensor to MLIR's and TACO's storage, which share its arrays, and
// back.
func (c *formatCase) checkMaps(t *testing.T, a *tensor.Tensor) {
	m, err := interop.ToMLIR(a)
	if err != nil {
		t.Fatal(err)
	}
	back, err := interop.FromMLIR(m)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := m.Interleaved()
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := interop.FromMLIR(packed)
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]*tensor.Tensor{m.Encoding: back, packed.Encoding: unpacked}
	if s, err := interop.ToTACO(a); err == nil {
		if others[s.Modes], err = interop.FromTACO(s); err != nil {
			t.Fatal(err)
		}
	} else if c.Unsorted == nil {
		t.Error(err)
	}
	last := a.Rank() - 1 - c.DenseRank
	if _, grouped := a.Pointers(last); last >= 0 && grouped {
		// They have no pointers to values: coordinates repeat.
		kinds := a.Format().Levels()
		kinds[last] = tensor.S
		repeating, err := tensor.FormatWith(kinds, a.Format().Order(), a.Format().Flags())
		if err == nil {
			a, err = a.Convert(repeating)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		for k, l := range a.Levels() {
			if k > 0 && m.Positions[k].Pointer() != l.Pos.Pointer() || m.Coordinates[k].Pointer() != l.Crd.Pointer() {
				t.Errorf("%s: the arrays of level %d are not shared", m.Encoding, k)
			}
		}
	}
	for name, b := range others {
		if d := tensor.Diff(b, a); d != "" {
			t.Errorf("as %s and back: %s", name, d)
		}
	}
}

// rank4 lists the 27 structures of rank 4 with MLIR's levels for them: C compressed, D
// dense, S singleton, N not unique. Levels that S-C spells are those of DC-C.
const rank4 = `
S-S-S-S CN-SN-SN-S   S-S-C-S CN-S-D-C     S-S-DC-S CN-SN-S-C
S-C-S-S C-D-CN-S     S-C-C-S C-D-D-C      S-C-DC-S C-D-C-C
S-DC-S-S CN-S-CN-S   S-DC-C-S CN-S-D-C    S-DC-DC-S CN-S-C-C
C-S-S-S D-CN-SN-S    C-S-C-S D-C-D-C      C-S-DC-S D-CN-S-C
C-C-S-S D-D-CN-S     C-C-C-S D-D-D-C      C-C-DC-S D-D-C-C
C-DC-S-S D-C-CN-S    C-DC-C-S D-C-D-C     C-DC-DC-S D-C-C-C
DC-S-S-S C-CN-SN-S   DC-S-C-S C-C-D-C     DC-S-DC-S C-CN-S-C
DC-C-S-S C-D-CN-S    DC-C-C-S C-D-D-C     DC-C-DC-S C-D-C-C
DC-DC-S-S C-C-CN-S   DC-DC-C-S C-C-D-C    DC-DC-DC-S C-C-C-C`

// TestRank4Maps takes the eight entries of the specification's example through all
// structures of rank 4.
func TestRank4Maps(t *testing.T) {
	coords := [][]int64{{0, 0, 0, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}, {1, 2, 0, 2, 0, 0, 1, 2}}
	values := tensor.ArrayOf([]float64{1, 2, 3, 4, 5, 6, 7, 8})
	letters := map[string]string{"C": "s", "CN": "u", "D": "d", "S": "q", "SN": "c"}
	names := map[string]string{"C": "compressed", "CN": "compressed(nonunique)", "D": "dense", "S": "singleton(soa)", "SN": "singleton(nonunique, soa)"}
	table := strings.Fields(rank4)
	if len(table) != 2*27 {
		t.Fatalf("%d structures", len(table)/2)
	}
	for i := 0; i < len(table); i += 2 {
		format, err := tensor.ParseFormat(table[i], 4)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tensor.FromCoords([]int64{2, 2, 2, 3}, format, coords, values)
		if err != nil {
			t.Fatal(err)
		}
		var levels, modes []string
		for k, level := range strings.Split(table[i+1], "-") {
			levels = append(levels, fmt.Sprintf("d%d : %s", k, names[level]))
			modes = append(modes, letters[level])
		}
		m, err := interop.ToMLIR(a)
		if want := "-> (" + strings.Join(levels, ", ") + "), posWidth"; err != nil || !strings.Contains(m.Encoding, want) {
			t.Errorf("%s: %s, %v, want %s", table[i], m.Encoding, err, want)
		}
		if b, err := interop.FromMLIR(m); err != nil || tensor.Diff(b, a) != "" {
			t.Errorf("%s from MLIR: %v, %v", table[i], b, err)
		}
		s, err := interop.ToTACO(a)
		if want := strings.Join(modes, ""); err != nil || s.Modes != want {
			t.Errorf("%s: %s, %v, want %s", table[i], s.Modes, err, want)
		}
		if b, err := interop.FromTACO(s); err != nil || tensor.Diff(b, a) != "" {
			t.Errorf("%s from TACO: %v, %v", table[i], b, err)
		}
	}
}
