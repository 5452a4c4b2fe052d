package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// outOfCore is a command that has more to do than fits in memory: what is large lies in mapped files, which are the operands' own or have no
// name.
type outOfCore struct {
	limit     int64
	files     *spill.Files
	heap      int64 // the limit of Go's heap without --memory
	converter *lacuna.Session
}

// memoryFlag is the flag --memory.
type memoryFlag struct{ text string }

func (m *memoryFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.text, "memory", "", "keep about `SIZE` of tensors in memory, such as 4GiB, and what does not fit in files beside the first that is written, or in TMPDIR")
}

// open returns a context for what shall keep to the memory, and what to close behind it. Without the flag it is that given.
func (m *memoryFlag) open(ctx context.Context, writes []destination) (context.Context, *outOfCore, error) {
	if m.text == "" {
		return ctx, nil, nil
	}
	limit, err := units.ParseBytes(m.text)
	if err != nil {
		return nil, nil, usagef("--memory: %s", err)
	}
	dir := os.TempDir()
	for _, d := range writes {
		if d.path != standard {
			dir = filepath.Dir(d.path)
			break
		}
	}
	c := &outOfCore{limit: limit}
	if c.files, err = spill.New(dir, limit); err != nil {
		return nil, nil, err
	}
	// Mapped files have three quarters of the memory. Of the heap, blocks that nobody uses would otherwise be as many as those that are used before a collection, which has
	// few pointers to follow here.
	const program = 64 << 20
	c.heap = debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(c.heap, program+limit/4))
	c.converter = c.session(limit, lacuna.WithEngine(runtime.Auto(nil)))
	return context.WithValue(ctx, outOfCoreKey{}, c), c, nil
}

type outOfCoreKey struct{}

// outOfCoreIn is that of a context, nil if there is none.
func outOfCoreIn(ctx context.Context) *outOfCore {
	c, _ := ctx.Value(outOfCoreKey{}).(*outOfCore)
	return c
}

func (c *outOfCore) close() {
	if c != nil {
		c.files.Close()
		debug.SetMemoryLimit(c.heap)
	}
}

// session is one that keeps to the memory; without --memory to the limit.
func (c *outOfCore) session(limit int64, opts ...lacuna.SessionOption) *lacuna.Session {
	opts = append(opts, lacuna.WithMemoryLimit(limit))
	if c != nil {
		opts = append(opts, exec.WithSpill(c.files), lacuna.WithConversionKernels()) // only kernels spill
	}
	return lacuna.NewSession(opts...)
}

// from is how large a file is mapped.
func (c *outOfCore) from() int64 {
	if c == nil {
		return mapFrom
	}
	return min(mapFrom, c.files.From())
}

// options are those of files that are read.
func (c *outOfCore) options() []file.Option {
	if c == nil {
		return nil
	}
	return []file.Option{file.In(c)}
}

// MakeArray implements file.Memory. Large arrays are in files until the end.
func (c *outOfCore) MakeArray(dt tensor.DType, n int) (tensor.Array, error) {
	if bytes := int64(n) * int64(dt.Size()); n >= 0 && c.files.Takes(bytes) {
		m, err := c.files.Map(bytes)
		if err != nil {
			return tensor.Array{}, err
		}
		return tensor.NewPooled(m, func() { c.files.Free(m) }).Array(dt, unsafe.Pointer(unsafe.SliceData(m)), n), nil
	}
	return tensor.MakeArray(dt, n)
}

// writing are the options of a file that is the last thing written.
func (c *outOfCore) writing() []file.Option {
	if c == nil {
		return nil
	}
	return []file.Option{file.Adopting(c.files)}
}

// Mapped implements file.Memory.
func (c *outOfCore) Mapped(bytes []byte) { c.files.Watch(bytes) }
