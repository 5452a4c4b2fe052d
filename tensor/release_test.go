package tensor

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// pool makes copies of tensors whose arrays lie in blocks, which it overwrites when they
// come back.
type pool struct {
	t    *testing.T
	out  int // blocks that have not come back
	made int
}

func (p *pool) array(a Array) Array {
	if a.Len() == 0 {
		return a
	}
	const room = 64 // beyond the array, as where a result was cut
	words := make([]uint64, (int(a.Bytes())+7)/8+room)
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	copy(memory, a.Raw())
	p.out++
	p.made++
	block := NewPooled(memory, func() {
		p.out--
		for i := range memory {
			memory[i] = 0xA5
		}
	})
	return block.Array(a.DType(), unsafe.Pointer(&memory[0]), a.Len())
}

func (p *pool) copy(t *Tensor) *Tensor {
	p.t.Helper()
	out := t.with(func(out *Tensor) {
		out.levels = t.Levels()
		out.eachArray(func(a *Array) {
			if a.dt.Valid() {
				*a = p.array(*a)
			}
		})
	})
	return out
}

// shares are ways to make tensors of a tensor and, some of them, of its arrays.
var shares = map[string]func(t *Tensor) []*Tensor{
	"share":        func(t *Tensor) []*Tensor { return []*Tensor{t.Share()} },
	"name":         convertTo(CSR, WithName("other")),
	"types":        convertTo(CSR, WithIndexTypes(Uint32, Uint64)),
	"COO":          convertTo(COO),
	"DCSR":         convertTo(DCSR),
	"CSC":          convertTo(CSC),
	"dense":        convertTo(Dense(2)),
	"duplicates":   convertTo(parsed("S-S(duplicates)", 2)),
	"transpose":    func(t *Tensor) []*Tensor { return one(t.Transpose(nil)) },
	"reshape":      func(t *Tensor) []*Tensor { return one(t.Reshape([]int64{9}, parsed("S", 1))) },
	"more axes":    func(t *Tensor) []*Tensor { return one(t.Reshape([]int64{3, 1, 3}, parsed("C-C-S", 3))) },
	"prune":        func(t *Tensor) []*Tensor { return one(t.Prune()) },
	"pattern":      func(t *Tensor) []*Tensor { return one(Pattern(t)) },
	"attributes":   func(t *Tensor) []*Tensor { return one(t.WithAttributes(Attributes{Properties: LowerTriangular})) },
	"structure":    func(t *Tensor) []*Tensor { return one(t.WithStructure(SymmetricLower)) },
	"claims":       func(t *Tensor) []*Tensor { return one(must(t.WithStructure(SymmetricLower)).Expand()) },
	"map":          func(t *Tensor) []*Tensor { return one(t.MapArrays(func(a Array) (Array, error) { return a, nil })) },
	"other values": func(t *Tensor) []*Tensor { return one(t.WithValues(ArrayOf([]int32{1, 2, 3, 4}), nil)) },
	"arrays":       func(t *Tensor) []*Tensor { return one(New(t.Shape(), t.Format(), t.Levels(), t.Values())) },
	"assembled": func(t *Tensor) []*Tensor {
		return []*Tensor{NewTrusted(t.Dims(), t.Format(), t.Levels(), t.Values(), t.Fill())}
	},
	"slices": func(t *Tensor) []*Tensor {
		values := ArrayOf(View[float64](t.Values())[1:])
		return one(FromDense([]int64{3}, Dense(1), values))
	},
	"addresses": func(t *Tensor) []*Tensor {
		values := t.Values()
		return one(FromDense([]int64{8}, Dense(1), ArrayAt(Uint32, values.Pointer(), 8)))
	},
	"part of an array": func(t *Tensor) []*Tensor { return one(FromDense([]int64{2}, Dense(1), t.Values().Slice(2, 4))) },
	"values of others": func(t *Tensor) []*Tensor {
		plain := must(New([]int64{3, 3}, CSR, []Level{{}, {Pos: ArrayOf([]uint32{0, 1, 2, 4}), Crd: ArrayOf([]uint32{0, 1, 0, 2})}}, ArrayOf([]float64{0, 0, 0, 0})))
		return one(plain.WithValues(t.Values(), nil))
	},
	"coordinates": func(t *Tensor) []*Tensor {
		coords, values, err := t.ToCoords()
		if err != nil {
			panic(err)
		}
		return one(FromCoords(t.Shape(), COO, coords, values))
	},
	"columns": func(t *Tensor) []*Tensor {
		crd := t.LevelAt(1).Crd
		return one(FromColumns(t.Shape(), COO, []Array{ArrayOf([]uint32{0, 1, 2, 2}), crd}, t.Values()))
	},
	"fields": func(t *Tensor) []*Tensor {
		f, err := NewFields([]string{"a", "b"}, []*Tensor{t, must(t.WithValues(ArrayOf([]int8{1, 2, 3, 4}), nil))})
		if err != nil {
			panic(err)
		}
		return []*Tensor{f.Field("a"), f.Field("b")}
	},
	"MLIR": func(t *Tensor) []*Tensor { return one(ThroughMLIR(t)) },
	"TACO": func(t *Tensor) []*Tensor { return one(ThroughTACO(t)) },
	"parts": func(t *Tensor) []*Tensor {
		p, err := HBCSF(t, nil)
		if err != nil {
			panic(err)
		}
		return p.Parts()
	},
	"parts as one": func(t *Tensor) []*Tensor { return one(NewTrustedParts(t).Expand(CSR)) },
	"blocks":       func(t *Tensor) []*Tensor { return one(t.Blocked([]int64{1, 1}, BSR)) },
	"concat":       func(t *Tensor) []*Tensor { return one(Concat(0, CSR, t)) },
}

func convertTo(f Format, opts ...Option) func(t *Tensor) []*Tensor {
	return func(t *Tensor) []*Tensor { return one(t.Convert(f, opts...)) }
}

func one(t *Tensor, err error) []*Tensor { return []*Tensor{must(t, err)} }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func parsed(text string, rank int) Format { return must(ParseFormat(text, rank)) }

func small(t *testing.T) *Tensor {
	t.Helper()
	return must(New([]int64{3, 3}, CSR, []Level{
		{}, {Pos: ArrayOf([]uint32{0, 1, 2, 4}), Crd: ArrayOf([]uint32{0, 1, 0, 2})},
	}, ArrayOf([]float64{1, 2, 3, 4})))
}

// TestReleaseSpares checks that what a tensor shares with others is not given back while
// one of them has it, and that the rest is.
func TestReleaseSpares(t *testing.T) {
	for name, share := range shares {
		t.Run(name, func(t *testing.T) {
			want := share(small(t))
			p := &pool{t: t}
			from := p.copy(small(t))
			if p.out != 3 {
				t.Fatalf("there are %d blocks, want 3", p.out)
			}
			others := share(from)
			check := func(when string) {
				t.Helper()
				for i, x := range others {
					if d := Diff(x, want[i]); d != "" {
						t.Errorf("%s: tensor %d: %s", when, i, d)
					}
				}
			}
			check("before")
			from.Release()
			check("after the first was released")
			held := p.out
			for _, x := range others {
				x.Release()
			}
			if p.out != 0 && held > p.out {
				return // what was made on the way is left to the collector
			}
			if p.out > held {
				t.Errorf("%d blocks are out after %d were", p.out, held)
			}
		})
	}
	// In the other order: the first tensor sees what it has always seen.
	for name, share := range shares {
		p := &pool{t: t}
		from := p.copy(small(t))
		for _, x := range share(from) {
			x.Release()
		}
		if d := Diff(from, small(t)); d != "" {
			t.Errorf("%s: after those made of it were released: %s", name, d)
		}
	}
}

// TestReleaseGivesBack checks that views that were released too do not keep the blocks.
func TestReleaseGivesBack(t *testing.T) {
	for _, name := range []string{"share", "name", "COO", "CSC", "duplicates", "transpose", "pattern", "structure", "map", "arrays", "slices", "addresses", "columns", "MLIR"} {
		p := &pool{t: t}
		from := p.copy(small(t))
		others := shares[name](from)
		from.Release()
		for _, x := range others {
			x.Release()
			x.Release()
		}
		if p.out != 0 {
			t.Errorf("%s: %d of %d blocks are not given back", name, p.out, p.made)
		}
	}
}

// TestReleased checks what every function makes of a tensor that was released.
func TestReleased(t *testing.T) {
	p := &pool{t: t}
	unnamed := p.copy(small(t))
	x := must(unnamed.Convert(CSR, WithName("A")))
	unnamed.Release()
	crd, values := x.LevelAt(1).Crd, x.Values()
	y := must(Pattern(x))
	x.Release()
	if !x.Released() || y.Released() {
		t.Errorf("released: %v, and the other: %v", x.Released(), y.Released())
	}
	if x.Name() != "A" || x.Rank() != 2 || x.Format() != CSR || x.DType() != Float64 || !x.Fill().Same(Float(Float64, 0)) {
		t.Error("what describes the tensor is gone")
	}
	if got, want := x.String(), `A: 3x3 f64 CSR, 0 stored, fill 0, released`; got != want {
		t.Errorf("it is described as %q, want %q", got, want)
	}
	if x.NNZ() != 0 || x.Bytes() != 0 || x.Values().Len() != 0 || x.Values().DType() != Float64 {
		t.Errorf("it has %d entries, %d bytes, %d values of type %v", x.NNZ(), x.Bytes(), x.Values().Len(), x.Values().DType())
	}
	indices, _ := x.Indices(1)
	pointers, _ := x.Pointers(0)
	for _, l := range append(x.Levels(), x.LevelAt(1), Level{Crd: indices, Pos: pointers}) {
		if l.Pos.Len() != 0 || l.Crd.Len() != 0 {
			t.Errorf("index arrays have %d and %d elements", l.Pos.Len(), l.Crd.Len())
		}
	}
	if v := x.At(0, 0); v.DType() != Invalid {
		t.Errorf("an element is %v", v)
	}
	if list := x.Window().Coords(0, 4); len(list) != 2 || list[0] != nil {
		t.Errorf("a window shows %v", list)
	}
	if SameStructure(x, x) || Equal(x, x) {
		t.Error("it has the structure of another tensor")
	}
	_, err := New(x.Shape(), CSR, []Level{{}, {Pos: ArrayOf([]uint32{0, 1, 2, 4}), Crd: crd}}, values)
	wantReleased(t, "its values as a tensor", err)
	for name, f := range map[string]func() error{
		"Fetch":           x.Fetch,
		"Pin":             x.Pin,
		"CheckAttributes": x.CheckAttributes,
		"FindAttributes":  func() error { _, err := x.FindAttributes(); return err },
		"ToCoords":        func() error { _, _, err := x.ToCoords(); return err },
		"ToDense":         func() error { _, err := x.ToDense(); return err },
		"FibreLengths":    func() error { _, err := x.FibreLengths(1); return err },
		"Unblocked":       func() error { _, err := x.Unblocked([]int64{9}, parsed("S", 1)); return err },
		"MortonOrder":     func() error { _, err := x.MortonOrder(); return err },
		"Triangle":        func() error { _, err := x.Triangle(SymmetricLower); return err },
		"Canonical":       func() error { _, err := x.Canonical(); return err },
		"HBCSF":           func() error { _, err := HBCSF(x, nil); return err },
		"MMCSF":           func() error { _, err := MMCSF(x); return err },
		"NewParts":        func() error { _, err := NewParts(x); return err },
		"NewFields":       func() error { _, err := NewFields([]string{"a"}, []*Tensor{x}); return err },
		"Concat":          func() error { _, err := Concat(0, CSR, y, x); return err },
	} {
		if name == "Concat" {
			y = small(t)
		}
		wantReleased(t, name, f())
	}
	for name, share := range shares {
		if name == "share" || name == "assembled" || name == "slices" || name == "addresses" || name == "part of an array" || name == "arrays" ||
			name == "values of others" || name == "columns" {
			continue // which do not return an error, or read no released tensor
		}
		wantReleased(t, name, func() (err error) {
			defer func() { err, _ = recover().(error) }()
			share(x)
			return nil
		}())
	}
	if s := x.Share(); !s.Released() {
		t.Error("a share of it has arrays")
	}
	var none *Tensor
	none.Release()
}

func wantReleased(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, ErrReleased) {
		t.Errorf("%s: got %v, want an error that says that it was released", what, err)
	}
}

// TestReleaseWaits checks that calls at work keep the arrays.
func TestReleaseWaits(t *testing.T) {
	const rounds = 100
	for range rounds {
		p := &pool{t: t}
		x := p.copy(small(t))
		want := small(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 { // while one uses it another may begin to
					switch y, err := x.Convert(CSC); {
					case errors.Is(err, ErrReleased):
						return
					case err != nil:
						t.Error(err)
						return
					default:
						if v := y.At(2, 2).Float64(); v != 4 {
							t.Errorf("an element is %v, want 4", v)
						}
					}
					if err := x.Pin(); err != nil {
						return
					}
					if d := Diff(x, want); d != "" {
						t.Error(d)
					}
					x.Unpin()
				}
			})
		}
		wg.Go(x.Release)
		wg.Wait()
		if p.out != 0 {
			t.Fatalf("%d blocks are not given back", p.out)
		}
	}
}

// TestStaleRegions checks that arrays know their block also where the table still has
// blocks that were there before.
func TestStaleRegions(t *testing.T) {
	memory := make([]byte, 4096)
	for i := range 100 {
		block := NewPooled(memory[i%7:], func() {})
		if a := ArrayAt(Int8, unsafe.Pointer(&memory[2048]), 8); a.owner != &block.owner {
			t.Fatalf("round %d: the array does not know its block", i)
		}
		if i%2 == 0 {
			block.GiveBack()
			if a := ArrayAt(Int8, unsafe.Pointer(&memory[2048]), 8); a.owner != nil {
				t.Fatalf("round %d: the array knows a block that was given back", i)
			}
			continue
		}
		block.leaveUnseen()
	}
}

// leaveUnseen makes the table take the block for one that cannot be reached.
func (p *Pooled) leaveUnseen() {
	for i := range regions.sorted {
		if r := &regions.sorted[i]; r.owner.Value() == &p.owner {
			r.owner = region{}.owner
		}
	}
}

// TestTensorsAreHeld checks by the types of the package's code that every tensor is made
// where it is made to hold its arrays, and that its arrays are not changed later.
func TestTensorsAreHeld(t *testing.T) {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check("tensor", fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	tensor := pkg.Scope().Lookup("Tensor").Type()
	isTensor := func(e ast.Expr) bool {
		typ := info.TypeOf(e)
		if p, ok := typ.(*types.Pointer); ok {
			typ = p.Elem()
		}
		return types.Identical(typ, tensor)
	}
	found := 0
	for _, f := range files {
		var stack []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			stack = append(stack, n)
			if bad := unheld(n, isTensor); bad != "" {
				if allowed(stack) {
					found++
				} else {
					t.Errorf("%s: %s: use with, or NewTrusted", fset.Position(n.Pos()), bad)
				}
			}
			return true
		})
	}
	if found < 10 {
		t.Errorf("only %d places make tensors: the test does not see them", found)
	}
}

// unheld says what a node does to a tensor that could make it share arrays unseen.
func unheld(n ast.Node, isTensor func(ast.Expr) bool) string {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if isTensor(n) {
			return "a tensor is made"
		}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "new" && isTensor(n) {
			return "a tensor is made"
		}
	case *ast.AssignStmt:
		for _, right := range n.Rhs {
			if star, ok := right.(*ast.StarExpr); ok && isTensor(star) {
				return "a tensor is copied"
			}
		}
		for _, left := range n.Lhs {
			for {
				switch e := left.(type) {
				case *ast.IndexExpr:
					left = e.X
					continue
				case *ast.SelectorExpr:
					if isTensor(e.X) && (e.Sel.Name == "levels" || e.Sel.Name == "values") {
						return fmt.Sprintf("the %s of a tensor are changed", e.Sel.Name)
					}
					left = e.X
					continue
				}
				break
			}
		}
	}
	return ""
}

// allowed reports whether the innermost of some nested nodes is in NewTrusted or with, or in
// the function that a call of with is given.
func allowed(stack []ast.Node) bool {
	for _, n := range stack {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "NewTrusted" || n.Name.Name == "with" || n.Name.Name == "become" {
				return true
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "with" {
				return true
			}
		}
	}
	return false
}
