//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/mpi"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// rankVar is the environment variable that makes this program one rank, and tells it its task.
const rankVar = "LACUNA_BENCH_RANK"

// task is what ranks do.
type task struct {
	Folder        string
	Rows, Columns int
	Times, Rounds int
	Engine        string
}

// warm is how many products are made before those that are timed: kernels are compiled better in the background.
const warm = 30

// playRank is our side.
func playRank(text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	g, err := mpi.Open()
	if err != nil {
		return err
	}
	if err := t.run(context.Background(), g); err != nil {
		g.Abort(err.Error())
		return errors.Join(err, g.Close())
	}
	return g.Close()
}

// run measures products and prints what all ranks have measured.
func (t task) run(ctx context.Context, g *mpi.Group) error {
	engine, err := runtime.EngineByName(t.Engine, nil)
	if err != nil {
		return err
	}
	r, err := dist.New(ctx, exec.NewSession(exec.WithEngine(engine), exec.WithThreads(1)), g, nil)
	if err != nil {
		return err
	}
	args, result, program, err := t.operands(r)
	if err != nil {
		return err
	}
	layout, err := placement.Parse("over (r)", len(result))
	if err != nil {
		return err
	}
	k, err := r.Compile(ctx, program, args, dist.Options{Results: map[string]dist.Result{"y": {Layout: &layout}}})
	if err != nil {
		return err
	}
	defer k.Close()
	out, err := k.Run(ctx, args)
	if err != nil {
		return err
	}
	before, wire := r.Sent(), messages(g)
	if out, err = k.Run(ctx, args); err != nil {
		return err
	}
	after := r.Sent()
	mine := outcome{Messages: messages(g) - wire, Bytes: after.Values + after.Combination - before.Values - before.Combination}
	mine.Beside = after.Total() - before.Total() - mine.Bytes
	for range warm {
		if out, err = k.Run(ctx, args); err != nil {
			return err
		}
	}
	for range t.Rounds {
		if err := transport.Barrier(ctx, g); err != nil {
			return err
		}
		start := time.Now()
		for range t.Times {
			out["y"].Part.Release() // the other side writes to the same vector again
			if out, err = k.Run(ctx, args); err != nil {
				return err
			}
		}
		if err := transport.Barrier(ctx, g); err != nil {
			return err
		}
		mine.Seconds = append(mine.Seconds, time.Since(start).Seconds()/float64(t.Times))
	}
	return t.report(ctx, g, out["y"], mine)
}

// operands are the matrix, and the vector or the dense matrix.
func (t task) operands(r *dist.Rank) (args map[string]*dist.Tensor, result []int64, program string, err error) {
	pos, err1 := elements[uint32](filepath.Join(t.Folder, "pos"))
	crd, err2 := elements[uint32](filepath.Join(t.Folder, "crd"))
	vals, err3 := floats(filepath.Join(t.Folder, "vals"))
	x, err4 := floats(filepath.Join(t.Folder, "x"))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, nil, "", err
	}
	n := int64(t.Rows)
	A, err := tensor.NewNamed([]int64{n, n}, tensor.CSR, map[string]tensor.Array{"pointers_0": tensor.ArrayOf(pos), "indices_1": tensor.ArrayOf(crd)}, tensor.ArrayOf(vals))
	if err != nil {
		return nil, nil, "", err
	}
	program, result = "y(i) = sum_j A(i,j)*x(j)", []int64{n}
	if t.Columns > 0 {
		program, result = "y(i,k) = sum_j A(i,j)*x(j,k)", []int64{n, int64(t.Columns)}
	}
	count := result[0]
	if len(result) > 1 {
		count *= result[1]
	}
	X, err := tensor.FromDense(result, tensor.Dense(len(result)), tensor.ArrayOf(x[:count]))
	if err != nil {
		return nil, nil, "", err
	}
	args = map[string]*dist.Tensor{}
	for name, whole := range map[string]*tensor.Tensor{"A": A, "x": X} {
		p := placement.OneAxis(r.Grid(), whole.Rank(), 0, placement.Blocks(n, r.Grid().Ranks()), 0)
		if args[name], err = r.Cut(whole, p); err != nil {
			return nil, nil, "", err
		}
	}
	return args, result, program, nil
}

func messages(g *mpi.Group) (n int64) {
	for _, t := range g.Sent() {
		n += t.Messages
	}
	return n
}

// report adds up what ranks have sent; rank 0 prints it, and leaves its part of the result in the folder.
func (t task) report(ctx context.Context, g *mpi.Group, y *dist.Tensor, mine outcome) error {
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	out := make([][]byte, g.Size())
	out[0] = text
	in, err := g.Exchange(ctx, out)
	if err != nil || g.Rank() != 0 {
		return err
	}
	all := outcome{Seconds: mine.Seconds}
	for r, b := range in {
		var o outcome
		if err := json.Unmarshal(b, &o); err != nil {
			return &transport.Error{Rank: r, Reason: err.Error()}
		}
		all.Messages, all.Bytes, all.Beside = all.Messages+o.Messages, all.Bytes+o.Bytes, all.Beside+o.Beside
	}
	if err := os.WriteFile(filepath.Join(t.Folder, "ours"), raw(tensor.View[float64](y.Part.Values())), 0o600); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}
