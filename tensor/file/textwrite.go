package file

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// appender appends the text of element i of an array.
type appender func(dst []byte, i int) []byte

// valueAppender returns how to write the elements of a: the shortest text that
// reads back as the same value of the same type, a complex number as two. true and
// false are 1 and 0.
func valueAppender(a tensor.Array) appender {
	switch a.DType() {
	case tensor.Bool, tensor.Uint8:
		return appendUints(tensor.View[uint8](a))
	case tensor.Uint16:
		return appendUints(tensor.View[uint16](a))
	case tensor.Uint32:
		return appendUints(tensor.View[uint32](a))
	case tensor.Uint64:
		return appendUints(tensor.View[uint64](a))
	case tensor.Int8:
		return appendInts(tensor.View[int8](a))
	case tensor.Int16:
		return appendInts(tensor.View[int16](a))
	case tensor.Int32:
		return appendInts(tensor.View[int32](a))
	case tensor.Int64:
		return appendInts(tensor.View[int64](a))
	case tensor.Float16:
		v := tensor.View[uint16](a)
		return func(dst []byte, i int) []byte {
			return shape16.appendShortest(dst, float64(tensor.Float16FromBits(v[i])))
		}
	case tensor.BFloat16:
		v := tensor.View[uint16](a)
		return func(dst []byte, i int) []byte {
			return shapeBF16.appendShortest(dst, float64(tensor.BFloat16FromBits(v[i])))
		}
	case tensor.Float32:
		v := tensor.View[float32](a)
		return func(dst []byte, i int) []byte { return appendFloat32(dst, v[i]) }
	case tensor.Float64:
		v := tensor.View[float64](a)
		return func(dst []byte, i int) []byte { return appendFloat64(dst, v[i]) }
	case tensor.Complex64:
		v := tensor.View[complex64](a)
		return func(dst []byte, i int) []byte {
			return appendFloat32(append(appendFloat32(dst, real(v[i])), ' '), imag(v[i]))
		}
	case tensor.Complex128:
		v := tensor.View[complex128](a)
		return func(dst []byte, i int) []byte {
			return appendFloat64(append(appendFloat64(dst, real(v[i])), ' '), imag(v[i]))
		}
	}
	panic(fmt.Sprintf("BUG: no text for values of type %v", a.DType()))
}

func appendUints[T uint8 | uint16 | uint32 | uint64](v []T) appender {
	return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(v[i]), 10) }
}

func appendInts[T int8 | int16 | int32 | int64](v []T) appender {
	return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(v[i]), 10) }
}

// entryText says what the lines of a text are: indices from 1, unless window is nil,
// and a value, unless value is nil.
type entryText struct {
	window func() *tensor.Window // makes one for each goroutine
	value  appender
	n      int // entries
}

// chunkEntries is how many entries are made text at a time.
const chunkEntries = 8 << 10

// appendLines appends the lines of entries lo to hi-1.
func (e *entryText) appendLines(dst []byte, window *tensor.Window, lo, hi int) []byte {
	var coords [][]int64
	if window != nil {
		coords = window.Coords(lo, hi)
	}
	for i := range hi - lo {
		for k, c := range coords {
			if k > 0 {
				dst = append(dst, ' ')
			}
			dst = strconv.AppendUint(dst, uint64(c[i])+1, 10)
		}
		if e.value != nil {
			if len(coords) > 0 {
				dst = append(dst, ' ')
			}
			dst = e.value(dst, lo+i)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// write writes the lines, made on as many goroutines as the caller allows and written on
// this one.
func (e *entryText) write(out *output) error {
	n := e.n
	threads := min(out.cfg.threads, (n+chunkEntries-1)/chunkEntries)
	newWindow := func() *tensor.Window {
		if e.window == nil {
			return nil
		}
		return e.window()
	}
	if threads <= 1 {
		window := newWindow()
		var text []byte
		for lo := 0; lo < n; lo += chunkEntries {
			text = e.appendLines(text[:0], window, lo, min(n, lo+chunkEntries))
			if _, err := out.w.Write(text); err != nil {
				return err
			}
			out.cfg.progress(int64(min(n, lo+chunkEntries)), int64(n))
		}
		return nil
	}
	// Worker k makes every threads-th chunk from chunk k on; two buffers each go round, so
	// that it makes the next while this one is written.
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := make(chan struct{})
	defer close(stop)
	full, empty := make([]chan []byte, threads), make([]chan []byte, threads)
	for k := range threads {
		full[k], empty[k] = make(chan []byte, 2), make(chan []byte, 2)
		empty[k] <- nil
		empty[k] <- nil
		wg.Go(func() {
			window := newWindow()
			for lo := k * chunkEntries; lo < n; lo += threads * chunkEntries {
				select {
				case text := <-empty[k]:
					full[k] <- e.appendLines(text[:0], window, lo, min(n, lo+chunkEntries))
				case <-stop:
					return
				}
			}
		})
	}
	for lo, k := 0, 0; lo < n; lo, k = lo+chunkEntries, (k+1)%threads {
		text := <-full[k]
		if _, err := out.w.Write(text); err != nil {
			return err
		}
		out.cfg.progress(int64(min(n, lo+chunkEntries)), int64(n))
		empty[k] <- text
	}
	return nil
}

// joinSizes writes sizes with spaces between.
func joinSizes(sizes []int64) string {
	var b []byte
	for i, d := range sizes {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, d, 10)
	}
	return string(b)
}

// needZeroFill refuses tensors whose unstored elements are not 0: the sparse text
// formats cannot say so.
func needZeroFill(t *tensor.Tensor, what string) error {
	if t.Format().IsDense() || t.Fill().IsZero() {
		return nil
	}
	return fmt.Errorf("%s means 0 by what it leaves out, but what this tensor leaves out is %v: write it to a .npy file", what, t.Fill())
}

// allTrue reports whether every element of a bool array is true.
func allTrue(a tensor.Array) bool {
	for _, b := range tensor.View[uint8](a) {
		if b == 0 {
			return false
		}
	}
	return true
}

// fitsInt64 reports whether every element of a Uint64 array is below 2^63.
func fitsInt64(a tensor.Array) bool {
	for _, v := range tensor.View[uint64](a) {
		if v > math.MaxInt64 {
			return false
		}
	}
	return true
}
