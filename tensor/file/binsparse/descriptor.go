package binsparse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Descriptor says how a tensor is stored in named arrays.
type Descriptor struct {
	Format    Format
	Shape     []int64              // of the logical axes
	Stored    int64                // number_of_stored_values
	Fill      bool                 // there is an array fill_value
	Structure tensor.Structure     // which part of a matrix is stored
	IndexBase int64                // the number that means the first index: 0 or 1
	DataTypes map[string]DataType  // by array
	keys      map[string]jsonValue // as they were read, for Encode to keep
	metadata  map[string]jsonValue // what stands beside the descriptor, of the user
}

type jsonValue = json.RawMessage

// Parse reads a descriptor. Besides what the specification says it takes the
// dialects of its implementations: the bare object without the name "binsparse"
// around it, or with that name twice; "format" left out where there is
// "custom", or holding it; patch versions.
func Parse(text []byte) (*Descriptor, error) {
	d, err := ParseHeader(text)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"version", "shape", "number_of_stored_values"} {
		if _, ok := d.keys[key]; !ok {
			return nil, errorf("the descriptor has no %q", key)
		}
	}
	if err := d.checkShape(); err != nil {
		return nil, err
	}
	return d, nil
}

// ParseHeader reads a descriptor of which only the format must be there: it
// says how a tensor is to be written (see [Options]).
func ParseHeader(text []byte) (*Descriptor, error) {
	d := &Descriptor{DataTypes: map[string]DataType{}}
	strict, err := d.unwrap(text)
	if err != nil {
		return nil, err
	}
	if strict {
		for _, key := range slices.Sorted(maps.Keys(d.keys)) {
			if !slices.Contains(knownKeys, key) {
				return nil, errorf("the key %q is not known in version 0.1 (keys of one's own stand outside of \"binsparse\")", key)
			}
		}
	}
	for _, parse := range []func() error{
		d.parseVersion, d.parseShape, d.parseStored, d.parseFill, d.parseBase, d.parseStructure, d.parseTypes, d.parseFormat,
	} {
		if err := parse(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// knownKeys are the keys of the specification, and those that its
// implementations write without a meaning for the tensor.
var knownKeys = []string{
	"version", "format", "shape", "number_of_stored_values", "data_types", "fill", "structure", "custom", "index_base",
	"attrs", "attributes", "number_of_diagonal_elements",
}

// unwrap finds the object that is the descriptor. strict says that it is
// the namespace "binsparse", in which every key has a meaning.
func (d *Descriptor) unwrap(text []byte) (strict bool, err error) {
	text = bytes.TrimRight(text, "\x00") // padding of a string of fixed length
	top, err := object(text, "the descriptor")
	if err != nil {
		return false, err
	}
	d.keys = top
	for range 2 { // Zarr holds the object under the name of its attribute
		inner, ok := d.keys["binsparse"]
		if !ok {
			break
		}
		var quoted string
		if json.Unmarshal(inner, &quoted) == nil {
			inner = jsonValue(quoted)
		}
		delete(top, "binsparse")
		d.metadata = top
		if d.keys, err = object(inner, `"binsparse"`); err != nil {
			return false, err
		}
		strict = true
	}
	return strict, nil
}

// object reads a JSON object.
func object(text []byte, what string) (map[string]jsonValue, error) {
	var m map[string]jsonValue
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, &Error{Msg: fmt.Sprintf("%s is not a JSON object: %v", what, err), Err: err}
	}
	if m == nil {
		return nil, errorf("%s is null: expected a JSON object", what)
	}
	return m, nil
}

// parseVersion accepts 0.1 and 0.1.x.
func (d *Descriptor) parseVersion() error {
	value, ok := d.keys["version"]
	if !ok {
		return nil
	}
	var version string
	if json.Unmarshal(value, &version) != nil {
		version = string(value) // some write a number
	}
	if rest, ok := strings.CutPrefix(version, "0.1"); !ok || rest != "" && !strings.ContainsRune(".-+", rune(rest[0])) {
		return errorf("version %.20q is not known: this program reads 0.1", version)
	}
	return nil
}

// parseShape reads the sizes exactly: they do not pass through floating point.
func (d *Descriptor) parseShape() error {
	value, ok := d.keys["shape"]
	if !ok {
		return nil
	}
	var list []jsonValue
	if err := json.Unmarshal(value, &list); err != nil || list == nil {
		return errorf("shape is %s: expected a list of sizes", excerpt(value))
	}
	if len(list) > tensor.MaxRank {
		return errorf("shape has %d dimensions: at most %d are supported", len(list), tensor.MaxRank)
	}
	d.Shape = make([]int64, len(list))
	for axis, item := range list {
		var err error
		if d.Shape[axis], err = integer(item); err != nil {
			return errorf("shape[%d] is %s: %v", axis, excerpt(item), err)
		}
	}
	return nil
}

func (d *Descriptor) parseStored() (err error) {
	if value, ok := d.keys["number_of_stored_values"]; ok {
		if d.Stored, err = integer(value); err != nil {
			return errorf("number_of_stored_values is %s: %v", excerpt(value), err)
		}
	}
	return nil
}

// integer reads a number that is not negative. 1e15, as programs write it that
// keep numbers as float64, is taken as far as such a program is exact.
func integer(value []byte) (int64, error) {
	text := string(value)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 {
			return 0, fmt.Errorf("it is negative")
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && math.IsInf(f, 0), err == nil && f > math.MaxInt64:
		return 0, fmt.Errorf("it is more than 2^63-1")
	case err != nil || f != math.Trunc(f) || f < 0:
		return 0, fmt.Errorf("expected a whole number that is not negative")
	case f > 1<<53:
		return 0, fmt.Errorf("it is rounded: sizes over 2^53 must be written with all their digits")
	}
	return int64(f), nil
}

func (d *Descriptor) parseFill() error {
	if value, ok := d.keys["fill"]; ok && string(value) != "null" {
		if err := json.Unmarshal(value, &d.Fill); err != nil {
			return errorf("fill is %s: expected true or false (the value is in the array fill_value)", excerpt(value))
		}
	}
	return nil
}

func (d *Descriptor) parseBase() error {
	value, ok := d.keys["index_base"]
	if !ok {
		return nil
	}
	base, err := integer(value)
	if err != nil || base > 1 {
		return errorf("index_base is %s: expected 0 or 1", excerpt(value))
	}
	d.IndexBase = base
	return nil
}

func (d *Descriptor) parseStructure() error {
	value, ok := d.keys["structure"]
	if !ok || string(value) == "null" {
		return nil
	}
	var name string
	if err := json.Unmarshal(value, &name); err != nil {
		return errorf("structure is %s: expected one of %s", excerpt(value), structureNames)
	}
	for s := tensor.General; s <= tensor.SkewSymmetricUpper; s++ {
		if s.String() == name {
			d.Structure = s
			return nil
		}
	}
	return errorf("structure %.40q is not known: expected one of %s", name, structureNames)
}

// structureNames lists the structures for a message.
const structureNames = "symmetric_lower, symmetric_upper, hermitian_lower, hermitian_upper, skew_symmetric_lower and skew_symmetric_upper"

func (d *Descriptor) parseTypes() error {
	value, ok := d.keys["data_types"]
	if !ok {
		return nil
	}
	types, err := object(value, "data_types")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		var text string
		if err := json.Unmarshal(types[name], &text); err != nil {
			return datasetErrorf(name, "its data type is %s: expected a string", excerpt(types[name]))
		}
		t, err := ParseDataType(text)
		if err != nil {
			return datasetErrorf(name, "%s", err.(*Error).Msg)
		}
		d.DataTypes[name] = t
	}
	return nil
}

// parseFormat reads "format" and "custom", one of which may be missing.
func (d *Descriptor) parseFormat() error {
	format, hasFormat := d.keys["format"]
	custom, hasCustom := d.keys["custom"]
	var name string
	if hasFormat && json.Unmarshal(format, &name) != nil {
		// An object: {"custom": …}.
		inner, err := object(format, "format")
		if err != nil {
			return errorf("format is %s: expected a name or an object with %q", excerpt(format), "custom")
		}
		if custom, hasCustom = inner["custom"]; !hasCustom || len(inner) > 1 {
			return errorf("format is an object: expected it to hold %q and nothing else", "custom")
		}
		name = "custom"
	}
	switch {
	case !hasFormat && !hasCustom:
		return errorf("the descriptor has no %q: expected %s", "format", formatNames)
	case !hasCustom && name == "custom":
		return errorf("the format is %q, but the descriptor has no key of that name to describe it", name)
	case !hasCustom:
		f, ok := PredefinedFormat(name)
		if !ok {
			return errorf("format %.40q is not known: expected one of %s", name, formatNames)
		}
		d.Format = f
		return nil
	}
	f, err := parseCustom(custom)
	if err != nil {
		return err
	}
	if named, ok := PredefinedFormat(name); ok {
		if named.Name() != f.Name() {
			return errorf("format is %s, but custom describes another one", name)
		}
	} else if hasFormat && name != "custom" {
		return errorf("format %.40q is not known: expected one of %s", name, formatNames)
	}
	d.Format = f
	return nil
}

// parseCustom reads the object that describes a format level by level.
func parseCustom(text []byte) (Format, error) {
	var f Format
	keys, err := object(text, "custom")
	if err != nil {
		return f, err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != "level" && key != "transpose" {
			return f, errorf("custom has the key %q, which is not known: expected level and transpose", key)
		}
	}
	rank := 0
	level := keys["level"]
	for depth := 0; ; depth++ {
		where := "custom.level" + strings.Repeat(".level", depth)
		if level == nil {
			return f, errorf("%s is missing: expected a level, the innermost being \"element\"", where)
		}
		l, inner, err := parseLevel(level, where)
		if err != nil {
			return f, err
		}
		if l.Kind == 0 {
			break
		}
		if rank += l.Rank; rank > tensor.MaxRank {
			return f, errorf("the levels cover more than the %d dimensions that are supported", tensor.MaxRank)
		}
		f.Levels = append(f.Levels, l)
		level = inner
	}
	f.Order = make([]int, rank)
	for axis := range f.Order {
		f.Order[axis] = axis
	}
	if transpose, ok := keys["transpose"]; ok && string(transpose) != "null" {
		f.Order, err = parseTranspose(transpose, rank)
	}
	return f, err
}

// parseTranspose reads the logical axis of each stored dimension.
func parseTranspose(text []byte, rank int) ([]int, error) {
	var order []int
	if err := json.Unmarshal(text, &order); err != nil {
		return nil, errorf("custom.transpose is %s: expected a list of axes", excerpt(text))
	}
	sorted := slices.Sorted(slices.Values(order))
	for axis, got := range sorted {
		if got != axis {
			return nil, errorf("custom.transpose is %s: expected a permutation of the axes 0 to %d", excerpt(text), rank-1)
		}
	}
	if len(order) != rank {
		return nil, errorf("custom.transpose has %d axes, but the levels cover %d dimensions", len(order), rank)
	}
	return order, nil
}

// parseLevel reads a level and returns what is in it, not parsed yet. The kind
// of an element level is 0.
func parseLevel(text []byte, where string) (l Level, inner jsonValue, err error) {
	keys, err := object(text, where)
	if err != nil {
		return l, nil, err
	}
	var kind string
	if json.Unmarshal(keys["level_desc"], &kind) != nil {
		return l, nil, errorf("%s has no level_desc: expected element, dense or sparse", where)
	}
	allowed := []string{"level_desc", "level", "rank"}
	switch kind {
	case "element":
		allowed = allowed[:1]
	case "dense":
		l.Kind = DenseLevel
	case "sparse":
		l.Kind = SparseLevel
		allowed = append(allowed, "sorted", "contiguous")
	default:
		return l, nil, errorf("%s is %.40q, a level that is not known: expected element, dense or sparse", where, kind)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(allowed, key) {
			return l, nil, errorf("%s has the key %q, which is not known: expected %s", where, key, strings.Join(allowed, ", "))
		}
	}
	if l.Kind == 0 {
		return l, nil, nil
	}
	l.Rank = 1 // where it is left out, as pydata/sparse does
	if value, ok := keys["rank"]; ok {
		rank, err := integer(value)
		if err != nil || rank < 1 || rank > tensor.MaxRank {
			return l, nil, errorf("%s has the rank %s: expected 1 to %d", where, excerpt(value), tensor.MaxRank)
		}
		l.Rank = int(rank)
	}
	sorted := true
	for _, flag := range []struct {
		key string
		set *bool
	}{{"sorted", &sorted}, {"contiguous", &l.Contiguous}} {
		if value, ok := keys[flag.key]; ok && json.Unmarshal(value, flag.set) != nil {
			return l, nil, errorf("%s: %s is %s: expected true or false", where, flag.key, excerpt(value))
		}
	}
	l.Unsorted = !sorted
	return l, keys["level"], nil
}

// excerpt shows a JSON value in a message, cut when long.
func excerpt(value []byte) string {
	const most = 60
	if len(value) > most {
		return string(bytes.ToValidUTF8(value[:most], nil)) + "…"
	}
	return string(value)
}

// Writable returns the descriptor as a header to write the same tensor with. What can only
// be read (indices from 1, contiguous or unsorted ones) is left out of it. Of a file
// that is no binsparse file, whose descriptor is empty, it is nil.
func (d *Descriptor) Writable() *Descriptor {
	if d.keys == nil {
		return nil
	}
	out := *d
	out.keys = maps.Clone(d.keys)
	out.Format = Format{Levels: slices.Clone(d.Format.Levels), Order: d.Format.Order}
	plain := true
	for i, l := range out.Format.Levels {
		if l.Contiguous || l.Unsorted {
			out.Format.Levels[i].Contiguous, out.Format.Levels[i].Unsorted = false, false
			plain = false
		}
	}
	if !plain { // Encode writes them anew
		delete(out.keys, "format")
		delete(out.keys, "custom")
	}
	delete(out.keys, "index_base")
	out.IndexBase = 0
	return &out
}
