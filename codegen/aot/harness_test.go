package aot_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file links what the tests of this package build into the process, and calls it.

// The structures of lacuna.h as a caller without C has them.
type (
	cArray struct {
		data unsafe.Pointer
		len  int64
		cap  int64
		typ  int64
	}
	cLevel  struct{ pointers, indices cArray }
	cTensor struct {
		rank    int64
		format  *byte
		extents *int64
		levels  *cLevel
		values  cArray
		fill    unsafe.Pointer
	}
	cNeed struct {
		data                                    unsafe.Pointer
		bytes, zero, role, tensor, level, array int64
	}
	cCall struct {
		abi, flags, count int64
		tensors           *cTensor
		state             *int64
		stateWords        int64
		stop              *int32
		threads           int64
		need              cNeed
		chunks, stage     int64
		tensor            int64
		message           *byte
	}
)

// kernel is a program compiled to an object and linked into this process.
type kernel struct {
	program     *aot.Program
	step, chunk uintptr
	module      *llvm.Module
}

var loadLLVM = sync.OnceValues(func() (*llvm.LLVM, error) { return llvm.Load("") })

func needLLVM(t testing.TB) *llvm.LLVM {
	t.Helper()
	l, err := loadLLVM()
	if err != nil {
		t.Skip(err)
	}
	return l
}

// build compiles a program for this machine.
func build(t testing.TB, src string, opts ...lacuna.Option) *kernel {
	t.Helper()
	l := needLLVM(t)
	p, err := lacuna.Link(t.Context(), src, lacuna.BuildOptions{Name: "k"}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, l, p)
}

func load(t testing.TB, l *llvm.LLVM, p *aot.Program) *kernel {
	t.Helper()
	target, err := aot.ParseTarget(l, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return loadFor(t, l, p, target)
}

func loadFor(t testing.TB, l *llvm.LLVM, p *aot.Program, target aot.Target) *kernel {
	t.Helper()
	object, err := (&aot.Unit{Program: p, Target: target, LLVM: l}).Object()
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Link(object)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	k := &kernel{program: p, module: m}
	for name, into := range map[string]*uintptr{"_step": &k.step, "_chunk": &k.chunk} {
		if *into, err = m.Func(p.Name + name); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// cError is an error of a kernel.
type cError struct {
	status  aot.Status
	message string
}

func (e *cError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.message) }

// arguments are the structures of a call, kept alive together.
type arguments struct {
	tensors []cTensor
	levels  [][]cLevel
	extents [][]int64
	formats [][]byte
	fills   [][2]uint64
	keep    []any
}

func arrayOf(a tensor.Array) cArray {
	if !a.DType().Valid() {
		return cArray{}
	}
	return cArray{data: a.Pointer(), len: int64(a.Len()), typ: int64(a.DType())}
}

// pack makes the structures of a call.
func (k *kernel) pack(args map[string]*tensor.Tensor) *arguments {
	a := &arguments{tensors: make([]cTensor, len(k.program.Tensors)), fills: make([][2]uint64, len(k.program.Tensors))}
	for i := range k.program.Tensors {
		t := &k.program.Tensors[i]
		c := &a.tensors[i]
		rank := t.Format.Rank()
		levels, extents := make([]cLevel, rank+1), make([]int64, rank+1)
		a.levels, a.extents = append(a.levels, levels), append(a.extents, extents)
		format := append([]byte(t.Format.String()), 0)
		a.formats = append(a.formats, format)
		c.rank, c.format, c.extents, c.levels = int64(rank), &format[0], &extents[0], &levels[0]
		if i >= k.program.Operands {
			c.fill = unsafe.Pointer(&a.fills[i])
			continue
		}
		arg := args[t.Name]
		a.keep = append(a.keep, arg)
		copy(extents, arg.Dims())
		for l := range rank {
			levels[l] = cLevel{arrayOf(arg.LevelAt(l).Pos), arrayOf(arg.LevelAt(l).Crd)}
		}
		c.values = arrayOf(arg.Values())
		if t.FillBuffer >= 0 {
			fill, _ := tensor.MakeArray(t.DType, 1)
			fill.SetScalar(0, arg.Fill())
			a.keep = append(a.keep, fill)
			c.fill = fill.Pointer()
		}
	}
	return a
}

// run runs the kernel step by step. With threads, chunks run on so many.
func (k *kernel) run(args map[string]*tensor.Tensor, threads int) (map[string]*tensor.Tensor, error) {
	a := k.pack(args)
	if err := k.steps(a, threads); err != nil {
		return nil, err
	}
	return k.results(a), nil
}

func (k *kernel) steps(a *arguments, threads int) error {
	state := make([]int64, k.program.StateWords)
	call := &cCall{abi: aot.ABIVersion, count: int64(len(a.tensors)), tensors: &a.tensors[0], state: &state[0], stateWords: int64(len(state)), tensor: -1}
	if threads > 0 {
		call.flags, call.threads = aot.FlagChunks, int64(threads)
	}
	call.flags |= aot.FlagRelease
	held, zeroed := map[unsafe.Pointer]int64{}, map[unsafe.Pointer]bool{}
	defer runtime.KeepAlive(a)
	for {
		switch status := aot.Status(llvm.Call(k.step, unsafe.Pointer(call), 0, 0, 0)); status {
		case aot.OK:
			if len(held) > 0 {
				return fmt.Errorf("%d temporaries were not released", len(held))
			}
			return nil
		case aot.Need:
			if call.need.bytes < 1 {
				return fmt.Errorf("%d bytes are needed", call.need.bytes)
			}
			if call.need.bytes > 1<<32 {
				call.need.data = nil
				continue
			}
			words := make([]uint64, (call.need.bytes+7)/8+2)
			for i := range words {
				words[i] = 0xA5A5A5A5A5A5A5A5
			}
			call.need.data = unsafe.Pointer(&words[0])
			words[len(words)-1] = 0x5AFE
			a.keep = append(a.keep, words)
			if call.need.role == aot.RoleTemporary {
				held[call.need.data] = call.need.bytes
			}
			zeroed[call.need.data] = call.need.zero == aot.ZeroAgain
		case aot.Release:
			if held[call.need.data] != call.need.bytes {
				return fmt.Errorf("%d bytes are released, of %d", call.need.bytes, held[call.need.data])
			}
			if zeroed[call.need.data] && len(bytes.Trim(unsafe.Slice((*byte)(call.need.data), call.need.bytes), "\x00")) > 0 {
				return fmt.Errorf("memory for a workspace is not zero again")
			}
			delete(held, call.need.data)
		case aot.Chunks:
			k.chunks(call, threads)
		default:
			if call.message == nil {
				return &cError{status, "(no message)"}
			}
			return &cError{status, goString(call.message)}
		}
	}
}

// chunks runs the chunks of a stage on threads, the last first.
func (k *kernel) chunks(call *cCall, threads int) {
	var wait sync.WaitGroup
	for thread := range threads {
		wait.Go(func() {
			for c := int(call.chunks) - 1 - thread; c >= 0; c -= threads {
				llvm.Call(k.chunk, unsafe.Pointer(call), int64(c), int64(thread), 0)
			}
		})
	}
	wait.Wait()
}

func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String(p, n)
}

// results assembles the results of a call, and checks them.
func (k *kernel) results(a *arguments) map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	for i := k.program.Operands; i < len(k.program.Tensors); i++ {
		t := &k.program.Tensors[i]
		c := &a.tensors[i]
		array := func(x cArray) tensor.Array {
			if x.typ == 0 {
				return tensor.Array{}
			}
			n := int(x.len)
			if n == 0 {
				empty, _ := tensor.MakeArray(tensor.DType(x.typ), 0)
				return empty
			}
			return tensor.ArrayAt(tensor.DType(x.typ), x.data, n)
		}
		var levels []tensor.Level
		for l := range t.Format.Rank() {
			levels = append(levels, tensor.Level{Pos: array(a.levels[i][l].pointers), Crd: array(a.levels[i][l].indices)})
		}
		fill := t.Fill
		if t.FillBuffer >= 0 {
			x := tensor.ArrayAt(t.DType, unsafe.Pointer(&a.fills[i]), 1)
			fill = x.Scalar(0)
		}
		out[t.Name] = tensor.NewTrusted(a.extents[i][:t.Format.Rank()], t.Format, levels, array(c.values), fill)
	}
	return out
}

func status(err error) aot.Status {
	var e *cError
	if errors.As(err, &e) {
		return e.status
	}
	return 0
}
