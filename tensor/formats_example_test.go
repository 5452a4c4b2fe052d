package tensor_test

import (
	"errors"
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// A format is its levels, the order in which they store the axes, and flags: text is one way to name it, variables and functions are another.
func ExampleFormat() {
	byColumns, err := tensor.FormatOf([]tensor.LevelKind{tensor.C, tensor.S}, []int{1, 0})
	fmt.Println(byColumns, byColumns == tensor.CSC, byColumns.Levels(), byColumns.Order(), err)
	for _, f := range []tensor.Format{tensor.CSR, tensor.DCSR, tensor.DCSC, tensor.COO, tensor.COOC, tensor.Coordinates(3), tensor.CSF(3), tensor.HiCOO(2), tensor.Dense(2)} {
		fmt.Printf("%v has %d levels and the order %v; all dense: %v\n", f, f.Rank(), f.Order(), f.IsDense())
	}
	turned, err := tensor.CSF(3).WithOrder([]int{2, 0, 1})
	fmt.Println(turned, err)
	_, err = tensor.FormatOf(make([]tensor.LevelKind, tensor.MaxRank+1), nil)
	fmt.Println(err)
	// Output:
	// CSC true [C S] [1 0] <nil>
	// CSR has 2 levels and the order [0 1]; all dense: false
	// DCSR has 2 levels and the order [0 1]; all dense: false
	// DCSC has 2 levels and the order [1 0]; all dense: false
	// COO has 2 levels and the order [0 1]; all dense: false
	// COOC has 2 levels and the order [1 0]; all dense: false
	// COO has 3 levels and the order [0 1 2]; all dense: false
	// CSF has 3 levels and the order [0 1 2]; all dense: false
	// S-DC-S-S has 4 levels and the order [0 1 2 3]; all dense: false
	// D has 2 levels and the order [0 1]; all dense: true
	// DC-DC-S[2,0,1] <nil>
	// a format of 65 levels: a tensor has at most 64 dimensions
}

// Flags allow what standard formats do not: coordinates that are not in order or repeat, as other programs may leave them.
func ExampleFormat_Flag() {
	loose, err := tensor.CSR.Flag(1, tensor.Unsorted|tensor.Duplicates)
	fmt.Println(loose, loose.Flags(), err)
	fmt.Println("relaxed:", loose.Relaxed(), "several values at a place:", loose.Multigraph())
	fmt.Println("takes arrays of CSR:", loose.Allows(tensor.CSR), "the other way round:", tensor.CSR.Allows(loose))
	fmt.Println("kernels take", loose.Standard(), loose.Standard().Equal(tensor.CSR))
	A, err := tensor.NewNamed([]int64{2, 3}, loose, map[string]tensor.Array{
		"pointers_0": tensor.ArrayOf([]int32{0, 3, 4}), "indices_1": tensor.ArrayOf([]int32{2, 0, 2, 1}),
	}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
	fmt.Println(A, err)
	sorted, err := A.Canonical()
	fmt.Println(sorted, tensor.StoredValues[float64](sorted), err)
	// Output:
	// C-S(unsorted,duplicates) [ unsorted,duplicates] <nil>
	// relaxed: true several values at a place: true
	// takes arrays of CSR: true the other way round: false
	// kernels take CSR true
	// 2x3 f64 C-S(unsorted,duplicates), 4 stored, fill 0 <nil>
	// 2x3 f64 CSR, 3 stored, fill 0 [2 4 4] <nil>
}

// What is wrong with a text is a ParseError: what was read, what is wrong, and what to write.
func ExampleParseError() {
	_, err := tensor.ParseFormat("CRS", 2)
	var text *tensor.ParseError
	fmt.Println(errors.As(err, &text), text.Text)
	fmt.Println(err)
	_, err = tensor.ParseDType("flaot32")
	fmt.Println(err)
	half, err := tensor.ParseDType("half")
	fmt.Println(half, err)
	// Output:
	// true CRS
	// unknown format "CRS": did you mean "CSR"? (formats are CSR, CSC, DCSR, DCSC, COO, COOC, CSF, D (dense), levels such as C-DC-S with an optional order such as -R, -C or [2,0,1], or TACO letters such as ds)
	// unknown element type "flaot32": did you mean "float32"? (the types are bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128)
	// f16 <nil>
}

// Where the arrays of a tensor break a rule, a FormatError says which and where.
func ExampleFormatError() {
	_, err := tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{2, 0, 1}, []float64{1, 2, 3}, tensor.WithName("web"))
	var rule *tensor.FormatError
	fmt.Println(errors.As(err, &rule), rule.Tensor, rule.Level, rule.Position)
	fmt.Println(err)
	// Output:
	// true web 1 1
	// tensor "web", level 1, position 1: indices_1[1] = 0 follows 2: coordinates must ascend under one parent
}

// A compiler sees physical levels. What it wants to know of one are properties, not its name.
func ExampleLevelType() {
	A, _ := tensor.NewCOO([]int64{2, 3}, [][]int{{0, 1, 1}, {2, 0, 1}}, []float64{1, 2, 3})
	B, _ := A.Convert(tensor.CSR)
	for _, t := range []*tensor.Tensor{A, B} {
		for k, l := range t.Levels() {
			fmt.Printf("%v level %d: %v", t.Format(), k, l.LevelType)
			switch l.Kind {
			case tensor.DenseLevel:
				fmt.Print(", located")
			case tensor.CompressedLevel:
				fmt.Print(", the list begins")
			case tensor.SingletonLevel:
				fmt.Print(", the list goes on")
			}
			if l.HasPos() {
				fmt.Print(", pos ", tensor.View[uint32](l.Pos))
			}
			if l.HasCrd() {
				fmt.Print(", crd ", l.Crd.Len())
			}
			fmt.Println(", full", l.Full(), "ranges", l.Ranges(), "branchless", l.Branchless(), "walked", l.Walked())
		}
	}
	// Output:
	// COO level 0: compressed(nonunique), the list begins, pos [0 3], crd 3, full false ranges true branchless false walked true
	// COO level 1: singleton, the list goes on, crd 3, full false ranges false branchless true walked true
	// CSR level 0: dense, located, full true ranges false branchless false walked false
	// CSR level 1: compressed, the list begins, pos [0 1 3], crd 3, full false ranges true branchless false walked true
}

// Arrays may be given by the names that binsparse has for them, in spellings that are not canonical too: S directly before C is DC.
func ExampleNewNamedLevels() {
	A, err := tensor.NewNamedLevels([]int64{4, 3}, []tensor.LevelKind{tensor.S, tensor.S}, []int{0, 1}, map[string]tensor.Array{
		"indices_0": tensor.ArrayOf([]uint16{3, 0, 3}), "indices_1": tensor.ArrayOf([]uint16{1, 2, 0}),
	}, tensor.ArrayOf([]float64{1, 2, 3}), tensor.WithLevelFlags(tensor.Unsorted, 0))
	fmt.Println(A, err)
	fmt.Println(A.At(3, 0), A.At(0, 0))
	// Output:
	// 4x3 f64 S(unsorted)-S, 3 stored, fill 0 <nil>
	// 3 0
}

// Keys tell formats apart, for maps on disk and the like.
func ExampleFormat_AppendKey() {
	fmt.Println(string(tensor.CSR.AppendKey(nil)) == string(tensor.CSC.AppendKey(nil)), len(tensor.CSR.AppendKey(nil)) > 0)
	// Output: false true
}

// What the compiler sees of a format says the format. Pointers to the values of one coordinate are told by repeating it, for systems that have none.
func ExampleFormatOfPhysical() {
	f, err := tensor.FormatOfPhysical(tensor.CSC.Physical(), []int{1, 0})
	fmt.Println(f, err)
	multigraph, _ := tensor.ParseFormat("C-C(duplicates)", 2)
	f, err = multigraph.Repeating()
	fmt.Println(f, f.Physical(), err)
	// Output:
	// CSC <nil>
	// C-S(duplicates) [dense compressed(nonunique)] <nil>
}

// A package that makes tensors in its own way says what is wrong as this one does.
func ExampleErrorf() {
	diagonal := func(values []float64, opts ...tensor.Option) (*tensor.Tensor, error) {
		if len(values) == 0 {
			return nil, tensor.Named(tensor.Errorf(-1, "a diagonal has elements: there are %d", len(values)), opts...)
		}
		n := int64(len(values))
		at := make([]int64, n)
		for i := range at {
			at[i] = int64(i)
		}
		return tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{at, at}, tensor.ArrayOf(values), opts...)
	}
	fmt.Println(diagonal(nil, tensor.WithName("D")))
	fmt.Println(diagonal([]float64{1, 2}))
	// Output:
	// <nil> tensor "D": a diagonal has elements: there are 0
	// 2x2 f64 CSR, 2 stored, fill 0 <nil>
}
