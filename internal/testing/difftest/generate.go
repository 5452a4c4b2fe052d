package difftest

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Source is where random choices come from: a seeded generator, rapid, or the
// bytes of a fuzzer. The first alternatives are the simplest, so that a source
// that answers 0 makes small programs.
type Source interface {
	// Intn returns a number from 0 to n-1.
	Intn(n int) int
}

// Case is a random program with its operands.
type Case struct {
	Text     string
	Operands map[string]*tensor.Tensor
	// Stored are operands that are passed otherwise than as one tensor: in parts, or
	// as a triangle.
	Stored map[string]tensor.Operand
	// Results are declarations of results; what has none is left to the compiler.
	Results map[string]Result
	// Strict asks for strict IEEE arithmetic, AsWritten for the order of computing as written.
	Strict, AsWritten bool
	// Refused is the code that the program must be refused with; empty for
	// programs that must run.
	Refused lang.Code
	// MayRefuse is part of the message with which the compiler may refuse a legal
	// program that it does not support yet.
	MayRefuse string
}

// Result is what a case declares of a result.
type Result struct {
	Shape     []int64 // nil: follows from the operands
	Format    tensor.Format
	HasFormat bool
	DType     tensor.DType // Invalid: follows from the expression
	Fill      *tensor.Scalar
}

// generator holds the state of one program being written.
type generator struct {
	src     Source
	dtype   tensor.DType // of most operands
	mixed   bool         // other types occur
	exact   bool         // values are small whole numbers
	special bool         // infinities and NaN occur among the values
	// infinite: the usual fill is a complex infinity, whose products are NaN.
	infinite bool
	virtual  int // percentage of operands that are passed in parts or as triangles
	budget   int // expressions yet to be written in this statement
	extents  map[string]int64
	Case
	made  map[string]*made // results that a statement has assigned
	lines []string
	stmt  *statement
	// fill, when not nil, is the usual fill of operands instead of 0.
	fill *tensor.Scalar
}

// made is what is known of a result.
type made struct {
	shape []int64
	dtype tensor.DType
	// filled says that its fill is declared. Otherwise the planner derives it
	// from the right side, which the oracle does not repeat.
	filled bool
}

// term is an expression with its type.
type term struct {
	text  string
	dtype tensor.DType
}

func (g *generator) intn(n int) int          { return g.src.Intn(n) }
func (g *generator) chance(percent int) bool { return g.intn(100) >= 100-percent }

func pick[T any](g *generator, list ...T) T { return list[g.intn(len(list))] }

// shuffle brings a list into random order, in place.
func shuffle[T any](g *generator, list []T) []T {
	for i := range list {
		j := i + g.intn(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// New makes a random program.
func New(src Source) *Case {
	g := newGenerator(src)
	if g.chance(25) {
		g.virtual = 50
	}
	return g.program()
}

// NewStored makes a random program most of whose operands are passed in parts or as
// triangles.
func NewStored(src Source) *Case {
	g := newGenerator(src)
	g.virtual = 80
	return g.program()
}

// NewInfinite makes a random program of complex operands, most of which have an infinity as
// their fill. It has few products, as those of complex infinities are NaN.
func NewInfinite(src Source) *Case {
	g := newGenerator(src)
	g.dtype = pick(g, tensor.Complex128, tensor.Complex64)
	fill := tensor.Complex(g.dtype, complex(pick(g, math.Inf(1), math.Inf(-1)), float64(g.intn(2))))
	g.fill, g.infinite = &fill, true
	if g.chance(20) {
		g.scatter()
	} else {
		g.assign("R")
	}
	return g.written()
}

func newGenerator(src Source) *generator {
	g := &generator{src: src, extents: map[string]int64{}, made: map[string]*made{},
		Case: Case{Operands: map[string]*tensor.Tensor{}, Stored: map[string]tensor.Operand{}, Results: map[string]Result{}}}
	g.dtype = pick(g, tensor.Float64, tensor.Float64, tensor.Float64, tensor.Int64, tensor.Float64, tensor.Int32, tensor.Float32,
		tensor.Bool, tensor.Complex128, tensor.Uint8, tensor.Float16, tensor.Int8, tensor.Uint64, tensor.Complex64, tensor.BFloat16,
		tensor.Int16, tensor.Uint16, tensor.Uint32)
	g.exact = !g.chance(40)
	g.mixed = g.chance(40)
	g.special = g.chance(30)
	g.Strict = g.chance(10)
	g.pickExtents()
	return g
}

// program writes the program.
func (g *generator) program() *Case {
	switch g.intn(13) {
	case 0, 1, 2, 3, 4, 5:
		g.assign("R")
	case 6, 7:
		g.product("R")
	case 8, 9:
		for n := range pick(g, 1, 1, 2) {
			g.assign(fmt.Sprintf("T%d", n))
		}
		g.assign("R")
	case 10:
		g.updateOperand()
	case 11:
		g.updateResult()
	case 12:
		g.scatter()
	}
	return g.written()
}

// written is the case of the lines written.
func (g *generator) written() *Case {
	g.Text = strings.Join(g.lines, "\n")
	g.dropUnused()
	return &g.Case
}

// dropUnused removes operands that were made for what was not written.
func (g *generator) dropUnused() {
	used := map[string]bool{}
	for _, word := range strings.FieldsFunc(g.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		used[word] = true
	}
	for name := range g.Operands {
		if !used[name] {
			delete(g.Operands, name)
			delete(g.Stored, name)
		}
	}
}

// indexNames are the index variables that programs write on the left and in
// reductions; implicitNames are those left to the Einstein convention.
var (
	indexNames    = []string{"i", "j", "k", "l", "m", "n"}
	implicitNames = []string{"p", "q", "r"}
)

// pickExtents gives every index name an extent, the same in all statements.
func (g *generator) pickExtents() {
	same := int64(0)
	if g.chance(40) {
		same = int64(pick(g, 3, 2, 4, 5)) // then tensors fit each other
	}
	for _, list := range [][]string{indexNames, implicitNames} {
		for _, name := range list {
			n := int64(pick(g, 3, 2, 1, 4, 5, 3, 2, 0, 7))
			if n == 0 && !g.chance(15) {
				n = 3
			}
			if same > 0 && !g.chance(10) {
				n = same
			}
			g.extents[name] = n
		}
	}
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
