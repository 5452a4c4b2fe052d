package interop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// mustParse is the format that a text spells.
func mustParse(t *testing.T, text string, rank int) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat(text, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// smallMatrix has three entries.
func smallMatrix(t *testing.T, format tensor.Format) *tensor.Tensor {
	t.Helper()
	a, err := tensor.FromCoords([]int64{3, 5}, format, [][]int64{{0, 0, 2}, {1, 4, 0}}, tensor.ArrayOf([]float64{1, 2, 3}), tensor.WithName("A"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMLIREncodings(t *testing.T) {
	for _, c := range []struct{ format, want string }{
		{"CSR", "(d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 32"},
		{"CSC", "(d1 : dense, d0 : compressed), posWidth = 32, crdWidth = 32"},
		{"DCSR", "(d0 : compressed, d1 : compressed), posWidth = 32, crdWidth = 32"},
		{"COO", "(d0 : compressed(nonunique), d1 : singleton(soa)), posWidth = 32, crdWidth = 32"},
		{"COO(unsorted,duplicates)", "(d0 : compressed(nonunique, nonordered), d1 : singleton(nonunique, soa)), posWidth = 32, crdWidth = 32"},
		{"D", "(d0 : dense, d1 : dense)"},
		{"DC(duplicates)-S", "(d0 : compressed(nonunique), d1 : compressed), posWidth = 32, crdWidth = 32"},
		{"C-C(duplicates)", "(d0 : dense, d1 : compressed(nonunique)), posWidth = 32, crdWidth = 32"},
	} {
		a := smallMatrix(t, mustParse(t, c.format, 2))
		m, err := ToMLIR(a)
		if err != nil {
			t.Fatal(err)
		}
		if want := "#sparse_tensor.encoding<{ map = (d0, d1) -> " + c.want + " }>"; m.Encoding != want {
			t.Errorf("%s: %s, want %s", c.format, m.Encoding, want)
		}
		for k, l := range a.Levels() {
			if c.format == "C-C(duplicates)" {
				continue
			}
			if m.Coordinates[k].Pointer() != l.Crd.Pointer() || k > 0 && m.Positions[k].Pointer() != l.Pos.Pointer() {
				t.Errorf("%s: the arrays of level %d are copied", c.format, k)
			}
		}
	}
	wide := smallMatrix(t, tensor.COO)
	if _, err := wide.Convert(tensor.COO, tensor.WithIndexTypes(tensor.Uint64, tensor.Uint8)); err != nil {
		t.Fatal(err)
	}
	mixed, err := smallMatrix(t, tensor.DCSR).Convert(tensor.DCSR, tensor.WithIndexType(0, tensor.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	m, err := ToMLIR(mixed)
	if err != nil || !strings.Contains(m.Encoding, "posWidth = 32, crdWidth = 32") {
		t.Errorf("mixed widths: %s, %v", m.Encoding, err)
	}
	if b, err := FromMLIR(m); err != nil || tensor.Diff(b, mixed) != "" {
		t.Errorf("mixed widths: %v, %v", b, err)
	}
}

func TestMLIRInterleaved(t *testing.T) {
	m, err := ToMLIR(smallMatrix(t, tensor.COO))
	if err != nil {
		t.Fatal(err)
	}
	m, err = m.Interleaved()
	if err != nil {
		t.Fatal(err)
	}
	if want := "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton), posWidth = 32, crdWidth = 32 }>"; m.Encoding != want {
		t.Errorf("%s, want %s", m.Encoding, want)
	}
	if got := fmt.Sprint(tensor.View[uint32](m.Coordinates[0])); got != "[0 1 0 4 2 0]" || m.Coordinates[1].DType() != tensor.Invalid {
		t.Errorf("coordinates %s and %v", got, m.Coordinates[1])
	}
	again, err := m.Interleaved()
	if err != nil || again.Encoding != m.Encoding {
		t.Errorf("interleaved twice: %v, %v", again, err)
	}
}

func TestMLIRBlocks(t *testing.T) {
	a := smallMatrix(t, tensor.CSR)
	b, err := a.Blocked([]int64{2, 3}, tensor.BSR)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ToMLIRBlocked(b, []int64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	if want := "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 floordiv 2 : dense, d1 floordiv 3 : compressed, d0 mod 2 : dense, d1 mod 3 : dense), posWidth = 32, crdWidth = 32 }>"; m.Encoding != want {
		t.Errorf("%s, want %s", m.Encoding, want)
	}
	back, err := FromMLIR(m)
	if err != nil || tensor.Diff(back, b) != "" {
		t.Fatalf("%v, %v", back, err)
	}
	// tensor.One dimension in blocks, as MLIR's own tests have it, with names of levels.
	one := &MLIR{
		Encoding:  "#sparse_tensor.encoding<{ map = {l0, l1, l2} (i, j) -> (l0 = j floordiv 2 : compressed, l1 = i : dense, l2 = j mod 2 : dense), crdWidth=8 }>",
		Shape:     []int64{2, 3},
		Positions: []tensor.Array{tensor.ArrayOf([]uint64{0, 1}), {}, {}}, Coordinates: []tensor.Array{tensor.ArrayOf([]uint8{1}), {}, {}},
		Values: tensor.ArrayOf([]float64{1, 0, 2, 0}),
	}
	c, err := FromMLIR(one)
	if err != nil {
		t.Fatal(err)
	}
	// Axes: i, j floordiv 2, j mod 2.
	if got, want := c.String(), "2x2x2 f64 S-D-D[1,0,2], 4 stored, fill 0"; got != want || c.At(1, 1, 0).Float64() != 2 {
		t.Errorf("%s, want %s; %v", got, want, c.At(1, 1, 0))
	}
}

// TestMLIRUnsortedRuns reads singletons that are not ordered: the run is not.
func TestMLIRUnsortedRuns(t *testing.T) {
	a, err := FromMLIR(&MLIR{
		Encoding:    "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton(nonordered, soa)) }>",
		Shape:       []int64{2, 2},
		Positions:   []tensor.Array{tensor.ArrayOf([]uint64{0, 2}), {}},
		Coordinates: []tensor.Array{tensor.ArrayOf([]uint64{0, 0}), tensor.ArrayOf([]uint64{1, 0})},
		Values:      tensor.ArrayOf([]float64{1, 2}),
	})
	if err != nil || a.Format().String() != "S(unsorted)-S" || a.At(0, 1).Float64() != 1 {
		t.Errorf("%v, %v", a, err)
	}
}

func TestMLIRRefused(t *testing.T) {
	good := func() *MLIR {
		m, err := ToMLIR(smallMatrix(t, tensor.CSR))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	encoding := func(levels string) func(*MLIR) {
		return func(m *MLIR) {
			m.Encoding = "#sparse_tensor.encoding<{ map = (d0, d1) -> (" + levels + "), posWidth = 32, crdWidth = 32 }>"
		}
	}
	for want, change := range map[string]func(*MLIR){
		`levels that are "loose_compressed" are not supported`: encoding("d0 : dense, d1 : loose_compressed"),
		`levels that are "structured" are not supported`:       encoding("d0 : dense, d1 : structured[2, 4]"),
		`levels that are "batch" are not supported`:            encoding("d0 : batch, d1 : compressed"),
		`the property "sorted" is not supported`:               encoding("d0 : dense, d1 : compressed(sorted)"),
		"it must follow a compressed level or a singleton":     encoding("d0 : dense, d1 : singleton(soa)"),
		"dimension d0 is stored twice":                         encoding("d0 : dense, d0 : compressed"),
		"the levels do not store dimension d1 once":            encoding("d0 : dense, d1 floordiv 2 : compressed"),
		`"d7" is no dimension`:                                 encoding("d0 : dense, d7 : compressed"),
		"the divisor must be a number from 1 on":               encoding("d0 : dense, d1 mod 0 : compressed"),
		`the key "explicitVal" is not supported`:               func(m *MLIR) { m.Encoding = strings.Replace(m.Encoding, "posWidth", "explicitVal", 1) },
		"a width is 0, 8, 16, 32 or 64 bits":                   func(m *MLIR) { m.Encoding = strings.Replace(m.Encoding, "32", "24", 1) },
		"positions_1 are u32, but the encoding says 64 bits":   func(m *MLIR) { m.Encoding = strings.Replace(m.Encoding, "posWidth = 32, ", "", 1) },
		"positions_1 are missing":                              func(m *MLIR) { m.Positions[1] = tensor.Array{} },
		"coordinates_0 are given, but level 0 has none":        func(m *MLIR) { m.Coordinates[0] = m.Coordinates[1] },
		"indices_1[1] = 9 is out of range":                     func(m *MLIR) { m.Coordinates[1] = tensor.ArrayOf([]uint32{1, 9, 0}) },
		"the map has 2 dimensions, the tensor 3":               func(m *MLIR) { m.Shape = []int64{1, 2, 3} },
		`"<" is expected`:                                      func(m *MLIR) { m.Encoding = "sparse" },
		"the encoding has 2 levels, with positions of 1":       func(m *MLIR) { m.Positions = m.Positions[1:] },
		"there are 2 values for 3 stored positions":            func(m *MLIR) { m.Values = tensor.ArrayOf([]float64{1, 2}) },
	} {
		m := good()
		m.Positions, m.Coordinates = slices.Clone(m.Positions), slices.Clone(m.Coordinates)
		change(m)
		if got, err := FromMLIR(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", got, err, want)
		}
	}
	filled, err := tensor.FromCoords([]int64{2}, tensor.CSF(1), [][]int64{{0}}, tensor.ArrayOf([]float64{1}), tensor.WithFill(tensor.One(tensor.Float64)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToMLIR(filled); err == nil || !strings.Contains(err.Error(), "MLIR's implicit value is 0") {
		t.Errorf("%v", err)
	}
	half, err := tensor.NewCSR([]int64{2, 2}, []int{0, 1, 2}, []int{0, 0}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	triangle, err := half.WithStructure(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToMLIR(triangle); err == nil || !strings.Contains(err.Error(), "expand it first") {
		t.Errorf("%v", err)
	}
}

func TestTACO(t *testing.T) {
	for _, c := range []struct{ format, want string }{
		{"CSR", "-f=A:ds:0,1"}, {"CSC", "-f=A:ds:1,0"}, {"COO", "-f=A:uq:0,1"}, {"COO(duplicates)", "-f=A:uc:0,1"},
		{"D", "-f=A:dd:0,1"}, {"C-S(duplicates)", "-f=A:du:0,1"},
	} {
		s, err := ToTACO(smallMatrix(t, mustParse(t, c.format, 2)))
		if err != nil || s.Descriptor("A") != c.want {
			t.Errorf("%s: %v, %v, want %s", c.format, s.Descriptor("A"), err, c.want)
		}
	}
	s, err := ToTACO(smallMatrix(t, tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	z := *s
	z.Modes = "dz"
	if _, err := FromTACO(&z); err == nil || !strings.Contains(err.Error(), `TACO's mode format 'z' is not supported`) {
		t.Errorf("%v", err)
	}
	z.Modes = "d"
	if _, err := FromTACO(&z); err == nil {
		t.Error("a letter too few is accepted")
	}
	if _, err := ToTACO(smallMatrix(t, mustParse(t, "COO(unsorted)", 2))); err == nil || !strings.Contains(err.Error(), "TACO has no letter") {
		t.Errorf("%v", err)
	}
}

func FuzzFromMLIR(f *testing.F) {
	f.Add("#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 32 }>", []byte{0, 2, 3, 1, 4, 0})
	f.Add("#sparse_tensor.encoding<{ map = {l0, l1} (i, j) -> (l0 = i floordiv 2 : dense, l1 = j mod 2 : singleton(nonunique, soa)) }>", []byte{})
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		e, err := parseEncoding(text, 2)
		if err != nil {
			return
		}
		m := &MLIR{Encoding: text, Shape: []int64{3, 5}, Values: tensor.ArrayOf(make([]float64, len(raw)))}
		index := map[int]tensor.DType{0: tensor.Uint64, 8: tensor.Uint8, 16: tensor.Uint16, 32: tensor.Uint32, 64: tensor.Uint64}
		next := func(dt tensor.DType) tensor.Array {
			n := 0
			if len(raw) > 0 {
				n, raw = min(int(raw[0]%8), len(raw)-1), raw[1:]
			}
			a, _ := tensor.MakeArray(dt, n)
			for i := range n {
				a.SetScalar(i, tensor.Uint(dt, uint64(raw[i])))
			}
			raw = raw[n:]
			return a
		}
		for _, l := range e.levels {
			var pos, crd tensor.Array
			if l.Kind == tensor.CompressedLevel {
				pos = next(index[e.posWidth])
			}
			if l.Kind != tensor.DenseLevel && (l.Kind == tensor.CompressedLevel || l.soa) {
				crd = next(index[e.crdWidth])
			}
			m.Positions, m.Coordinates = append(m.Positions, pos), append(m.Coordinates, crd)
		}
		a, err := FromMLIR(m)
		if err != nil {
			return
		}
		back, err := ToMLIR(a)
		if err != nil {
			t.Fatalf("%v of %s: %v", a, text, err)
		}
		if _, err := FromMLIR(back); err != nil {
			t.Fatalf("%v of %s: %v", a, back.Encoding, err)
		}
	})
}
