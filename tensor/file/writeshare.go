package file

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// Sharing is how one of several writers of a file knows of the others, which are numbered from 0.
type Sharing struct {
	Number int
	// Exchange gives every writer a message and returns those of all, by number. All writers call it as often. Where one of them has given up, it
	// is an error.
	Exchange func(message []byte) ([][]byte, error)
}

// ShareAxis is the axis along which a tensor must be cut to be written by several ([WriteShare]): the first in which a binsparse file in HDF5 stores it, or
// the first of an .npy file. ok is false where one alone writes: other kinds of file, scalars, devices and pipes, and with options that ask for a format or a
// header.
func ShareAxis(path string, f tensor.Format, opts ...Option) (axis int, ok bool) {
	cfg, err := newConfig(opts)
	if err != nil || f.Rank() == 0 {
		return 0, false
	}
	kind := cfg.kindToWrite(path)
	if _, compression := splitCompression(path); kind == nil || compression != "" || cfg.format != nil || cfg.header != nil || isDevice(path) {
		return 0, false
	}
	switch kind.Name {
	case "npy":
		return 0, true
	case "hdf5":
		return f.Listed().Order()[0], true
	}
	return 0, false
}

// WriteShare writes a tensor's block to a file that several writers make together, each its part of every array, so that nobody has the whole. The file holds what
// [Write] would put there, and is complete or untouched: writer 0 renames it when all parts are on the disk. part is a block of a tensor of the given shape along the
// axis that [ShareAxis] tells, which begins at coordinate lo; those of the writers are next to each other, in their order. part is nil of a
// writer that has only what another writes. [ErrNoShares], which all writers get, says that one alone must write: the path names a device, or writers do not
// see each other's files. When the context ends, or any other error comes, the writer gives up, and its group has to.
func WriteShare(ctx context.Context, path string, part *tensor.Tensor, shape []int64, lo int64, with Sharing, opts ...Option) error {
	cfg, err := newConfig(opts)
	if err != nil {
		return err
	}
	w := &shareWriter{ctx: ctx, cfg: cfg, path: path, shape: shape, lo: lo, with: with}
	defer w.close()
	if err := w.write(part); err != nil {
		w.giveUp()
		if errors.Is(err, ErrNoShares) {
			return err
		}
		return wrapError(path, err)
	}
	return nil
}

// shareWriter is one of several writers of a file.
type shareWriter struct {
	ctx   context.Context
	cfg   *config
	path  string // as it was given
	shape []int64
	lo    int64
	with  Sharing

	axis   int
	binary bool // the file is binsparse
	mine   []binsparse.Array
	notes  []shareNote
	temp   *os.File
	target string
	perm   fs.FileMode
}

// shareNote is what writers tell of their parts.
type shareNote struct {
	Temp   string `json:",omitempty"` // of writer 0: the file to write to; "": none is written in shares
	Has    bool   // a part: of the coordinates Lo to Hi-1
	Lo, Hi int64
	Arrays []shareArray
}

// shareArray is one array of a part, or of the file.
type shareArray struct {
	Name string
	Type string
	Len  int64
	At   int64 `json:",omitempty"` // of the file: where its elements begin, in bytes
}

// write does everything.
func (w *shareWriter) write(part *tensor.Tensor) error {
	if err := w.encode(part); err != nil {
		return err
	}
	note := shareNote{Has: part != nil}
	if part != nil {
		note.Lo, note.Hi = w.lo, w.lo+part.Dims()[w.axis]
	}
	for _, a := range w.mine {
		note.Arrays = append(note.Arrays, shareArray{Name: a.Name, Type: a.Data.DType().String(), Len: int64(a.Data.Len())})
	}
	if w.with.Number == 0 {
		if err := w.create(); err != nil {
			return err
		}
		if w.temp != nil {
			note.Temp = w.temp.Name()
		}
	}
	if err := gather(w, note, &w.notes); err != nil {
		return err
	}
	switch n := w.with.Number; {
	case n < 0 || n >= len(w.notes):
		return fmt.Errorf("writer %d of %d: they are numbered from 0", n, len(w.notes))
	case !w.notes[0].Has:
		return errors.New("writer 0 has no part: it lays the file out by its own")
	}
	temp := w.notes[0].Temp
	if temp == "" {
		return ErrNoShares
	}
	if err := w.check(); err != nil {
		return err
	}
	whole := w.whole()
	if w.with.Number == 0 {
		var err error
		if whole, err = w.layOut(part, whole); err != nil {
			return err
		}
	}
	// What is told next is where arrays lie, and whether the file is seen.
	var layouts []*shareNote
	seen := w.open(temp)
	told := &shareNote{Arrays: whole}
	if seen != nil {
		told = nil
	}
	if err := gather(w, told, &layouts); err != nil {
		return err
	}
	for _, l := range layouts {
		if l == nil {
			return ErrNoShares
		}
	}
	if err := w.put(layouts[0].Arrays); err != nil {
		return err
	}
	var done []bool
	if err := gather(w, true, &done); err != nil {
		return err
	}
	return w.finish()
}

// gather tells the others something, and gets what each tells.
func gather[T any](w *shareWriter, mine T, all *[]T) error {
	b, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	in, err := w.with.Exchange(b)
	if err != nil {
		return err
	}
	*all = make([]T, len(in))
	for k, b := range in {
		if err := json.Unmarshal(b, &(*all)[k]); err != nil {
			return fmt.Errorf("writer %d: %w", k, err)
		}
	}
	return nil
}

// encode makes the arrays of the part.
func (w *shareWriter) encode(part *tensor.Tensor) error {
	kind := w.cfg.kindToWrite(w.path)
	w.binary = kind != nil && kind.Name == "hdf5"
	if part == nil {
		return nil
	}
	var ok bool
	if w.axis, ok = ShareAxis(w.path, part.Format()); !ok {
		return fmt.Errorf("a tensor of format %v is not written in shares to this file", part.Format())
	}
	if w.binary {
		var err error
		_, w.mine, err = encodeBinsparse(w.cfg, part)
		return err
	}
	values, err := denseValues(part)
	if err != nil {
		return err
	}
	if values, _, err = npyElements(values); err != nil {
		return err
	}
	w.mine = []binsparse.Array{{Name: "values", Type: binsparse.DataType{Elem: values.DType()}, Data: values}}
	return nil
}

// create makes the file beside the one to be replaced. There is none for a device.
func (w *shareWriter) create() error {
	target, perm, regular, err := destination(w.path)
	if err != nil || !regular {
		return err
	}
	w.target, w.perm = target, perm
	temp, err := filepath.Abs(beside(target)) // other writers may be elsewhere
	if err != nil {
		return err
	}
	w.temp, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return err
}

// open opens the file that writer 0 has made.
func (w *shareWriter) open(temp string) (err error) {
	if w.with.Number > 0 {
		w.temp, err = os.OpenFile(temp, os.O_WRONLY, 0)
	}
	return err
}

// check makes sure that the parts are next to each other, and have the same arrays.
func (w *shareWriter) check() error {
	var end int64
	first := w.notes[0]
	for k, note := range w.notes {
		if !note.Has {
			continue
		}
		if note.Lo != end || note.Hi < note.Lo || len(note.Arrays) != len(first.Arrays) {
			return fmt.Errorf("writer %d has a part from coordinate %d to %d in %d arrays; expected one from %d on in %d", k, note.Lo, note.Hi, len(note.Arrays), end, len(first.Arrays))
		}
		end = note.Hi
		for i, a := range note.Arrays {
			if a.Name != first.Arrays[i].Name {
				return fmt.Errorf("writer %d has an array %s, and writer 0 has %s", k, a.Name, first.Arrays[i].Name)
			}
		}
	}
	if w.notes[w.with.Number].Has && end != w.shape[w.axis] {
		return fmt.Errorf("the parts end at coordinate %d of %d", end, w.shape[w.axis])
	}
	return nil
}

// finish closes the file, and has writer 0 put it in its place.
func (w *shareWriter) finish() error {
	f := w.temp
	if w.temp = nil; w.with.Number > 0 {
		return f.Close()
	}
	err := error(nil)
	if w.perm != 0 {
		err = f.Chmod(w.perm)
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), w.target)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	syncDir(filepath.Dir(w.target))
	return nil
}

// giveUp removes the file, whoever made it: who did may not be there any more.
func (w *shareWriter) giveUp() {
	if len(w.notes) > 0 && w.notes[0].Temp != "" {
		os.Remove(w.notes[0].Temp)
	} else if w.temp != nil {
		os.Remove(w.temp.Name())
	}
}

func (w *shareWriter) close() {
	if w.temp != nil {
		w.temp.Close() // after an error no other is worth reporting
	}
}
