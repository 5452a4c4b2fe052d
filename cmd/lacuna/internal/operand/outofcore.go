package operand

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// OutOfCore is a command that has more to do than fits in memory: what is large lies in mapped files, which are the operands' own or have no
// name.
type OutOfCore struct {
	Limit     int64        // bytes of memory
	Files     *spill.Files // beyond
	heap      int64        // the limit of Go's heap without --memory
	converter *lacuna.Session
}

// MemoryFlag is the flag --memory.
type MemoryFlag struct{ Text string } // as given; "": not

// Register adds the flag to a command.
func (m *MemoryFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.Text, "memory", "", "keep about `SIZE` of tensors in memory, such as 4GiB, and what does not fit in files beside the first that is written, or in TMPDIR")
}

// Open returns a context for what shall keep to the memory, and what to close behind it. Without the flag it is that given.
func (m *MemoryFlag) Open(ctx context.Context, writes []Destination) (context.Context, *OutOfCore, error) {
	if m.Text == "" {
		return ctx, nil, nil
	}
	limit, err := units.ParseBytes(m.Text)
	if err != nil {
		return nil, nil, cli.Usagef("--memory: %s", err)
	}
	dir := os.TempDir()
	for _, d := range writes {
		if d.Path != Standard {
			dir = filepath.Dir(d.Path)
			break
		}
	}
	c := &OutOfCore{Limit: limit}
	if c.Files, err = spill.New(dir, limit); err != nil {
		return nil, nil, err
	}
	// Mapped files have three quarters of the memory. Of the heap, blocks that nobody uses would otherwise be as many as those that are used before a collection, which has
	// few pointers to follow here.
	const program = 64 << 20
	c.heap = debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(c.heap, program+limit/4))
	c.converter = c.Session(limit, lacuna.WithEngine(runtime.Auto(nil)))
	return context.WithValue(ctx, outOfCoreKey{}, c), c, nil
}

type outOfCoreKey struct{}

// OutOfCoreIn is that of a context, nil if there is none.
func OutOfCoreIn(ctx context.Context) *OutOfCore {
	c, _ := ctx.Value(outOfCoreKey{}).(*OutOfCore)
	return c
}

// Close removes the files, and gives Go's heap its own limit again. Of nil there is nothing to close.
func (c *OutOfCore) Close() {
	if c != nil {
		c.Files.Close()
		debug.SetMemoryLimit(c.heap)
	}
}

// Session is one that keeps to the memory; without --memory to the limit.
func (c *OutOfCore) Session(limit int64, opts ...lacuna.SessionOption) *lacuna.Session {
	opts = append(opts, lacuna.WithMemoryLimit(limit))
	if c != nil {
		opts = append(opts, exec.WithSpill(c.Files), lacuna.WithConversionKernels()) // only kernels spill
	}
	return lacuna.NewSession(opts...)
}

// From is how large a file is mapped.
func (c *OutOfCore) From() int64 {
	if c == nil {
		return mapFrom
	}
	return min(mapFrom, c.Files.From())
}

// options are those of files that are read.
func (c *OutOfCore) options() []file.Option {
	if c == nil {
		return nil
	}
	return []file.Option{file.In(c)}
}

// MakeArray implements file.Memory. Large arrays are in files until the end.
func (c *OutOfCore) MakeArray(dt tensor.DType, n int) (tensor.Array, error) {
	if bytes := int64(n) * int64(dt.Size()); n >= 0 && c.Files.Takes(bytes) {
		m, err := c.Files.Map(bytes)
		if err != nil {
			return tensor.Array{}, err
		}
		return tensor.NewPooled(m, func() { c.Files.Free(m) }).Array(dt, unsafe.Pointer(unsafe.SliceData(m)), n), nil
	}
	return tensor.MakeArray(dt, n)
}

// writing are the options of a file that is the last thing written.
func (c *OutOfCore) writing() []file.Option {
	if c == nil {
		return nil
	}
	return []file.Option{file.Adopting(c.Files)}
}

// Mapped implements file.Memory.
func (c *OutOfCore) Mapped(bytes []byte) { c.Files.Watch(bytes) }
