package file

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// An Option changes how a file is read or written. Options that do not concern
// the kind of file or the direction are ignored.
type Option func(*config) error

// Dialect is the way a .tns file is laid out.
type Dialect uint8

const (
	// DetectDialect, the default, tells the dialects apart by the first lines when
	// reading. When writing it picks PlainTNS where that loses nothing and
	// ExtendedTNS otherwise.
	DetectDialect Dialect = iota
	// PlainTNS is FROSTT's own: a line of indices and a value for each entry, and
	// nothing else. The size of an axis is its largest index.
	PlainTNS
	// ExtendedTNS is MLIR's: a line "rank entries" and a line of sizes come first.
	ExtendedTNS
)

// config holds what the options said.
type config struct {
	format   func(rank int) (tensor.Format, error) // nil: as is natural for the file
	dtype    tensor.DType                          // 0: as the file says
	kind     string                                // "": recognise it
	entry    string                                // array of an archive
	dims     []int64                               // nil: as the file says
	dialect  Dialect
	base     int // 0 or 1; -1: as is usual for the kind
	threads  int
	maxBytes int64 // 0: no limit
	builder  Builder
	progress func(done, total int64)
	memory   Memory
	held     Held        // nil: arrays are written
	twoPass  int64       // from how many entries on a file is read twice
	mapped   *mappedFile // not nil: use arrays where they lie in the file

	labels *[]string                  // not nil: where the labels of what is read go
	names  map[int][]string           // what coordinates along an axis stand for, where the file has names
	coords []string                   // columns of a table that are coordinates; nil: none
	nodes  bool                       // which are numbered together
	spell  func(option string) string // how messages name options

	keepStructure bool                  // a stored triangle stays one
	descriptor    *binsparse.Descriptor // not nil: where the descriptor read goes
	header        *binsparse.Descriptor // not nil: keys of the descriptor written
}

func newConfig(opts []Option) (*config, error) {
	cfg := &config{base: -1, spell: func(option string) string { return option }, threads: runtime.GOMAXPROCS(0), builder: plain{}, memory: heap{}, progress: func(int64, int64) {}, twoPass: twoPassEntries}
	for _, o := range opts {
		if err := o(cfg); err != nil {
			return nil, fmt.Errorf("file: %w", err)
		}
	}
	return cfg, nil
}

// Format asks for the result in the given storage format. Without it a reader
// gives what the file holds most directly: COO, or all dense for dense files.
func Format(f tensor.Format) Option {
	return func(c *config) error {
		c.format = func(rank int) (tensor.Format, error) {
			if f.Rank() != rank {
				return f, fmt.Errorf("format %v has rank %d, but the tensor in the file has rank %d", f, f.Rank(), rank)
			}
			return f, nil
		}
		return nil
	}
}

// FormatNamed is Format for a name as tensor.ParseFormat takes it; names such as
// CSF, whose levels depend on the rank, are resolved once the rank is known.
func FormatNamed(name string) Option {
	return func(c *config) error {
		c.format = func(rank int) (tensor.Format, error) { return tensor.ParseFormat(name, rank) }
		return nil
	}
}

// As asks for values of type dt. Text is rounded to it directly, so that As(Float32)
// rounds once; a value that dt cannot hold is an error, as is reading complex
// values as real ones. Arrays of .npy and .npz files are converted like a cast.
func As(dt tensor.DType) Option {
	return func(c *config) error {
		c.dtype = dt
		return nil
	}
}

// OfKind says what kind of file it is, by the name in [Kinds], rather than
// recognising it.
func OfKind(name string) Option {
	return func(c *config) error {
		if kindNamed(name) == nil {
			return fmt.Errorf("no kind of file is called %q; there are %s", name, kindNames())
		}
		c.kind = name
		return nil
	}
}

// Entry names what to read from, or to write into, a file of several: the array of an
// .npz archive, or the path of a group or dataset in an HDF5 file, such as
// "layers/counts". Reading needs it only if there is more than one; writing uses "arr_0"
// for archives and the root of HDF5 files without it.
func Entry(name string) Option {
	return func(c *config) error {
		c.entry = name
		return nil
	}
}

// Dims gives the sizes of the axes, for .tns files that do not say: Dims(4, 5).
// If the lines then have no field left for a value, the values are 1.
func Dims(dims ...int64) Option {
	return func(c *config) error {
		if slices.ContainsFunc(dims, func(d int64) bool { return d < 0 }) {
			return errors.New("Dims: a size is negative")
		}
		c.dims = append([]int64{}, dims...)
		return nil
	}
}

// TNS chooses the dialect of a .tns file.
func TNS(d Dialect) Option {
	return func(c *config) error {
		c.dialect = d
		return nil
	}
}

// IndexBase says whether the indices of a text file start at 1, as the formats
// have it and as is the default, or at 0, as some files in the wild do.
// Those of tables (CSV, Parquet) start at 0. It concerns reading only.
func IndexBase(base int) Option {
	return func(c *config) error {
		if base != 0 && base != 1 {
			return fmt.Errorf("IndexBase(%d): indices start at 0 or 1", base)
		}
		c.base = base
		return nil
	}
}

// Coords names the columns of a table, a CSV or Parquet file, that are the coordinates of entries: of
// an edge list Coords("from", "to"). Entry then names the column of their values, which are 1 without it.
func Coords(columns ...string) Option {
	return func(c *config) error {
		if len(columns) > tensor.MaxRank {
			return fmt.Errorf("Coords: %d columns: a tensor has at most %d dimensions", len(columns), tensor.MaxRank)
		}
		c.coords, c.nodes = slices.Clone(columns), false
		return nil
	}
}

// Nodes is Coords for columns that hold the same things, such as the nodes of a graph whose edges a table lists: labels are numbered
// together, and the axes have one size.
func Nodes(columns ...string) Option {
	return func(c *config) error {
		err := Coords(columns...)(c)
		c.nodes = true
		return err
	}
}

// SpellOptions has messages name the options of this package as f says, such as "entry=" for
// "Entry": for programs whose users spell them otherwise.
func SpellOptions(f func(option string) string) Option {
	return func(c *config) error {
		c.spell = f
		return nil
	}
}

// indexBase is the index that means the first, where usual says which one that usually is.
func (c *config) indexBase(usual uint64) uint64 {
	if c.base < 0 {
		return usual
	}
	return uint64(c.base)
}

// Threads sets how many goroutines parse a large text; the default is GOMAXPROCS.
// The result does not depend on it.
func Threads(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("Threads(%d): at least one is needed", n)
		}
		c.threads = n
		return nil
	}
}

// MaxBytes refuses an input of more than n bytes, counted after decompression.
// It guards against compressed files that unpack to enormous ones.
func MaxBytes(n int64) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("MaxBytes(%d): at least one is needed", n)
		}
		c.maxBytes = n
		return nil
	}
}

// Progress has report called again and again while a file is written, with how many of
// the entries (of .npy and .npz, bytes) are done. It concerns writing only: the position
// in the reader tells how far reading is. Large matrices are gone through twice.
func Progress(report func(done, total int64)) Option {
	return func(c *config) error {
		if report != nil {
			c.progress = report
		}
		return nil
	}
}

// KeepStructure reads a matrix of which the file stores one triangle as a tensor that does
// the same (see [tensor.Tensor.Structure]). Without it the whole matrix is stored.
// It concerns binsparse files.
func KeepStructure() Option {
	return func(c *config) error {
		c.keepStructure = true
		return nil
	}
}

// DescriptorInto puts the descriptor of a binsparse file that is read into d.
func DescriptorInto(d *binsparse.Descriptor) Option {
	return func(c *config) error {
		c.descriptor = d
		return nil
	}
}

// Header gives keys for the descriptor of a binsparse file that is written (see
// [binsparse.Options]). The format is that of the header unless Format is given.
func Header(d *binsparse.Descriptor) Option {
	return func(c *config) error {
		c.header = d
		return nil
	}
}

// Builder makes tensors of what a file holds. Its methods give what the functions
// of package tensor of the same names do.
type Builder interface {
	FromColumns(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error)
	Convert(t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error)
}

// BuildWith makes tensors with b rather than with package tensor.
func BuildWith(b Builder) Option {
	return func(c *config) error {
		c.builder = b
		return nil
	}
}

// Memory is where the arrays of large files are made.
type Memory interface {
	// MakeArray does what the function of package tensor does. What views of the array point to must stay as long as the program runs.
	MakeArray(dt tensor.DType, n int) (tensor.Array, error)
	// Mapped is told of a file that is mapped until the program ends.
	Mapped(bytes []byte)
}

// In makes arrays in m rather than on the Go heap.
func In(m Memory) Option {
	return func(c *config) error {
		c.memory = m
		return nil
	}
}

// heap is the Memory of package tensor.
type heap struct{}

// Held is a file without a name that has arrays of tensors, mapped into memory.
type Held interface {
	// Adopt gives the file a name, and tells where in it each array begins, -1 of those that it has not, and where the last ends. The arrays must not
	// be used any more. On an error nothing has happened.
	Adopt(path string, arrays [][]byte) (at []int64, end int64, err error)
}

// Adopting makes a binsparse file in HDF5 of the file in which a tensor's arrays lie, instead of writing them. The tensor must not be used afterwards, whether
// there was an error or not. Where that is not possible, and for other kinds of file, they are written as without the option.
func Adopting(h Held) Option {
	return func(c *config) error {
		c.held = h
		return nil
	}
}

func (heap) MakeArray(dt tensor.DType, n int) (tensor.Array, error) { return tensor.MakeArray(dt, n) }
func (heap) Mapped([]byte)                                          {}

// plain is the Builder of package tensor.
type plain struct{}

func (plain) FromColumns(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	return tensor.FromColumns(shape, format, coords, values, opts...)
}

func (plain) Convert(t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return t.Convert(format)
}
