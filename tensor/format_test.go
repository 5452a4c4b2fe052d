package tensor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// kindsOf reads "C-DC-S" without ParseFormat.
func kindsOf(s string) []LevelKind {
	var kinds []LevelKind
	for part := range strings.SplitSeq(s, "-") {
		kinds = append(kinds, LevelKind(slices.Index(levelKindNames[:], part)))
	}
	return kinds
}

func TestParseFormat(t *testing.T) {
	for _, c := range []struct {
		text   string
		rank   int
		levels string // hyphens; "" for rank 0
		order  string
		want   string // String
	}{
		{"CSR", 2, "C-S", "[0 1]", "CSR"},
		{"csr", -1, "C-S", "[0 1]", "CSR"},
		{"CSC", 2, "C-S", "[1 0]", "CSC"},
		{"C-S-R", 2, "C-S", "[0 1]", "CSR"},
		{"C-S·C", 2, "C-S", "[1 0]", "CSC"},
		{"c-s-c", 2, "C-S", "[1 0]", "CSC"},
		{"DCSR", 2, "DC-S", "[0 1]", "DCSR"},
		{"DCSC", -1, "DC-S", "[1 0]", "DCSC"},
		{"COO", 2, "S-S", "[0 1]", "COO"},
		{"COO", -1, "S-S", "[0 1]", "COO"},
		{"COO", 3, "S-S-S", "[0 1 2]", "COO"},
		{"COO", 1, "S", "[0]", "S"},
		{"COO-C", 3, "S-S-S", "[2 1 0]", "S-S-S-C"},
		{"COO-C", 2, "S-S", "[1 0]", "COOC"},
		{"COO[1,2,0]", -1, "S-S-S", "[1 2 0]", "S-S-S[1,2,0]"},
		{"COOR", 2, "S-S", "[0 1]", "COO"},
		{"SSC", 2, "S-S", "[1 0]", "COOC"},
		{"SSR", 2, "S-S", "[0 1]", "COO"},
		{"CSF", 4, "DC-DC-DC-S", "[0 1 2 3]", "CSF"},
		{"CSF", 2, "DC-S", "[0 1]", "DCSR"},
		{"CSF", 1, "S", "[0]", "S"},
		{"CSF", 0, "", "[]", "D"},
		{"CSF-C", 3, "DC-DC-S", "[2 1 0]", "DC-DC-S-C"},
		{"CSF[2,0,1]", 3, "DC-DC-S", "[2 0 1]", "DC-DC-S[2,0,1]"},
		{"CSF-[2,0,1]", -1, "DC-DC-S", "[2 0 1]", "DC-DC-S[2,0,1]"},
		{"D", 0, "", "[]", "D"},
		{"D", 1, "D", "[0]", "D"},
		{"dense", 3, "D-D-D", "[0 1 2]", "D"},
		{"d", 2, "D-D", "[0 1]", "D"},
		{"D[1,0]", 2, "D-D", "[1 0]", "DMATC"},
		{"D-D-C", 2, "D-D", "[1 0]", "DMATC"},
		{"dense-C", 3, "D-D-D", "[2 1 0]", "D-D-D-C"},
		{"D-C", 1, "D", "[0]", "D"},
		{"DMAT", -1, "D-D", "[0 1]", "D"},
		{"DMATR", 2, "D-D", "[0 1]", "D"},
		{"DMATC", 2, "D-D", "[1 0]", "DMATC"},
		{"DVEC", 1, "D", "[0]", "D"},
		{"CVEC", 1, "S", "[0]", "S"},
		{"S", -1, "S", "[0]", "S"},
		{"S-C", 1, "S", "[0]", "S"},
		{"C-DC-S-S", 4, "C-DC-S-S", "[0 1 2 3]", "C-DC-S-S"},
		{"C-DC-S-S[1,3,0,2]", 4, "C-DC-S-S", "[1 3 0 2]", "C-DC-S-S[1,3,0,2]"},
		{" C-DC-S-S-[1, 3, 0, 2] ", -1, "C-DC-S-S", "[1 3 0 2]", "C-DC-S-S[1,3,0,2]"},
		{"C-DC-S-S-C", 4, "C-DC-S-S", "[3 2 1 0]", "C-DC-S-S-C"},
		{"S-C-S", 3, "DC-C-S", "[0 1 2]", "DC-C-S"},
		{"S-S-C-S", 4, "S-DC-C-S", "[0 1 2 3]", "S-DC-C-S"},
		{"CCS", 3, "C-C-S", "[0 1 2]", "C-C-S"},
		{"SSSC", 3, "S-S-S", "[2 1 0]", "S-S-S-C"},
		{"S-S-D", 3, "S-S-D", "[0 1 2]", "S-S-D"},
		{"ds", 2, "C-S", "[0 1]", "CSR"},
		{"ss", 2, "DC-S", "[0 1]", "DCSR"},
		{"dss", 3, "C-DC-S", "[0 1 2]", "C-DC-S"},
		{"sds", 3, "DC-C-S", "[0 1 2]", "DC-C-S"},
		{"dsd", 3, "C-S-D", "[0 1 2]", "C-S-D"},
		{"dd", 2, "D-D", "[0 1]", "D"},
		{"s", 1, "S", "[0]", "S"},
		{"ds[1,0]", 2, "C-S", "[1 0]", "CSC"},
	} {
		f, err := ParseFormat(c.text, c.rank)
		if err != nil {
			t.Errorf("ParseFormat(%q, %d): %v", c.text, c.rank, err)
			continue
		}
		var levels []string
		for _, k := range f.Levels() {
			levels = append(levels, k.String())
		}
		if got := strings.Join(levels, "-"); got != c.levels || fmt.Sprint(f.Order()) != c.order || f.String() != c.want {
			t.Errorf("ParseFormat(%q, %d) = %s %v %q, want %s %s %q", c.text, c.rank, got, f.Order(), f, c.levels, c.order, c.want)
		}
	}
}

func TestParseFormatErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		rank int
		want string
	}{
		{"CSX", 2, `did you mean "CSC"`},
		{"DCRS", 2, `did you mean "DCSR"`},
		{"", 2, "formats are CSR"},
		{"-", 2, "formats are CSR"},
		{"banana", -1, "formats are CSR"},
		{"CSR", 3, "such as C-DC-S"},
		{"CSR", 1, "S or D"},
		{"C-S", 0, "for rank 2"},
		{"CSF", -1, "fits every rank"},
		{"D", -1, "fits every rank"},
		{"CSR[1,0]", 2, "fixes the order"},
		{"C-S-C[0,1]", 2, "two axis orders"},
		{"C-S[0,0]", 2, "permutation"},
		{"C-S[0,1,2]", 2, "3 axes for 2 levels"},
		{"C-S[0,2]", 2, "permutation"},
		{"C-S[0,x]", 2, "in brackets"},
		{"C-S[0,1", 2, "in brackets"},
		{"C-C-C", 3, "must be S"},
		{"S-DC", 2, "must be S"},
		{"S-D-S", 3, "D levels must be the last"},
		{"D-S", 2, "leading dense dimension is C"},
		{"C-D", 2, "must be S"},
		{"DC-Q", 2, "formats are CSR"},
		{"COO", 65, "at most 64"},
		{strings.Repeat("S-", 64) + "S", -1, "at most 64"},
		{strings.Repeat("s", 1000), -1, "at most 64"},
	} {
		f, err := ParseFormat(c.text, c.rank)
		if err == nil {
			t.Errorf("ParseFormat(%q, %d) = %v, want an error", c.text, c.rank, f)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", c.text)) {
			t.Errorf("ParseFormat(%q, %d): error %q, want the text and %q", c.text, c.rank, err, c.want)
		}
	}
}

// drawFormat draws any format of the rank.
func drawFormat(t *rapid.T, rank int, label string) Format {
	levels := make([]LevelKind, rank)
	sparse := rapid.IntRange(0, rank).Draw(t, label+" sparse")
	for k := range levels {
		switch {
		case k >= sparse:
			levels[k] = D
		case k == sparse-1:
			levels[k] = S
		default:
			levels[k] = rapid.SampledFrom([]LevelKind{S, C, DC}).Draw(t, label+" level")
		}
	}
	f, err := FormatOf(levels, rapid.Permutation(identity(rank)).Draw(t, label+" order"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFormatTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormat(t, rapid.IntRange(0, 6).Draw(t, "rank"), "format")
		back, err := ParseFormat(f.String(), f.Rank())
		if err != nil || back != f || !back.Equal(f) {
			t.Fatalf("%v %v prints as %q, which reads as %v, %v", f.Levels(), f.Order(), f, back, err)
		}
		again, err := FormatOf(f.Levels(), f.Order())
		if err != nil || again != f {
			t.Fatalf("%v is not canonical: %v, %v", f, again, err)
		}
	})
}

func FuzzParseFormat(f *testing.F) {
	for _, seed := range []string{"CSR", "C-DC-S-S[1,3,0,2]", "dss", "COO-C", "D·C", "[", "S-[0]", "[]", "-C", "\xff-S"} {
		f.Add(seed, 2)
		f.Add(seed, -1)
	}
	f.Fuzz(func(t *testing.T, text string, rank int) {
		format, err := ParseFormat(text, rank)
		if err != nil {
			return
		}
		if rank >= 0 && format.Rank() != rank {
			t.Errorf("ParseFormat(%q, %d) has rank %d", text, rank, format.Rank())
		}
		if back, err := ParseFormat(format.String(), format.Rank()); err != nil || back != format {
			t.Errorf("%q reads as %v, which reads as %v, %v", text, format, back, err)
		}
	})
}

func TestFormatOfErrors(t *testing.T) {
	for _, c := range []struct {
		levels []LevelKind
		order  []int
		want   string
	}{
		{[]LevelKind{S, 9}, nil, "levels are S, C, DC and D"},
		{[]LevelKind{0}, nil, "levels are S, C, DC and D"},
		{[]LevelKind{S}, []int{1}, "permutation"},
		{[]LevelKind{S}, []int{-1}, "permutation"},
		{[]LevelKind{S}, []int{}, "0 axes for 1 levels"},
		{[]LevelKind{DC}, nil, "must be S"},
	} {
		if f, err := FormatOf(c.levels, c.order); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("FormatOf(%v, %v) = %v, %v, want an error with %q", c.levels, c.order, f, err, c.want)
		}
	}
}

func TestFormatAccessors(t *testing.T) {
	if !Dense(3).IsDense() || !(Format{}).IsDense() || CSR.IsDense() || Dense(-1) != (Format{}) || Dense(99).Rank() != MaxRank {
		t.Error("IsDense or the bounds of Dense are wrong")
	}
	if f, err := CSR.WithOrder([]int{1, 0}); err != nil || f != CSC {
		t.Errorf("CSR in the order [1 0] is %v, %v", f, err)
	}
	CSR.Levels()[0] = D
	CSR.Order()[0] = 1
	if CSR.String() != "CSR" || CSR.Levels()[0] != C {
		t.Error("a format was changed through its accessors")
	}
}

// TestPhysical checks the rows of the table of rank-4 structures: C compressed,
// D dense, S singleton, N not unique.
func TestPhysical(t *testing.T) {
	for spelled, want := range map[string]string{
		"S-S-S-S": "CN SN SN S", "S-S-C-S": "CN S D C", "S-S-DC-S": "CN SN S C", "S-C-S-S": "C D CN S",
		"S-C-C-S": "C D D C", "S-C-DC-S": "C D C C", "S-DC-S-S": "CN S CN S", "S-DC-C-S": "CN S D C",
		"S-DC-DC-S": "CN S C C", "C-S-S-S": "D CN SN S", "C-S-C-S": "D C D C", "C-S-DC-S": "D CN S C",
		"C-C-S-S": "D D CN S", "C-C-C-S": "D D D C", "C-C-DC-S": "D D C C", "C-DC-S-S": "D C CN S",
		"C-DC-C-S": "D C D C", "C-DC-DC-S": "D C C C", "DC-S-S-S": "C CN SN S", "DC-S-C-S": "C C D C",
		"DC-S-DC-S": "C CN S C", "DC-C-S-S": "C D CN S", "DC-C-C-S": "C D D C", "DC-C-DC-S": "C D C C",
		"DC-DC-S-S": "C C CN S", "DC-DC-C-S": "C C D C", "DC-DC-DC-S": "C C C C",
		"S-S-D-D": "CN S D D", "C-S-D-D": "D C D D", "D-D-D-D": "D D D D",
	} {
		f, err := FormatOf(kindsOf(spelled), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range f.Physical() {
			s := map[PhysicalKind]string{DenseLevel: "D", CompressedLevel: "C", SingletonLevel: "S"}[l.Kind]
			if !l.Unique {
				s += "N"
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is %v, want %s", spelled, got, want)
		}
	}
	if got := COO.Physical()[0].String(); got != "compressed(nonunique)" {
		t.Errorf("level 0 of COO prints as %q", got)
	}
}

func TestStack(t *testing.T) {
	for _, c := range []struct {
		parts string // as formats, from the outermost
		want  string
	}{
		{"D S", "CSR"},
		{"S S", "DCSR"},
		{"COO COO", "S-DC-S-S"},
		{"CSR D-D", "C-S-D-D"},
		{"S D S", "DC-C-S"},
		{"COO D S D", "S-DC-C-S-D"},
		{"D-D COO", "C-C-S-S"},
		{"CSC S", "C-DC-S[1,0,2]"},
		{"D D", "D"},
	} {
		var parts []Format
		for _, text := range strings.Fields(c.parts) {
			rank := len(strings.Split(text, "-"))
			if text == "COO" || text[0] == 'C' {
				rank = 2
			}
			f, err := ParseFormat(text, rank)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, f)
		}
		got, err := Stack(nil, parts...)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: %v %v, want %s", c.parts, got, err, c.want)
		}
	}
	if f, err := Stack([]int{1, 0}, Dense(1), Coordinates(1)); err != nil || f != CSC {
		t.Errorf("%v %v, want CSC", f, err)
	}
	if f, err := Stack([]int{0}, CSR); err == nil {
		t.Errorf("an order of one axis is taken for %v", f)
	}
	if f, err := Stack(nil, Dense(MaxRank), Dense(1)); err == nil {
		t.Errorf("rank %d is taken", f.Rank())
	}
}

// TestKeep checks that the parts of a format are those of which it is stacked.
func TestKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormat(t, rapid.IntRange(0, 5).Draw(t, "rank"), "f").Standard()
		n := rapid.IntRange(0, f.Rank()).Draw(t, "n")
		outer, inner := f.Outer(n), f.Inner(n)
		if outer.Rank()+inner.Rank() != f.Rank() {
			t.Fatalf("%v is cut into %v and %v", f, outer, inner)
		}
		kept := make([]bool, f.Rank())
		for _, axis := range f.Order()[:n] {
			kept[axis] = true
		}
		if g := f.Keep(kept); g != outer {
			t.Fatalf("the axes of the first %d levels of %v are %v, those levels %v", n, f, g, outer)
		}
		stacked, err := Stack(f.Order(), outer, inner)
		if err != nil {
			t.Fatal(err)
		}
		same := stacked.Levels()
		if n > 0 {
			same[n-1] = f.Levels()[n-1] // cut there, it has become S, and then DC
		}
		if !slices.Equal(same, f.Levels()) {
			t.Fatalf("%v at %d becomes %v, %v and %v", f, n, outer, inner, stacked)
		}
	})
}
