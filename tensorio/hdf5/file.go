package hdf5

import "io"

// File is an open HDF5 file. Its methods, and those of its objects, may be called
// by several goroutines at once.
type File struct {
	r    io.ReaderAt
	size int64
}

// Open reads the superblock of a file of size bytes. The reader stays in use:
// everything else is read when it is asked for. Closing it is the caller's.
// A file that is not HDF5 at all gives an error that wraps ErrFormat.
func Open(r io.ReaderAt, size int64) (*File, error) { panic("todo") }

// Root returns the group at "/".
func (f *File) Root() *Group { panic("todo") }

// Lookup returns the *Group or *Dataset at a path of names separated by slashes, from the root.
// "" and "/" are the root. The error wraps ErrNotFound if there is no such object.
func (f *File) Lookup(path string) (Object, error) { panic("todo") }

// Group returns the group at a path, or an error if there is none or it is a dataset.
func (f *File) Group(path string) (*Group, error) { panic("todo") }

// Dataset returns the dataset at a path, or an error if there is none or it is a group.
func (f *File) Dataset(path string) (*Dataset, error) { panic("todo") }

// Object is a *Group or a *Dataset.
type Object interface {
	// Path is the way by which the object was reached, from "/".
	Path() string
	// AttrNames lists the object's attributes, sorted.
	AttrNames() ([]string, error)
	// Attr returns an attribute. The error wraps ErrNotFound if there is none of this name.
	Attr(name string) (*Attr, error)
}

// Group is a directory of named objects.
type Group struct{ object }

// Names lists the objects (and links) of the group, sorted by their bytes.
func (g *Group) Names() ([]string, error) { panic("todo") }

// Lookup returns the object at a path from g.
func (g *Group) Lookup(path string) (Object, error) { panic("todo") }

// Group returns the group at a path from g.
func (g *Group) Group(path string) (*Group, error) { panic("todo") }

// Dataset returns the dataset at a path from g.
func (g *Group) Dataset(path string) (*Dataset, error) { panic("todo") }

type object struct{}

func (o *object) Path() string                    { panic("todo") }
func (o *object) AttrNames() ([]string, error)    { panic("todo") }
func (o *object) Attr(name string) (*Attr, error) { panic("todo") }

// Attr is a small array with a name, attached to an object.
type Attr struct{}

// Name returns the attribute's name.
func (a *Attr) Name() string { panic("todo") }

// Dims returns the shape: empty for a scalar.
func (a *Attr) Dims() []uint64 { panic("todo") }

// Type returns the type of the elements.
func (a *Attr) Type() Type { panic("todo") }

// Bytes returns the elements as Dataset.ReadInto would.
func (a *Attr) Bytes() ([]byte, error) { panic("todo") }

// Text returns the string of an attribute that is a scalar or has one element,
// of fixed or variable length, without its padding.
func (a *Attr) Text() (string, error) { panic("todo") }

// Texts returns all strings of an attribute of strings.
func (a *Attr) Texts() ([]string, error) { panic("todo") }

// Ints returns the elements of an attribute of integers, enums or bitfields. A uint64 over 2^63-1 is an error.
func (a *Attr) Ints() ([]int64, error) { panic("todo") }

// Floats returns the elements of an attribute of floats or integers.
func (a *Attr) Floats() ([]float64, error) { panic("todo") }

// Dataset is an array of elements of one type.
type Dataset struct{ object }

// Dims returns the shape. A scalar has no dimensions and one element; a null
// dataset (IsNull) has no dimensions and none.
func (d *Dataset) Dims() []uint64 { panic("todo") }

// IsNull reports whether the dataset has a null dataspace: a type, but no elements.
func (d *Dataset) IsNull() bool { panic("todo") }

// Type returns the type of the elements.
func (d *Dataset) Type() Type { panic("todo") }

// Len returns the number of elements.
func (d *Dataset) Len() int64 { panic("todo") }

// Size returns the number of bytes of all elements, Len times Type().Size.
func (d *Dataset) Size() int64 { panic("todo") }

// Check returns an error if the dataset has more elements than the file can account for.
// Call it before allocating Size bytes for ReadInto. A dataset passes whose elements are
// stored in the file, compressed or not; those that are not stored, and so have the fill
// value, count up to a limit of 64 MiB.
func (d *Dataset) Check() error { panic("todo") }

// ReadInto reads all elements into dst, whose length must be Size. Chunks are
// decoded in parallel, by as many goroutines as GOMAXPROCS says.
func (d *Dataset) ReadInto(dst []byte) error { panic("todo") }

// ReadAll is Check and ReadInto into a new slice.
func (d *Dataset) ReadAll() ([]byte, error) { panic("todo") }

// Strings returns the elements of a dataset of strings, of fixed or variable length.
func (d *Dataset) Strings() ([]string, error) { panic("todo") }

// Contiguous returns where in the file (as given to Open) the elements lie, if they lie there in one piece, unfiltered.
// They are in the byte order of the file: see Type().BigEndian.
func (d *Dataset) Contiguous() (offset, length int64, ok bool) { panic("todo") }
