package operand

import (
	"context"
	"sync"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/distribute"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// inMemory is the session that brings tensors into the formats asked for. Its
// results do not depend on the engine, so that is the best there is, whatever
// one is chosen to run programs.
var inMemory = sync.OnceValue(func() *lacuna.Session { return lacuna.NewSession(lacuna.WithEngine(runtime.Auto(nil))) })

// converter is that session, or the one of --memory.
func converter(ctx context.Context) *lacuna.Session {
	if c := OutOfCoreIn(ctx); c != nil {
		return c.converter
	}
	return inMemory()
}

// Store brings a tensor into a format.
func Store(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if t.NNZ() < cost.EngineEntries {
		return t.Convert(format)
	}
	if c := OutOfCoreIn(ctx); c != nil && t.Bytes() > c.Limit && distribute.Turns(t, format) {
		return distribute.Turn(ctx, c.Files, t, format, c.Limit)
	}
	return converter(ctx).Convert(ctx, t, format)
}

// storeCoords makes a tensor of coordinates, arrays of integers.
func storeCoords(ctx context.Context, shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	if values.Len() < 2*cost.EngineEntries { // sorting takes more kernels
		return tensor.FromColumns(shape, format, coords, values, opts...)
	}
	return converter(ctx).FromColumns(ctx, shape, format, coords, values, opts...)
}

// columns are lists of coordinates as arrays.
func columns(coords [][]int64) []tensor.Array {
	arrays := make([]tensor.Array, len(coords))
	for axis, list := range coords {
		arrays[axis] = tensor.ArrayOf(list)
	}
	return arrays
}

// Builder makes the tensors of a file that is read or written.
func Builder(ctx context.Context) file.Builder { return builder{ctx} }

type builder struct{ ctx context.Context }

// FromColumns implements file.Builder.
func (b builder) FromColumns(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	return storeCoords(b.ctx, shape, format, coords, values, opts...)
}

// Convert implements file.Builder.
func (b builder) Convert(t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return Store(b.ctx, t, format)
}
