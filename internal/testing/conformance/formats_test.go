package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// formatFile is a file of format vectors: groups of cases, and the arrays that
// cases name.
type formatFile struct {
	Arrays map[string]formatArray  `json:"arrays"`
	Groups map[string][]formatCase `json:"groups"`
}

// formatArray is an array by its entries: a coordinate for each axis, then the
// value.
type formatArray struct {
	Shape   []int64     `json:"shape"`
	Entries [][]float64 `json:"entries"`
}

// formatCase is one array stored in one format.
type formatCase struct {
	ID        string   `json:"id"`
	Array     string   `json:"array"` // in formatFile.Arrays, or else Shape and Entries
	AxisOrder []int    `json:"axis_order"`
	Structure []string `json:"structure"`
	DenseRank int      `json:"dense_rank"` // trailing D levels, not in Structure
	Abbr      string   `json:"abbr"`
	Canonical []string `json:"canonical_structure"` // where Structure is an expanded spelling
	LevelSize []int64  `json:"level_sizes"`

	Arrays map[string][]int64 `json:"arrays"` // as spelled
	Values json.RawMessage    `json:"values"`

	MLIR *struct {
		Levels  []string           `json:"levels"`
		Buffers map[string][]int64 `json:"buffers"`
	} `json:"mlir"`
	Binsparse *struct {
		Format string             `json:"format"`
		Arrays map[string][]int64 `json:"arrays"`
	} `json:"binsparse"`

	Multigraph       bool   `json:"multigraph"`        // several values per coordinate
	Unsorted         []bool `json:"unsorted"`          // by level
	DuplicateIndices []bool `json:"duplicate_indices"` // by level

	// ValuesShape is the shape of the values or, of several arrays of values,
	// theirs by name.
	ValuesShape json.RawMessage `json:"values_shape"`

	Reason string `json:"reason"` // why it is invalid; "" if it is valid
	formatArray
}

// flags are the flags of each level.
func (c *formatCase) flags(levels int) []tensor.LevelFlags {
	out := make([]tensor.LevelFlags, levels)
	for k := range out {
		if k < len(c.Unsorted) && c.Unsorted[k] {
			out[k] |= tensor.Unsorted
		}
		if k < len(c.DuplicateIndices) && c.DuplicateIndices[k] {
			out[k] |= tensor.Duplicates
		}
	}
	if c.Multigraph {
		out[len(out)-1-c.DenseRank] |= tensor.Duplicates
	}
	return out
}

// relaxed reports whether a level has a flag.
func (c *formatCase) relaxed() bool {
	return slices.Max(append(c.flags(len(c.Structure)+c.DenseRank), 0)) != 0
}

// TestFormats runs the format vectors in testdata/formats and those of every
// directory in LACUNA_CONFORMANCE (separated by colons).
func TestFormats(t *testing.T) {
	count := 0
	for _, path := range formatFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file formatFile
		if err := json.Unmarshal(text, &file); err != nil || len(file.Groups) == 0 {
			if filepath.Base(filepath.Dir(path)) == "formats" {
				t.Errorf("%s is not a file of format vectors: %v", path, err)
			}
			continue // some other kind of vectors
		}
		for _, group := range slices.Sorted(maps.Keys(file.Groups)) {
			for _, c := range file.Groups[group] {
				count++
				t.Run(c.ID, func(t *testing.T) {
					testengine.Parallel(t)
					if c.Array != "" {
						c.formatArray = file.Arrays[c.Array]
					}
					switch {
					case c.Reason != "":
						c.runInvalid(t)
					case bytes.HasPrefix(c.ValuesShape, []byte("{")):
						c.runFields(t)
					default:
						c.run(t)
					}
				})
			}
		}
	}
	if count < 298 {
		t.Errorf("only %d cases ran: testdata/formats is incomplete", count)
	}
}

// formatFiles lists the files to look at.
func formatFiles(t *testing.T) []string {
	patterns := []string{filepath.Join("testdata", "formats", "*.json")}
	for _, dir := range filepath.SplitList(os.Getenv("LACUNA_CONFORMANCE")) {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("LACUNA_CONFORMANCE: %v", err)
		}
		patterns = append(patterns, filepath.Join(dir, "formats", "*.json"), filepath.Join(dir, "*.json"))
	}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// levels is the structure with its trailing dense levels.
func (c *formatCase) levels(t *testing.T, structure []string) []tensor.LevelKind {
	names := slices.Concat(structure, slices.Repeat([]string{"D"}, c.DenseRank))
	kinds := map[string]tensor.LevelKind{"S": tensor.S, "C": tensor.C, "DC": tensor.DC, "D": tensor.D}
	out := make([]tensor.LevelKind, len(names))
	for k, name := range names {
		kind, ok := kinds[name]
		if !ok {
			t.Fatalf("unknown level %q", name)
		}
		out[k] = kind
	}
	return out
}

// construct makes the tensor of the spelled arrays, with index arrays of the
// given type.
func (c *formatCase) construct(t *testing.T, index tensor.DType) (*tensor.Tensor, error) {
	var values []float64
	if err := json.Unmarshal(c.Values, &values); err != nil {
		t.Fatal(err)
	}
	arrays := map[string]tensor.Array{}
	for name, list := range c.Arrays {
		a, err := tensor.ArrayOf(list).Convert(index)
		if err != nil {
			t.Fatal(err)
		}
		arrays[name] = a
	}
	return c.spelled(t, arrays, tensor.ArrayOf(values))
}

// spelled makes the tensor of its spelled arrays and values.
func (c *formatCase) spelled(t *testing.T, arrays map[string]tensor.Array, values tensor.Array) (*tensor.Tensor, error) {
	levels := c.levels(t, c.Structure)
	return tensor.NewNamedLevels(c.Shape, levels, c.AxisOrder, arrays, values, tensor.WithLevelFlags(c.flags(len(levels))...))
}

// runFields is for a structure with several arrays of values.
func (c *formatCase) runFields(t *testing.T) {
	var fieldShapes map[string][]int64
	var fieldValues map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(c.ValuesShape, &fieldShapes), json.Unmarshal(c.Values, &fieldValues)); err != nil {
		t.Fatal(err)
	}
	arrays := map[string]tensor.Array{}
	for name, list := range c.Arrays {
		arrays[name] = tensor.ArrayOf(list)
	}
	names := slices.Sorted(maps.Keys(fieldShapes))
	base, err := c.spelled(t, arrays, tensor.ArrayOf(make([]float64, fieldShapes[names[0]][0])))
	if err != nil {
		t.Fatal(err)
	}
	var fields []*tensor.Tensor
	want := map[string][]float64{}
	for _, name := range names {
		want[name] = numbers(t, fieldValues[name])
		field, err := base.WithValues(tensor.ArrayOf(want[name]), fieldShapes[name][1:])
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, field)
	}
	set, err := tensor.NewFields(names, fields)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		coords, values, err := set.Field(name).ToCoords()
		if err != nil || values.Len() != len(want[name]) {
			t.Fatalf("%s: %d values, want %d: %v", name, values.Len(), len(want[name]), err)
		}
		at := make([]int64, len(coords))
		for i, w := range want[name] {
			for axis := range at {
				at[axis] = coords[axis][i]
			}
			if got := set.Field(name).At(at...).Float64(); got != w {
				t.Errorf("%s at %v is %v, want %v", name, at, got, w)
			}
		}
	}
}

// numbers reads the numbers of nested lists in order.
func numbers(t *testing.T, text json.RawMessage) []float64 {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		var x float64
		if err := json.Unmarshal(text, &x); err != nil {
			t.Fatal(err)
		}
		return []float64{x}
	}
	var out []float64
	for _, element := range list {
		out = append(out, numbers(t, element)...)
	}
	return out
}

func (c *formatCase) runInvalid(t *testing.T) {
	got, err := c.construct(t, tensor.Uint64)
	if err == nil {
		t.Fatalf("accepted as %v, though %s", got, c.Reason)
	}
	var e *tensor.FormatError
	if !errors.As(err, &e) {
		t.Errorf("error %v is a %T, want a FormatError", err, err)
	}
	t.Logf("%s: %v", c.Reason, err)
}

func (c *formatCase) run(t *testing.T) {
	structure := c.Structure
	if c.Canonical != nil {
		structure = c.Canonical
	}
	levels := c.levels(t, structure)
	format, err := tensor.FormatWith(levels, c.AxisOrder, c.flags(len(levels)))
	if err != nil {
		t.Fatal(err)
	}
	if !c.relaxed() { // the abbreviations do not say flags
		c.checkNames(t, format)
	}

	spelled, err := c.construct(t, tensor.Uint64)
	if err != nil {
		t.Fatal(err)
	}
	if spelled.Format() != format {
		t.Errorf("stored as %v, want %v", spelled.Format(), format)
	}
	c.checkEntries(t, spelled)
	c.checkPhysical(t, spelled)
	c.checkMaps(t, spelled)
	c.checkParts(t, spelled)

	if c.Unsorted != nil {
		c.checkPlain(t, spelled)
		return // these arrays are not those that we would make
	}
	var opts []tensor.Option
	if c.DuplicateIndices != nil {
		c.checkPlain(t, spelled)
		opts = append(opts, tensor.WithFibreLimit(2)) // that of all vectors
	}
	built := c.build(t, format, opts...)
	if d := tensor.Diff(built, spelled); d != "" {
		t.Errorf("built of its entries, it differs from its spelled arrays: %s", d)
	}
	if c.Canonical == nil {
		compareBuffers(t, "spelled arrays", spelledArrays(built), c.Arrays)
	}
	if opts == nil {
		c.checkRoundTrips(t, spelled)
	}
}

// build makes the tensor of its entries, given in reverse but for those of one
// coordinate, whose order counts.
func (c *formatCase) build(t *testing.T, format tensor.Format, opts ...tensor.Option) *tensor.Tensor {
	coords := make([][]int64, len(c.Shape))
	var values []float64
	entries := slices.Clone(c.Entries)
	if !c.Multigraph {
		slices.Reverse(entries)
	}
	for _, entry := range entries {
		for axis := range coords {
			coords[axis] = append(coords[axis], int64(entry[axis]))
		}
		values = append(values, entry[len(coords)])
	}
	a, err := tensor.FromCoords(c.Shape, format, coords, tensor.ArrayOf(values), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
