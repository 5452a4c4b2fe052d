package prim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// This file tests what sorts and selects by itself, without fibres: mergesort.go, counting.go, quickselect.go.

// kit is a program of one function around a primitive, over buffers of n elements that the test gives.
type kit struct {
	*emit.Builder
	e *emit.Func
	n loop.Expr
}

func newKit() *kit {
	k := &kit{Builder: emit.New("kit", nil)}
	n := k.NewScalar("n", true)
	k.e = k.NewFunc("primitive")
	k.n = k.e.Scalar(n)
	return k
}

// inPlace adds a buffer that the function changes.
func (k *kit) inPlace(name string, typ loop.Type) loop.BufferID {
	return k.Buffer(name, typ, loop.InOut)
}

// run runs the function, as every engine does that is here.
func (k *kit) run(t *testing.T, check func(run func(n int, buffers ...runtime.Memory))) {
	t.Helper()
	k.AddStage(k.e.Stage("primitive"))
	engines := map[string]runtime.Engine{"interp": runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines["cpu"] = cpu
	}
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			x, err := engine.Compile(t.Context(), k.Program)
			if err != nil {
				t.Fatal(err)
			}
			check(func(n int, buffers ...runtime.Memory) {
				b := x.NewBindings()
				copy(b.Buffers, buffers)
				b.Scalars[0] = int64(n)
				if _, err := x.Run(t.Context(), b, runtime.Options{}); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func memory[T any](s []T) runtime.Memory {
	return runtime.Memory{Ptr: unsafe.Pointer(unsafe.SliceData(s)), Len: int64(len(s))}
}

// lists are keys in every order that matters to a sort: none, one, around the length of a run, equal ones, sorted, turned round.
func lists(r *rand.Rand) (all [][]float64) {
	for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 1000} {
		for _, distinct := range []int{1, 3, 1 << 30} {
			keys := make([]float64, n)
			for i := range keys {
				keys[i] = float64(r.IntN(distinct))
			}
			sorted := slices.Sorted(slices.Values(keys))
			turned := slices.Clone(sorted)
			slices.Reverse(turned)
			all = append(all, keys, sorted, turned)
		}
	}
	return all
}

// TestMergeSort compares with the library's stable sort: what is carried tells whether equal keys stay in order.
func TestMergeSort(t *testing.T) {
	k := newKit()
	s := MergeSorter{
		Keys:    [2]loop.BufferID{k.inPlace("keys", loop.F64), k.inPlace("keys2", loop.F64)},
		Carried: [2]loop.BufferID{k.inPlace("items", loop.I64), k.inPlace("items2", loop.I64)},
		Before:  (*loop.Builder).Lt,
	}
	s.Sort(k.e, loop.Int(0), k.n)
	k.run(t, func(run func(n int, buffers ...runtime.Memory)) {
		for _, keys := range lists(rand.New(rand.NewPCG(1, 2))) {
			n := len(keys)
			items, want := make([]int64, n), make([]int64, n)
			for i := range items {
				items[i], want[i] = int64(i), int64(i)
			}
			slices.SortStableFunc(want, func(a, b int64) int { return cmp.Compare(keys[a], keys[b]) })
			got := slices.Clone(keys)
			run(n, memory(got), memory(make([]float64, n)), memory(items), memory(make([]int64, n)))
			if !slices.Equal(items, want) {
				t.Errorf("%d keys %v are in the order %v, want %v", n, keys, items, want)
			}
			for i, at := range want {
				if got[i] != keys[at] {
					t.Errorf("key %d of %d is %v, want %v", i, n, got[i], keys[at])
				}
			}
		}
	})
}

// TestMergeFirst merges runs, of which as many stay as the first has.
func TestMergeFirst(t *testing.T) {
	const first = 20
	k := newKit()
	s := MergeSorter{Keys: [2]loop.BufferID{k.inPlace("keys", loop.F64), k.inPlace("keys2", loop.F64)}, Carried: [2]loop.BufferID{-1, -1}, Before: (*loop.Builder).Lt}
	b := k.e.B
	s.mergeFirst(k.e, loop.Int(0), b.Var("first", loop.Int(first)), b.Var("count", k.n))
	k.run(t, func(run func(n int, buffers ...runtime.Memory)) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{20, 21, 25, 40, 300} {
			keys := make([]float64, n)
			for i := range keys {
				keys[i] = float64(r.IntN(50))
			}
			want := slices.Sorted(slices.Values(keys))[:first]
			slices.Sort(keys[:first])
			slices.Sort(keys[first:])
			run(n, memory(keys), memory(make([]float64, n)))
			if !slices.Equal(keys[:first], want) {
				t.Errorf("of %d keys the first are %v, want %v", n, keys[:first], want)
			}
		}
	})
}

// TestPick selects every rank of short lists and some of long ones. If it gives up the keys are still all there.
func TestPick(t *testing.T) {
	for name, opts := range map[string]Options{"": {}, " in two rounds": {Grain: 1}} {
		k := newKit()
		x := &selector{lines: &lines{Builder: k.Builder, opts: opts}, work: [2]loop.BufferID{k.inPlace("work", loop.F64), -1}}
		rank, given := k.inPlace("rank", loop.I64), k.inPlace("done", loop.I64)
		b := k.e.B
		done := b.Var("done", loop.Truth(true))
		x.pick(k.e, line{begin: loop.Int(0), count: b.Var("count", k.n)}, b.Let("k", b.Load(k.e.Write(rank), loop.Int(0))), loop.Truth(true), done)
		b.Store(k.e.Write(given), loop.Int(0), b.Cast(loop.I64, done))
		k.run(t, func(run func(n int, buffers ...runtime.Memory)) {
			for _, keys := range lists(rand.New(rand.NewPCG(5, 6))) {
				want := slices.Sorted(slices.Values(keys))
				step := max(1, len(keys)/10)
				for at := 0; at < len(keys); at += step {
					work, done := slices.Clone(keys), []int64{-1}
					run(len(keys), memory(work), memory([]int64{int64(at)}), memory(done))
					if done[0] == 0 && opts.Grain == 0 {
						t.Errorf("rank %d of %v: it gives up", at, keys)
					}
					if done[0] != 0 && (work[at] != want[at] || at > 0 && slices.Max(work[:at]) > want[at] || slices.Min(work[at:]) < want[at]) {
						t.Errorf("rank %d%s of %v is %v, want %v", at, name, keys, work, want[at])
					}
					if slices.Sort(work); !slices.Equal(work, want) {
						t.Errorf("rank %d%s of %v leaves %v", at, name, keys, work)
					}
				}
			}
		})
	}
}

// bySlices measures the library's sort.
func bySlices[E cmp.Ordered](b *testing.B, keys, work []E) {
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			copy(work, keys)
			slices.Sort(work)
		}
	})
}

// BenchmarkMergeSort is the sort of a million keys, beside the library's.
func BenchmarkMergeSort(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(7, 8))
	keys := make([]float64, n)
	for i := range keys {
		keys[i] = math.Floor(r.Float64() * (1 << 40))
	}
	work := make([]float64, n)
	bySlices(b, keys, work)
	cpu, err := runtime.CPU()
	if err != nil {
		b.Skip(err)
	}
	k := newKit()
	s := MergeSorter{Keys: [2]loop.BufferID{k.inPlace("keys", loop.F64), k.inPlace("keys2", loop.F64)}, Carried: [2]loop.BufferID{-1, -1}, Before: (*loop.Builder).Lt}
	s.Sort(k.e, loop.Int(0), k.n)
	k.AddStage(k.e.Stage("sort"))
	x, err := cpu.Compile(b.Context(), k.Program)
	if err != nil {
		b.Fatal(err)
	}
	spare := make([]float64, n)
	b.Run("primitive", func(b *testing.B) {
		for b.Loop() {
			copy(work, keys)
			bind := x.NewBindings()
			bind.Buffers[0], bind.Buffers[1], bind.Scalars[0] = memory(work), memory(spare), n
			if _, err := x.Run(b.Context(), bind, runtime.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// radix is a sort of keys, and of what they carry, by passes of counting sorts over digits of so many bits: from the first
// buffers to the second and back.
func (k *kit) radix(keys, items [2]loop.BufferID, counters loop.BufferID, passes, bits int64) {
	b, e := k.e.B, k.e
	counts := e.Write(counters)
	buckets := loop.Int(1 << bits)
	for pass := range passes {
		from, to := pass%2, 1-pass%2
		digit := func(key loop.Expr) loop.Expr {
			x := loop.NewBinary(loop.Shr, key, loop.Number(loop.U64, pass*bits))
			return b.Let("digit", b.Cast(loop.I64, b.And(x, loop.Number(loop.U64, 1<<bits-1))))
		}
		ClearCounters(b, counts, loop.Int(0), buckets)
		b.For("p", loop.Int(0), k.n, func(p loop.Expr) { Count(b, counts, digit(b.Load(e.Write(keys[from]), p))) })
		Starts(b, counts, loop.Int(0), buckets, loop.Int(0), nil)
		b.For("p", loop.Int(0), k.n, func(p loop.Expr) {
			key := b.Let("key", b.Load(e.Write(keys[from]), p))
			at := Take(b, counts, digit(key))
			b.Store(e.Write(keys[to]), at, key)
			b.Store(e.Write(items[to]), at, b.Load(e.Write(items[from]), p))
		})
	}
}

// radixKit is a kit with a radix sort of keys of so many bits.
func radixKit(passes, bits int64) *kit {
	k := newKit()
	keys := [2]loop.BufferID{k.inPlace("keys", loop.U64), k.inPlace("keys2", loop.U64)}
	items := [2]loop.BufferID{k.inPlace("items", loop.U32), k.inPlace("items2", loop.U32)}
	k.radix(keys, items, k.inPlace("counters", loop.U32), passes, bits)
	return k
}

// TestCountingSort sorts by digits, which is only right if every pass is stable.
func TestCountingSort(t *testing.T) {
	radixKit(4, 5).run(t, func(run func(n int, buffers ...runtime.Memory)) {
		for _, floats := range lists(rand.New(rand.NewPCG(9, 10))) {
			n := len(floats)
			keys, items, want := make([]uint64, n), make([]uint32, n), make([]uint32, n)
			for i, f := range floats {
				keys[i], items[i], want[i] = uint64(f)%(1<<20), uint32(i), uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
			sorted := slices.Clone(keys)
			run(n, memory(sorted), memory(make([]uint64, n)), memory(items), memory(make([]uint32, n)), memory(make([]uint32, 1<<5)))
			if !slices.Equal(items, want) || !slices.IsSorted(sorted) {
				t.Errorf("%d keys %v are in the order %v, want %v", n, keys, items, want)
			}
		}
	})
}

// TestStarts sums counts before each, from a number on, in a part of a buffer.
func TestStarts(t *testing.T) {
	k := newKit()
	counters, told := k.inPlace("counters", loop.U32), k.inPlace("told", loop.I64)
	b := k.e.B
	end := Starts(b, k.e.Write(counters), loop.Int(1), k.n, loop.Int(7), func(i, start loop.Expr) {
		b.Store(k.e.Write(told), i, b.Cast(loop.I64, start))
	})
	b.Store(k.e.Write(told), loop.Int(0), b.Cast(loop.I64, end))
	k.run(t, func(run func(n int, buffers ...runtime.Memory)) {
		counts, told := []uint32{9, 2, 0, 3, 5, 1}, make([]int64, 6)
		run(5, memory(counts), memory(told))
		if want := []uint32{9, 7, 9, 9, 12, 1}; !slices.Equal(counts, want) {
			t.Errorf("counts become %v, want %v", counts, want)
		}
		if want := []int64{17, 7, 9, 9, 12, 0}; !slices.Equal(told, want) {
			t.Errorf("told are %v, want %v", told, want)
		}
	})
}

// BenchmarkRadixSort is the sort of a million pairs by 44 bits, beside the library's of the keys alone.
func BenchmarkRadixSort(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(11, 12))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64N(1 << 44)
	}
	work, spare := make([]uint64, n), make([]uint64, n)
	bySlices(b, keys, work)
	cpu, err := runtime.CPU()
	if err != nil {
		b.Skip(err)
	}
	k := radixKit(4, 11)
	k.AddStage(k.e.Stage("sort"))
	x, err := cpu.Compile(b.Context(), k.Program)
	if err != nil {
		b.Fatal(err)
	}
	items, spareItems, counters := make([]uint32, n), make([]uint32, n), make([]uint32, 1<<11)
	b.Run("primitive", func(b *testing.B) {
		for b.Loop() {
			copy(work, keys)
			bind := x.NewBindings()
			copy(bind.Buffers, []runtime.Memory{memory(work), memory(spare), memory(items), memory(spareItems), memory(counters)})
			bind.Scalars[0] = n
			if _, err := x.Run(b.Context(), bind, runtime.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
