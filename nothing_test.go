package lacuna_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
	tensorfrom "github.com/lacuna-sparse/lacuna/tensor/from"
	"github.com/lacuna-sparse/lacuna/tensor/interop"
)

// This file tests zero values of all exported types.

// TestZeroValues calls every exported function that takes a tensor, and every method of every exported type on its zero
// value and, if it has an error to return, on a nil pointer, with zero arguments: nothing panics, and no error calls itself an internal one.
func TestZeroValues(t *testing.T) {
	for _, dir := range []string{".", "tensor", "tensor/from", "tensor/interop", "ops", "tensor/file"} {
		listed := map[string]bool{}
		for _, v := range zeroTypes[dir] {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Elem().Name(), "[") // without type arguments
			listed[name] = true
			p := reflect.ValueOf(v)
			callMethods(t, p.Type().String()+" zero", p)
			callMethods(t, p.Type().String()+" nil", reflect.Zero(p.Type()))
		}
		for name, f := range zeroFuncs[dir] {
			listed[name] = true
			callWithNothing(t, dir+"."+name, reflect.ValueOf(f))
		}
		for _, name := range exportedIn(t, dir) {
			if !listed[name] {
				t.Errorf("%s: %s is not in the lists of this test", dir, name)
			}
		}
	}
}

// callMethods calls all methods of a value but, of a nil pointer, those that have no error to return: what reads
// through a nil pointer panics there, as in all of Go.
func callMethods(t *testing.T, what string, v reflect.Value) {
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		if out := m.Type.NumOut(); v.IsNil() && (out == 0 || m.Type.Out(out-1) != reflect.TypeFor[error]()) {
			continue
		}
		if _, byValue := v.Type().Elem().MethodByName(m.Name); v.IsNil() && byValue {
			continue
		}
		if v.IsNil() && v.Type().Implements(reflect.TypeFor[error]()) {
			continue // no error
		}
		if element[v.Type().String()+"."+m.Name] {
			continue
		}
		callWithNothing(t, what+"."+m.Name, v.Method(i))
	}
}

// element are methods that take the number of an element, which is there as in a slice expression.
var element = map[string]bool{"*tensor.Array.At64": true, "*tensor.Array.Scalar": true, "*tensor.Array.SetScalar": true, "*tensor.Tensor.LevelAt": true, "*tensor.Indices.At": true, "*tensor.Fibre[float64].Coord": true}

// callWithNothing calls a function with arguments that are zero; tensors are nil, and then zero values.
func callWithNothing(t *testing.T, what string, f reflect.Value) {
	for _, tensors := range []*tensor.Tensor{nil, {}} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s panics: %v", what, r)
				}
			}()
			var args []reflect.Value
			for i := range f.Type().NumIn() {
				in := f.Type().In(i)
				switch {
				case f.Type().IsVariadic() && i == f.Type().NumIn()-1 && in.Elem() != reflect.TypeFor[*tensor.Tensor]():
				case in == reflect.TypeFor[context.Context]():
					args = append(args, reflect.ValueOf(context.Background()))
				case in == reflect.TypeFor[*tensor.Tensor]():
					args = append(args, reflect.ValueOf(tensors))
				case in == reflect.TypeFor[[]*tensor.Tensor]() && f.Type().IsVariadic() && i == f.Type().NumIn()-1:
					args = append(args, reflect.ValueOf(tensors), reflect.ValueOf(tensors))
				case in == reflect.TypeFor[[]*tensor.Tensor]():
					args = append(args, reflect.ValueOf([]*tensor.Tensor{tensors, tensors}))
				default:
					args = append(args, reflect.Zero(in))
				}
			}
			for _, out := range f.Call(args) {
				if err, ok := out.Interface().(error); ok && err != nil {
					if text := fmt.Sprint(err); strings.Contains(text, "internal error") || strings.Contains(text, "BUG") {
						t.Errorf("%s: %v", what, text)
					}
				}
			}
		}()
	}
}

// exportedIn lists the exported types with methods, and the exported functions that take a tensor, of a package.
func exportedIn(t *testing.T, dir string) []string {
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			var name *ast.Ident
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if generic, ok := of.(*ast.IndexExpr); ok {
					of = generic.X
				}
				name, _ = of.(*ast.Ident)
			} else if takesTensor(f.Type) {
				name = f.Name
			}
			if name != nil && name.IsExported() {
				seen[name.Name] = true
			}
		}
	}
	var names []string
	for name := range seen {
		names = append(names, name)
	}
	return names
}

// takesTensor reports whether a parameter of a function is a tensor, or tensors.
func takesTensor(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		of := p.Type
		if list, ok := of.(*ast.ArrayType); ok {
			of = list.Elt
		}
		if list, ok := of.(*ast.Ellipsis); ok {
			of = list.Elt
		}
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if name, ok := of.(*ast.SelectorExpr); ok && name.Sel.Name == "Tensor" {
			return true
		}
		if name, ok := of.(*ast.Ident); ok && name.Name == "Tensor" {
			return true
		}
	}
	return false
}

// zeroTypes are the zero values of the exported types with methods, by package.
var zeroTypes = map[string][]any{
	".": {new(lacuna.Session), new(lacuna.Kernel), new(lacuna.Prepared), new(lacuna.Gradient), new(lacuna.HostError), new(lacuna.InternalError), new(lacuna.Func[float64])},
	"tensor": {new(tensor.Array), new(tensor.Attributes), new(tensor.Blocks), new(tensor.DType), new(tensor.Fields), new(tensor.Foreign),
		new(tensor.Fibre[float64]), new(tensor.Format), new(tensor.FormatError), new(tensor.Indices), new(tensor.LevelFlags), new(tensor.LevelKind), new(tensor.LevelType),
		new(tensor.ParseError), new(tensor.Parts), new(tensor.PhysicalKind), new(tensor.Pooled), new(tensor.Property), new(tensor.Scalar),
		new(tensor.Statistics), new(tensor.Structure), new(tensor.Tensor), new(tensor.Window)},
	"tensor/from":    {new(tensorfrom.Builder[float64]), new(tensorfrom.Names)},
	"tensor/interop": {new(interop.MLIR), new(interop.TACO)},
	"ops":            {new(ops.Error), new(ops.Range)},
	"tensor/file":    {new(file.File), new(file.FileError), new(file.Kind), new(file.Slices)},
}

// zeroFuncs are the exported functions that take tensors, by package.
var zeroFuncs = map[string]map[string]any{
	".": {"Concat": lacuna.Concat, "Convert": lacuna.Convert, "Canonical": lacuna.Canonical, "Prune": lacuna.Prune, "Reshape": lacuna.Reshape},
	"tensor": {"ConcatShape": tensor.ConcatShape, "Concat": tensor.Concat, "ConcatWith": func(a *tensor.Tensor) error {
		_, err := tensor.ConcatWith(0, tensor.CSR, []*tensor.Tensor{a, a})
		return err
	}, "Diff": tensor.Diff, "Equal": tensor.Equal, "SameStructure": tensor.SameStructure,
		"NewBlocks": tensor.NewBlocks, "NewFields": tensor.NewFields, "NewParts": tensor.NewParts, "NewTrustedParts": tensor.NewTrustedParts, "HBCSF": tensor.HBCSF,
		"Row":    func(a *tensor.Tensor) error { _, err := tensor.Row[float64](a, 0); return err },
		"Column": func(a *tensor.Tensor) error { _, err := tensor.Column[float64](a, 0); return err },
		"Entries": func(a *tensor.Tensor) {
			for range tensor.Entries[float64](a) {
				panic("there is an entry")
			}
		},
		"Update":       func(a *tensor.Tensor) error { _, err := tensor.Update(a, tensor.Set(1.0)); return err },
		"Formatted":    func(a *tensor.Tensor) { _ = fmt.Sprintf("%v %.2v", tensor.Formatted(a), tensor.Formatted(a)) },
		"StoredValues": tensor.StoredValues[float64],
		"FibreAt":      tensor.FibreAt[float64], "At": tensor.At[float64], "Elements": tensor.Elements[float64],
		"MMCSF": tensor.MMCSF, "Pattern": tensor.Pattern},
	"tensor/interop": {"FromMLIR": interop.FromMLIR, "FromTACO": interop.FromTACO, "ToMLIR": interop.ToMLIR, "ToMLIRBlocked": interop.ToMLIRBlocked, "ToTACO": interop.ToTACO},
	"ops": {
		"Add": ops.Add, "All": ops.All, "AllGrad": ops.AllGrad, "Any": ops.Any, "AnyGrad": ops.AnyGrad, "ArgMax": ops.ArgMax, "ArgMin": ops.ArgMin,
		"ArgSort": ops.ArgSort, "Concat": ops.Concat, "Count": ops.Count, "CumMax": ops.CumMax, "CumMaxGrad": ops.CumMaxGrad, "CumMin": ops.CumMin,
		"CumMinGrad": ops.CumMinGrad, "CumProd": ops.CumProd, "CumProdGrad": ops.CumProdGrad, "CumSum": ops.CumSum, "CumSumGrad": ops.CumSumGrad, "Diagonal": ops.Diagonal, "Div": ops.Div, "Einsum": ops.Einsum, "LogCumSumExp": ops.LogCumSumExp, "LogCumSumExpGrad": ops.LogCumSumExpGrad, "LogSoftmax": ops.LogSoftmax, "LogSumExp": ops.LogSumExp, "LogSumExpGrad": ops.LogSumExpGrad, "MaskedSelect": ops.MaskedSelect, "MatMul": ops.MatMul, "Max": ops.Max, "MaxGrad": ops.MaxGrad, "Mean": ops.Mean, "MeanGrad": ops.MeanGrad, "Median": ops.Median, "MedianGrad": ops.MedianGrad, "Min": ops.Min,
		"MinGrad": ops.MinGrad, "Mul": ops.Mul, "NanQuantile": ops.NanQuantile, "NanQuantileGrad": ops.NanQuantileGrad, "NanQuantiles": ops.NanQuantiles,
		"NanQuantilesGrad": ops.NanQuantilesGrad, "Norm": ops.Norm, "NormGrad": ops.NormGrad, "Permute": ops.Permute, "Prod": ops.Prod, "ProdGrad": ops.ProdGrad, "Prune": ops.Prune, "Quantile": ops.Quantile, "QuantileGrad": ops.QuantileGrad, "Quantiles": ops.Quantiles, "QuantilesGrad": ops.QuantilesGrad, "Repeat": ops.Repeat, "Reshape": ops.Reshape, "Slice": ops.Slice, "Softmax": ops.Softmax, "Sort": ops.Sort, "SortGrad": ops.SortGrad, "Sub": ops.Sub, "Sum": ops.Sum, "SumGrad": ops.SumGrad, "TopK": ops.TopK, "TopKGrad": ops.TopKGrad, "Transpose": ops.Transpose, "Tril": ops.Tril, "Triu": ops.Triu, "Var": ops.Var, "VarGrad": ops.VarGrad, "Where": ops.Where, "Unique": ops.Unique, "UniqueAlong": ops.UniqueAlong,
	},
	"tensor/file": {
		"Write": func(a *tensor.Tensor) error { return file.Write(os.DevNull, a, file.OfKind("mtx")) },
		"WriteShare": func(a *tensor.Tensor) error {
			alone := file.Sharing{Exchange: func(b []byte) ([][]byte, error) { return [][]byte{b}, nil }}
			return file.WriteShare(context.Background(), os.TempDir()+"/lacuna-nothing.npy", a, []int64{2}, 0, alone)
		},
		"WriteTo": func(a *tensor.Tensor) error { return file.WriteTo("a.mtx", io.Discard, a) },
		"Binary": func(a *tensor.Tensor) error { // its other methods are those of the tensor in it
			_, err := file.Binary{Tensor: a}.MarshalBinary()
			return errors.Join(err, new(file.Binary).UnmarshalBinary(nil))
		},
		"ReadFrom": func() error {
			_, err := file.ReadFrom("a.mtx", nil)
			return err
		},
	},
}

// TestZeroSession evaluates with a session that is only declared, and gives a kernel operands that are only declared.
func TestZeroSession(t *testing.T) {
	ctx := context.Background()
	var s lacuna.Session
	x, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	y, err := s.Eval(ctx, "y = sum_i x(i)", lacuna.Args{"x": x})
	if err != nil || y.At().Float64() != 7 {
		t.Fatalf("%v, %v", y, err)
	}
	if s.Engine() == nil {
		t.Error("a session has no engine")
	}
	k, err := s.Compile(ctx, "y = sum_i x(i)", lacuna.Operand("x", x))
	if err != nil {
		t.Fatal(err)
	}
	for _, none := range []tensor.Operand{nil, (*tensor.Tensor)(nil), &tensor.Tensor{}, (*tensor.Parts)(nil), &tensor.Parts{}, (*tensor.Blocks)(nil), &tensor.Blocks{}} {
		args := lacuna.Args{"x": none}
		for what, call := range map[string]func() error{
			"Eval":     func() error { _, err := s.Eval(ctx, "y = sum_i x(i)", args); return err },
			"EvalGrad": func() error { _, err := s.EvalGrad(ctx, "y = sum_i x(i)", "x", args); return err },
			"Compile":  func() error { _, err := s.Compile(ctx, "y = sum_i x(i)", lacuna.Operand("x", none)); return err },
			"Run":      func() error { _, err := k.Run(ctx, args); return err },
			"Prepare":  func() error { _, err := k.Prepare(ctx, args); return err },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), "x is") || strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s of %T: %v, want an error that says what x is", what, none, err)
			}
		}
	}
}
