package file

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// input is an opened file on its way to a reader.
type input struct {
	name string
	cfg  *config
	r    *bufio.Reader // the contents, decompressed, from the start
	size int64         // length of the contents; -1 if unknown (a pipe, a compressed file)
	most int64         // they are not longer than this; -1 if unknown (a pipe, bzip2)
	file io.ReaderAt   // the contents at random, if size is known; else nil

	consumed int64 // bytes that line has returned, newlines included

	mapped *mappedFile // file in memory, to take arrays of in place; nil: read them
}

// headerLine is the longest line that a header may have.
const headerLine = 64 << 10

// idleText is how many bytes of text without a size or an entry, which is blank lines and comments, are
// read at a stretch: a compressed file of a megabyte may hold a gigabyte of them.
const idleText = 16 << 20

// deflateRatio is the most that deflate compresses: it stores 258 bytes in 2 bits.
const deflateRatio = 1032

// inflated is the most that so many bytes of deflate's unpack to; -1 of -1.
func inflated(packed int64) int64 {
	if packed > math.MaxInt64/deflateRatio {
		return math.MaxInt64
	}
	return max(packed*deflateRatio, -1)
}

// Read reads the tensor in the file at path. The kind of file is recognised by
// its contents or else its extension; .gz and .bz2 are decompressed on the way.
// Errors are of type [*FileError], but for those about opts.
func Read(path string, opts ...Option) (*tensor.Tensor, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if isDirectory(path) {
		return readDirectory(path, cfg)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer f.Close() // only read from: there is nothing to lose
	return read(path, f, cfg)
}

func isDirectory(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// readDirectory reads a tensor that is kept in a directory.
func readDirectory(path string, cfg *config) (*tensor.Tensor, error) {
	in := &input{name: path, cfg: cfg, size: -1, most: -1}
	var kind *Kind
	for i := range kinds {
		k := &kinds[i]
		if k.recogniseDir != nil && (cfg.kind == "" || cfg.kind == k.Name) && k.recogniseDir(path) {
			kind = k
			break
		}
	}
	switch {
	case kind == nil && cfg.kind != "" && kindNamed(cfg.kind).recogniseDir == nil:
		return nil, &FileError{Path: path, Msg: "is a directory"}
	case kind == nil:
		return nil, &FileError{Path: path, Msg: "is a directory without " + binsparseFile + ", .zgroup, .zarray or zarr.json: not a tensor"}
	}
	if err := in.checkOptions(kind); err != nil {
		return nil, err
	}
	t, err := kind.readDir(in)
	return t, wrapError(path, err)
}

// ReadFrom reads a tensor from r. The name stands in messages and its extension
// tells the kind of file where the contents do not. If r is an *os.File or has a
// Size method and is an io.ReaderAt (bytes.Reader), memory is planned by its size.
func ReadFrom(name string, r io.Reader, opts ...Option) (*tensor.Tensor, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, &FileError{Path: name, Msg: "there is nothing to read: the reader is nil"}
	}
	return read(name, r, cfg)
}

func read(name string, r io.Reader, cfg *config) (*tensor.Tensor, error) {
	in, err := open(name, r, cfg)
	if err != nil {
		return nil, wrapError(name, err)
	}
	kind, err := in.recognise()
	if err == nil && kind.read == nil {
		err = in.errorf(0, "it is a file: a tensor of kind %s is a directory", kind.Name)
	}
	if err == nil {
		err = in.checkOptions(kind)
	}
	if err != nil {
		return nil, wrapError(name, err)
	}
	t, err := kind.read(in)
	if err != nil {
		return nil, wrapError(name, err)
	}
	return t, nil
}

// checkOptions refuses options that say nothing about a kind of file: ignoring them would
// read something else than the caller means.
func (in *input) checkOptions(kind *Kind) error {
	switch {
	case in.cfg.dims != nil && !kind.takesDims:
		return in.errorf(0, "sizes are given, but a file of kind %s tells its own: leave %s out", kind.Name, in.cfg.spell("Dims"))
	case in.cfg.coords != nil && !kind.takesCoords:
		return in.errorf(0, "columns of coordinates are named, but a file of kind %s is no table: leave %s out", kind.Name, in.cfg.spell("Coords"))
	case in.cfg.base >= 0 && !kind.takesBase:
		return in.errorf(0, "an index base is given, but a file of kind %s has none to choose: leave %s out", kind.Name, in.cfg.spell("IndexBase"))
	}
	return nil
}

// pathError turns an error of package os, which repeats the path, into ours.
func pathError(path string, err error) error {
	msg := err.Error()
	var pe *os.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		msg = pe.Op + ": " + pe.Err.Error()
	case errors.As(err, &le):
		msg = le.Op + ": " + le.Err.Error()
	}
	return &FileError{Path: path, Msg: msg, Err: err}
}

// open looks at r's first bytes and puts a decompressor before it where they ask
// for one.
func open(name string, r io.Reader, cfg *config) (*input, error) {
	in := &input{name: name, cfg: cfg, size: -1, most: -1}
	if at, size, ok := sized(r); ok {
		in.file, in.size, in.most = at, size, size
		r = io.NewSectionReader(at, 0, size)
	}
	in.r = bufio.NewReaderSize(r, headerLine)
	head, err := in.r.Peek(10)
	if err != nil && err != io.EOF {
		return nil, pathError(name, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		z, err := gzip.NewReader(in.r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		in.r, in.size, in.file, in.most = bufio.NewReaderSize(z, headerLine), -1, nil, inflated(in.most)
	case len(head) == 10 && bytes.HasPrefix(head, []byte("BZh")) &&
		(string(head[4:]) == "\x31\x41\x59\x26\x53\x59" || string(head[4:]) == "\x17\x72\x45\x38\x50\x90"):
		in.r, in.size, in.file, in.most = bufio.NewReaderSize(bzip2.NewReader(in.r), headerLine), -1, nil, -1
	}
	if cfg.mapped != nil {
		if in.file == nil {
			cfg.mapped.drop("the file is compressed")
		}
		if cfg.mapped.bytes != nil && int64(len(cfg.mapped.bytes)) == in.size {
			in.mapped = cfg.mapped
		}
	}
	if cfg.maxBytes > 0 {
		if in.size > cfg.maxBytes {
			return nil, in.errorf(0, "%d bytes, more than the allowed %d", in.size, cfg.maxBytes)
		}
		in.r = bufio.NewReaderSize(&limitReader{r: in.r, left: cfg.maxBytes, most: cfg.maxBytes}, headerLine)
	}
	return in, nil
}

// sized returns random access to all of r and its size, if r offers them and
// stands at its start.
func sized(r io.Reader) (io.ReaderAt, int64, bool) {
	at, ok := r.(io.ReaderAt)
	if !ok {
		return nil, 0, false
	}
	if s, ok := r.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err != nil || at != 0 {
			return nil, 0, false
		}
	}
	switch r := r.(type) {
	case *os.File:
		st, err := r.Stat()
		if err != nil || !st.Mode().IsRegular() || st.Size() == 0 { // files under /proc say 0
			return nil, 0, false
		}
		return at, st.Size(), true
	case interface{ Size() int64 }:
		return at, r.Size(), true
	}
	return nil, 0, false
}

// limitReader fails when more than its limit is read.
type limitReader struct {
	r          io.Reader
	left, most int64
}

func (l *limitReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return 0, fmt.Errorf("more than the allowed %d bytes", l.most)
	}
	return n, err
}

// recognise decides what kind of file it is: what the caller said, else the
// signature, else the extension.
func (in *input) recognise() (*Kind, error) {
	if in.cfg.kind != "" {
		return kindNamed(in.cfg.kind), nil
	}
	head, err := in.r.Peek(64)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if k := kindBySignature(head); k != nil {
		return k, nil
	}
	if k := kindByExtension(in.name); k != nil {
		return k, nil
	}
	return nil, in.errorf(0, "not a kind of file that is known: neither its first bytes nor its extension say so (known are %s, each also with .gz or .bz2)", extensions(false))
}

// line returns the next line without its newline; it is valid until the next
// call. io.EOF means that there is none.
func (in *input) line() ([]byte, error) {
	b, err := in.r.ReadSlice('\n')
	in.consumed += int64(len(b))
	switch {
	case err == bufio.ErrBufferFull:
		return nil, fmt.Errorf("a line of the header is longer than %d bytes", headerLine)
	case err == io.EOF && len(b) > 0:
		return b, nil
	case err != nil:
		return nil, err
	}
	return b[:len(b)-1], nil
}

// parseLines runs a job over the lines of r, the first of which has number line.
// A batch's own complaint becomes an error at its place in the file; add sees the
// batches without one, together with the number of their first line.
func (in *input) parseLines(r io.Reader, line int, parse func(*batch), add func(b *batch, line int) error) (lines int, err error) {
	idle := 0
	job := blockJob{
		lines:   &lineBlocks{r: r},
		threads: in.cfg.threads,
		parse:   parse,
		merge: func(b *batch) error {
			if b.err != nil {
				return in.errorf(line+b.err.line, "%s", b.err.msg)
			}
			if err := add(b, line); err != nil {
				return err
			}
			line += b.lines
			if idle += len(b.data); b.entries > 0 {
				idle = 0
			}
			return in.checkIdle(line, idle)
		},
	}
	err = job.run()
	if err == errLongLine {
		err = in.errorf(line, "%v", err)
	}
	return line, err
}

// checkIdle refuses text of blank lines and comments that goes on for too long.
func (in *input) checkIdle(line, bytes int) error {
	if bytes > idleText {
		return in.errorf(line, "the last %d bytes are blank lines and comments, with no entry: more than %d at a stretch are not read", bytes, idleText)
	}
	return nil
}

// format returns the format to build the result in.
func (in *input) format(rank int, natural tensor.Format) (tensor.Format, error) {
	if in.cfg.format == nil {
		return natural, nil
	}
	f, err := in.cfg.format(rank)
	if err != nil {
		return f, &FileError{Path: in.name, Msg: err.Error(), Err: err}
	}
	return f, nil
}

// fits reports an error if n entries of at least each bytes cannot be in the file.
func (in *input) fits(line int, n, each int64) error {
	if in.most >= 0 && n > in.most/max(1, each)+1 {
		has := fmt.Sprintf("has only %d bytes", in.most)
		if in.size < 0 {
			has = fmt.Sprintf("is compressed to so little that it cannot have more than %d bytes", in.most)
		}
		return in.errorf(line, "the header promises %d entries, but the whole file %s", n, has)
	}
	return nil
}

// plan returns for how many entries to allocate in advance: all that are promised
// if the size of the file bears the promise out, else a few, to grow from.
func (in *input) plan(promised int64) int64 {
	if in.size < 0 {
		return min(promised, 1<<12)
	}
	return promised
}
