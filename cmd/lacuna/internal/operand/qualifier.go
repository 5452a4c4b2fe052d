package operand

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Qualifiers are what follows a file, a generator or a name behind colons:
//
//	:CSR            the storage format
//	:CSR[f32]       and the element type; :[f32] the type alone
//	:entry=x        the array of an .npz archive, the path of a tensor in an HDF5 file, the column of a table
//	:coords=i,j     the columns of a table that are coordinates, as of an edge list
//	:kind=tns       the kind of file, where the name does not tell
//	:nodes=i,j      the same of columns that hold the same things, as of a graph
//	:dims=4,5       the sizes of a .tns file that does not say
//	:base=0         indices of a text file count from 0
//	:stored=mmcsf   an operand in parts, or as a triangle: stored=symmetric_lower
//	:CSR over (r)   placed so over the ranks that run a program; :over (r) or :replicated alone
type Qualifiers struct {
	Format string       // as tensor.ParseFormat takes it; "" if not given
	DType  tensor.DType // Invalid if not given
	kind   string
	entry  string
	dims   []int64
	base   string // "0", "1", or "" if not given
	coords []string
	nodes  bool   // coords are numbered together
	Stored string // "" if as one tensor
	Layout string // "" if no placement is given

	Labels *[]string // where the labels of a column go that is read; nil: nowhere
}

// qualifierKeys are the words before "=".
var qualifierKeys = []string{"base", "coords", "dims", "entry", "kind", "nodes", "stored"}

// ParseQualifiers reads the text behind the first colon.
func ParseQualifiers(text string) (Qualifiers, error) {
	var q Qualifiers
	for part := range strings.SplitSeq(text, ":") {
		var err error
		part, layout := cutLayout(part)
		if layout != "" {
			if _, err := placement.Parse(layout, -1); err != nil {
				return q, err
			}
			if q.Layout = layout; part == "" {
				continue
			}
		}
		if key, value, ok := strings.Cut(part, "="); ok {
			err = q.set(key, value)
		} else {
			err = q.setFormat(part)
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// setFormat reads FORMAT, FORMAT[TYPE] or [TYPE].
func (q *Qualifiers) setFormat(text string) error {
	if q.Format != "" || q.DType.Valid() {
		return fmt.Errorf("more than one format: %q comes after %s", text, q)
	}
	format := text
	if head, inner, ok := cutBrackets(text); ok && !IsOrder(inner) {
		dt, err := tensor.ParseDType(inner)
		if err != nil {
			return err
		}
		format, q.DType = head, dt
	} else if dt, err := tensor.ParseDType(text); err == nil && !isFormat(text) {
		format, q.DType = "", dt
	}
	if format == "" && q.DType.Valid() {
		return nil
	}
	if format == "" {
		return errors.New("nothing behind the colon: want a format, such as CSR")
	}
	if !isFormat(format) {
		_, err := tensor.ParseFormat(format, -1)
		if err == nil {
			err = fmt.Errorf("%q is not a format", format)
		}
		return err
	}
	q.Format = format
	return nil
}

// cutBrackets splits "CSR[f32]" into "CSR" and "f32".
func cutBrackets(text string) (head, inner string, ok bool) {
	open := strings.LastIndexByte(text, '[')
	if open < 0 || !strings.HasSuffix(text, "]") {
		return "", "", false
	}
	return text[:open], text[open+1 : len(text)-1], true
}

// IsOrder says that brackets hold the order of a format's levels, not a type.
func IsOrder(inner string) bool {
	return strings.Trim(inner, "0123456789, ") == ""
}

// isFormat says whether text is a format for tensors of some rank.
func isFormat(text string) bool {
	for rank := -1; rank <= tensor.MaxRank; rank++ {
		if _, err := tensor.ParseFormat(text, rank); err == nil {
			return true
		}
	}
	return false
}

// set reads key=value.
func (q *Qualifiers) set(key, value string) error {
	var err error
	if slices.Contains(qualifierKeys, key) && (value == "" || (key == "coords" || key == "nodes") && slices.Contains(strings.Split(value, ","), "")) {
		return fmt.Errorf("%s=%s: a name or number is missing", key, value)
	}
	switch key {
	case "entry":
		q.entry = value
	case "coords":
		q.coords, q.nodes = strings.Split(value, ","), false
	case "nodes":
		q.coords, q.nodes = strings.Split(value, ","), true
	case "kind":
		q.kind = value
		err = knownKind(value)
	case "dims":
		q.dims, err = parseDims(value)
	case "base":
		if q.base = value; value != "0" && value != "1" {
			err = fmt.Errorf("base=%s: indices count from 0 or from 1", value)
		}
	case "stored":
		err = q.setStored(value)
	default:
		err = fmt.Errorf("unknown option %q%s (options are %s)", key, cli.DidYouMean(key, qualifierKeys), strings.Join(qualifierKeys, ", "))
	}
	return err
}

func knownKind(name string) error {
	if names := kindNames(); !slices.Contains(names, name) {
		return fmt.Errorf("unknown kind of file %q%s (kinds are %s)", name, cli.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return nil
}

// kindNames are the kinds of file.
func kindNames() []string {
	var names []string
	for _, k := range file.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// optionWords are the words of the command line for options of package file.
var optionWords = map[string]string{"Entry": ":entry=NAME", "Dims": ":dims=", "IndexBase": ":base=", "Coords": ":coords=NAME,NAME", "Nodes": ":nodes=NAME,NAME"}

// spelled has messages of package file use them.
func spelled(option string) string { return optionWords[option] }

// parseDims reads extents separated by commas.
func parseDims(text string) ([]int64, error) {
	var dims []int64
	for part := range strings.SplitSeq(text, ",") {
		n, err := ParseExtent(part)
		if err != nil {
			return nil, err
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// ParseExtent reads a size: digits, or a whole number like 1e6.
func ParseExtent(text string) (int64, error) {
	v, err := tensor.ParseScalar(strings.TrimSpace(text), tensor.Int64)
	if err != nil || v.Int64() < 0 {
		return 0, fmt.Errorf("%q is not a size: want a whole number that is not negative", text)
	}
	return v.Int64(), nil
}

// FormatFor resolves the format for a rank; the second result is false if none
// was given.
func (q Qualifiers) FormatFor(rank int) (tensor.Format, bool, error) {
	if q.Format == "" {
		return tensor.Format{}, false, nil
	}
	f, err := tensor.ParseFormat(q.Format, rank)
	return f, err == nil, err
}

// Options are the qualifiers as options of package file.
func (q Qualifiers) Options() []file.Option {
	opts := []file.Option{file.SpellOptions(spelled), file.LabelsInto(q.Labels)}
	if q.nodes {
		opts = append(opts, file.Nodes(q.coords...))
	} else if q.coords != nil {
		opts = append(opts, file.Coords(q.coords...))
	}
	if q.Format != "" {
		opts = append(opts, file.FormatNamed(q.Format))
	}
	if q.DType.Valid() {
		opts = append(opts, file.As(q.DType))
	}
	if q.kind != "" {
		opts = append(opts, file.OfKind(q.kind))
	}
	if q.entry != "" {
		opts = append(opts, file.Entry(q.entry))
	}
	if q.dims != nil {
		opts = append(opts, file.Dims(q.dims...))
	}
	if q.base != "" {
		opts = append(opts, file.IndexBase(int(q.base[0]-'0')))
	}
	return opts
}

// OfFile says whether there are qualifiers that only files have.
func (q Qualifiers) OfFile() bool {
	return q.kind != "" || q.entry != "" || q.dims != nil || q.base != "" || q.coords != nil
}

// String writes format and type as they are read.
func (q Qualifiers) String() string {
	if !q.DType.Valid() {
		return q.Format
	}
	return q.Format + "[" + q.DType.String() + "]"
}

// override replaces format and type by those of the flags that are set.
func (q *Qualifiers) override(format, dtype string) error {
	if format != "" {
		if !isFormat(format) {
			_, err := tensor.ParseFormat(format, -1)
			return cli.Usagef("--format: %s", err)
		}
		q.Format = format
	}
	if dtype != "" {
		dt, err := tensor.ParseDType(dtype)
		if err != nil {
			return cli.Usagef("--dtype: %s", err)
		}
		q.DType = dt
	}
	return nil
}
