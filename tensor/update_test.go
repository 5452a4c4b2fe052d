package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// updateFormats have overlays, and others.
var updateFormats = []string{"CSR", "CSC", "COO", "COOC", "S", "C-C-S", "S-S-S", "D", "D-D", "C-S-S", "DCSR", "CSF", "S-C-S", "C-S-D", "DC-S-DC-S", "D-D[1,0]"}

// TestUpdateIsWhatAListOfItsEntriesMakes changes tensors in all formats, updates of updates among them, and compares what is
// read from the overlay, and from the arrays, with the tensor of the same entries.
func TestUpdateIsWhatAListOfItsEntriesMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spelling := rapid.SampledFrom(updateFormats).Draw(t, "format")
		f, err := ParseFormat(spelling, -1)
		if err != nil {
			f, err = ParseFormat(spelling, 3)
		}
		if err != nil {
			t.Fatal(err)
		}
		m := newUpdateModel(t, f)
		var at *Tensor
		for range rapid.IntRange(1, 5).Draw(t, "updates") {
			before, old := m.t, m.want()
			m.change(t)
			m.check(t)
			if d := Diff(before, old); d != "" {
				t.Fatalf("%s: the tensor before the update differs: %s", spelling, d)
			}
			if rapid.Bool().Draw(t, "merged") {
				if err := m.t.Fetch(); err != nil {
					t.Fatal(err)
				}
				m.check(t)
			}
			at = m.t
		}
		if d := Diff(at, m.want()); d != "" {
			t.Fatalf("%s: %s", spelling, d)
		}
		converted, err := at.Convert(Coordinates(f.Rank()))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := m.want().Convert(Coordinates(f.Rank()))
		if d := Diff(converted, want); d != "" {
			t.Fatalf("%s converted: %s", spelling, d)
		}
	})
}

// updateModel is a tensor and what it holds.
type updateModel struct {
	t      *Tensor
	shape  []int64
	format Format
	stored map[string]float64
	coords map[string][]int64
}

func newUpdateModel(t *rapid.T, f Format) *updateModel {
	m := &updateModel{format: f, stored: map[string]float64{}, coords: map[string][]int64{}}
	for range f.Rank() {
		m.shape = append(m.shape, rapid.Int64Range(1, 5).Draw(t, "extent"))
	}
	for range rapid.IntRange(0, 12).Draw(t, "entries") {
		m.set(m.coord(t), float64(len(m.stored)+1))
	}
	m.t = m.want()
	if d := f.Rank(); d > 0 && rapid.Bool().Draw(t, "wide") {
		var err error
		if m.t, err = m.t.Convert(f, WithIndexTypes(Int64, Uint16)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *updateModel) coord(t *rapid.T) []int64 {
	var at []int64
	for _, n := range m.shape {
		at = append(at, rapid.Int64Range(0, n-1).Draw(t, "coordinate"))
	}
	return at
}

func (m *updateModel) set(at []int64, v float64) {
	m.stored[fmt.Sprint(at)], m.coords[fmt.Sprint(at)] = v, at
}

// change makes a few changes, of which some do nothing.
func (m *updateModel) change(t *rapid.T) {
	var changes []Change
	for i := range rapid.IntRange(0, 6).Draw(t, "changes") {
		at := m.coord(t)
		if !m.format.HasBlocks() && rapid.Bool().Draw(t, "delete") {
			changes = append(changes, Delete(at...))
			delete(m.stored, fmt.Sprint(at))
			continue
		}
		v := float64(rapid.IntRange(-2, 2).Draw(t, "value")) + float64(i)/8
		changes = append(changes, Set(v, at...))
		m.set(at, v)
	}
	var err error
	if m.t, err = Update(m.t, changes...); err != nil {
		t.Fatal(err)
	}
}

// want is a tensor of the same entries that nothing was changed in.
func (m *updateModel) want() *Tensor {
	coords, values := make([][]int64, len(m.shape)), []float64{}
	for key, v := range m.stored {
		for axis, c := range m.coords[key] {
			coords[axis] = append(coords[axis], c)
		}
		values = append(values, v)
	}
	t, err := FromCoords(m.shape, m.format, coords, ArrayOf(values))
	if err != nil {
		panic(err)
	}
	return t
}

// check reads the tensor in every way that need not make its arrays.
func (m *updateModel) check(t *rapid.T) {
	want := m.want()
	if m.t.NNZ() != want.NNZ() || m.t.Format() != want.Format() {
		t.Fatalf("%v, and it should be %v", m.t, want)
	}
	type entry struct {
		at []int64
		v  float64
	}
	list := func(t *Tensor) (all []entry) {
		for at, v := range Entries[float64](t) {
			all = append(all, entry{slices.Clone(at), v})
		}
		return all
	}
	got, all := list(m.t), list(want)
	if fmt.Sprint(got) != fmt.Sprint(all) {
		t.Fatalf("%v: entries %v, and they should be %v", m.format, got, all)
	}
	for n := range all { // loops that end early
		for range Entries[float64](m.t) {
			if n--; n < 0 {
				break
			}
		}
	}
	at := m.coord(t)
	if x, y := m.t.At(at...), want.At(at...); !x.Same(y) {
		t.Fatalf("%v: %v at %v, and it should be %v", m.format, x, at, y)
	}
	at[m.format.Order()[m.format.Rank()-1]] = -1
	f, err := FibreAt[float64](m.t, at...)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := FibreAt[float64](want, at...)
	if x, y := fibreText(f), fibreText(g); x != y {
		t.Fatalf("%v: fibre %v is %v, and it should be %v", m.format, at, x, y)
	}
}

func fibreText(f Fibre[float64]) (s string) {
	for c, v := range f.All() {
		s += fmt.Sprintf("%d:%v ", c, v)
	}
	return s
}

func ratings(t *testing.T) *Tensor {
	t.Helper()
	m, err := NewCSR([]int64{3, 4}, []int{0, 2, 2, 3}, []int{0, 2, 1}, []float64{5, 4, 3}, WithName("R"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestUpdateSharesWhatDoesNotChange: reading elements, rows and entries makes no arrays, and new values alone leave the
// index arrays those of the old tensor.
func TestUpdateSharesWhatDoesNotChange(t *testing.T) {
	r := ratings(t)
	u, err := Update(r, Set(1, 1, 3), Set(2.5, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := At[float64](u, 1, 3); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	if row, err := Row[float64](u, 0); err != nil || fibreText(row) != "0:2.5 2:4 " {
		t.Fatal(row, err)
	}
	untouched, err := Row[float64](u, 2)
	if err != nil || &untouched.Values[0] != &StoredValues[float64](r)[2] {
		t.Error("the row without changes is a copy")
	}
	for range Entries[float64](u) {
	}
	if u.values.Fetched() || u.overlay.base.Load() == nil {
		t.Error("reading elements has made the arrays")
	}
	same, err := Update(r, Set(2, 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !SameStructure(r, same) || same.levels[1].Crd.Pointer() != r.levels[1].Crd.Pointer() || same.levels[1].Pos.Pointer() != r.levels[1].Pos.Pointer() {
		t.Error("a new value has made new index arrays")
	}
	if nothing, err := Update(r, Delete(1, 1)); err != nil || nothing.values.Pointer() != r.values.Pointer() {
		t.Error("no change has made new arrays", err)
	}
}

// TestUpdateOutlivesItsTensor: a tensor may be released while overlays still need its arrays.
func TestUpdateOutlivesItsTensor(t *testing.T) {
	block := make([]byte, 4096)
	gone := false
	pool := NewPooled(block, func() { gone = true })
	values := pool.Array(Float64, pool.Pointer(), 300)
	coords := make([]int, 300)
	for i := range coords {
		coords[i] = 2 * i
		View[float64](values)[i] = float64(i)
	}
	r, err := New([]int64{600}, Coordinates(1), []Level{{Crd: ArrayOf(coords)}}, values)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := Update(r, Set(-1, 1))
	v, _ := Update(u, Delete(0))
	r.Release()
	u.Release()
	if gone {
		t.Fatal("the memory is gone while an overlay needs it")
	}
	if got := v.At(8).Float64(); got != 4 {
		t.Fatal(got)
	}
	if got := fmt.Sprint(StoredValues[float64](v)[:3]); got != "[-1 1 2]" {
		t.Fatal(got)
	}
	if !gone {
		t.Error("the memory is still held though the arrays are made")
	}
	v.Release()
	if _, err := Update(v, Set(1, 0)); err == nil {
		t.Error("a released tensor was updated")
	}
}

// TestUpdatesAreMergedWhenCarryingThemCosts: a long chain of single changes takes little time for each, and leaves few of them waiting.
func TestUpdatesAreMergedWhenCarryingThemCosts(t *testing.T) {
	n := int64(1000)
	m, err := FromDense([]int64{n}, Dense(1), ArrayOf(make([]float64, n)))
	if err != nil {
		t.Fatal(err)
	}
	carried, bases := 0, map[*Tensor]bool{}
	for i := range n {
		if m, err = Update(m, Set(i+1, i)); err != nil {
			t.Fatal(err)
		}
		carried += len(m.overlay.edits)
		bases[m.overlay.base.Load()] = true
	}
	if most := int(n) * 20; carried > most {
		t.Errorf("%d changes were carried on in %d updates: more than %d", carried, n, most)
	}
	if most := int(n) / 5; len(bases) > most {
		t.Errorf("arrays were made %d times in %d updates: more than %d times", len(bases), n, most)
	}
	for i, v := range StoredValues[float64](m) {
		if v != float64(i+1) {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}

// TestUpdateByManyReaders reads one overlay from several goroutines while others make its arrays, and update it.
func TestUpdateByManyReaders(t *testing.T) {
	u, err := Update(ratings(t), Set(1, 1, 3), Delete(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			switch i % 4 {
			case 0:
				if got := fmt.Sprint(StoredValues[float64](u)); got != "[4 1 3]" {
					t.Error(got)
				}
			case 1:
				if got := u.At(1, 3).Float64(); got != 1 {
					t.Error(got)
				}
			case 2:
				sum := 0.0
				for _, v := range Entries[float64](u) {
					sum += v
				}
				if sum != 8 {
					t.Error(sum)
				}
			case 3:
				v, err := Update(u, Set(7, 2, 2))
				if err != nil || v.NNZ() != 4 || v.At(0, 2).Float64() != 4 {
					t.Error(v, err)
				}
			}
		})
	}
	all.Wait()
}

// TestStatisticsOfUpdates: what decides whether a rewritten program is right follows exactly, or to the safe side.
func TestStatisticsOfUpdates(t *testing.T) {
	r := ratings(t)
	for _, c := range []struct {
		change              Change
		finite, nonNegative bool
	}{
		{Set(2, 1, 1), true, true},
		{Set(-2, 1, 1), true, false},
		{Set(math.Inf(1), 0, 0), false, true},
	} {
		for _, first := range []bool{true, false} {
			if first {
				r.Statistics()
			} else {
				r = ratings(t)
			}
			u, err := Update(r, c.change)
			if err != nil {
				t.Fatal(err)
			}
			s, ok := u.Statistics()
			if !ok || s.Finite != c.finite || s.NonNegative && !c.nonNegative || s.Entries != float64(u.NNZ()) {
				t.Errorf("%v of the old one first: %+v", first, s)
			}
		}
	}
}

func TestUpdateRefuses(t *testing.T) {
	r := ratings(t)
	ints, _ := NewDense([]int8{1, 2}, 2)
	triangle, err := FromCoords([]int64{2, 2}, CSR, [][]int64{{1}, {0}}, ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	if triangle, err = triangle.WithStructure(SymmetricLower); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t      *Tensor
		change Change
		want   string
	}{
		{r, Set(1, 3, 0), "axis 0 has the size 3"},
		{r, Set(1, 0), "1 coordinates: the rank is 2"},
		{r, Set(1i, 0, 0), "type f64 does not hold"},
		{ints, Set(0.5, 0), "type i8 does not hold"},
		{ints, Set(128, 0), "type i8 does not hold"},
		{ints, Delete(0), "set it to the fill, 0"},
		{triangle, Set(1, 0, 0), "Canonical"},
		{nil, Set(1), "nil"},
	} {
		if _, err := Update(c.t, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
