package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// request is what the caller asks for.
type request struct {
	Op      string                 `json:"op"` // a key of operations
	Program string                 `json:"program,omitempty"`
	Args    map[string]operand     `json:"args,omitempty"`
	Declare map[string]declaration `json:"declare,omitempty"` // operands without values
	Results map[string]declaration `json:"results,omitempty"`

	Wrt      string   `json:"wrt,omitempty"`      // of grad and derive
	Upstream *operand `json:"upstream,omitempty"` // of grad
	Stage    string   `json:"stage,omitempty"`    // of explain
	Kernel   uint64   `json:"kernel,omitempty"`   // of run and explain
	Format   string   `json:"format,omitempty"`   // of tensor
	All      bool     `json:"all,omitempty"`      // all results

	Engine      string `json:"engine,omitempty"`
	Threads     int    `json:"threads,omitempty"`
	MemoryLimit int64  `json:"memory_limit,omitempty"`
	AsWritten   bool   `json:"as_written,omitempty"`
	StrictIEEE  bool   `json:"strict_ieee,omitempty"`
}

// declaration is what is said of a tensor.
type declaration struct {
	Format string  `json:"format,omitempty"`
	Type   string  `json:"type,omitempty"`
	Shape  []int64 `json:"shape,omitempty"`
	Fill   *scalar `json:"fill,omitempty"`
}

// scalar is a value: its bytes as an array holds them, in hexadecimal.
type scalar struct {
	Type  string `json:"type"`
	Bytes string `json:"bytes"`
}

// operand is a tensor of the caller's: one that has a handle, or arrays.
type operand struct {
	Handle uint64           `json:"handle,omitempty"`
	Shape  []int64          `json:"shape,omitempty"`
	Format string           `json:"format,omitempty"`
	Arrays map[string]array `json:"arrays,omitempty"` // named as tensor.NewNamed has them
	Values array            `json:"values"`
	Fill   *scalar          `json:"fill,omitempty"`
	// Whole is the shape of the matrix of which Shape says the numbers of blocks and their extents.
	Whole []int64 `json:"whole,omitempty"`
}

// array is an array of the caller's or of ours.
type array struct {
	Type    string `json:"type"`
	Len     int    `json:"len"`
	Address uint64 `json:"address"`

	// Of the caller's: what the array lies in, and what to call when nothing refers to it any more.
	Base  uint64 `json:"base,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
	Token uint64 `json:"token,omitempty"`
	// Of ours, which the caller hands back: the tensor whose array it is in.
	Owner uint64 `json:"owner,omitempty"`
}

// answer is what comes of a request.
type answer struct {
	Tensors  map[string]described `json:"tensors,omitempty"`
	Result   string               `json:"result,omitempty"` // the one of Tensors that was asked for
	Kernel   uint64               `json:"kernel,omitempty"`
	Text     string               `json:"text,omitempty"`
	Notes    []string             `json:"notes,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Returned []uint64             `json:"returned,omitempty"` // tokens of arrays that were not kept
	Error    *failure             `json:"error,omitempty"`
}

// described is a tensor of ours.
type described struct {
	Handle uint64           `json:"handle"`
	Shape  []int64          `json:"shape"`
	Type   string           `json:"type"`
	Format string           `json:"format"`
	Levels []string         `json:"levels"`
	Order  []int            `json:"order"`
	Stored int64            `json:"stored"`
	Fill   scalar           `json:"fill"`
	Arrays map[string]array `json:"arrays"`
	Values array            `json:"values"`
	Text   string           `json:"text"`
}

// failure is an error.
type failure struct {
	Kind    string `json:"kind"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// The kinds of failures.
const (
	programFailure     = "program"     // something is wrong in the text, or operands do not fit it
	tensorFailure      = "tensor"      // the arrays are not those of a tensor
	memoryFailure      = "memory"      // a limit is reached
	unavailableFailure = "unavailable" // there is no such engine
	cancelledFailure   = "cancelled"
	internalFailure    = "internal" // a mistake of ours
	otherFailure       = "other"
)

// describeFailure tells what an error is.
func describeFailure(err error) *failure {
	f := &failure{Kind: otherFailure, Message: inPython(err).Error()}
	var (
		program     *lang.Error
		format      *tensor.FormatError
		parse       *tensor.ParseError
		limit       *runtime.MemoryLimitError
		unavailable *runtime.UnavailableError
		internal    *lacuna.InternalError
	)
	switch {
	case errors.As(err, &internal):
		f.Kind = internalFailure
	case errors.Is(err, context.Canceled):
		f.Kind = cancelledFailure
	case errors.As(err, &unavailable):
		f.Kind = unavailableFailure
	case errors.As(err, &limit):
		f.Kind = memoryFailure
	case errors.As(err, &program):
		f.Kind, f.Code = programFailure, string(program.Code)
	case errors.As(err, &format), errors.As(err, &parse):
		f.Kind = tensorFailure
	}
	return f
}

// inPython has the hints of errors of the language say how names get values and shapes in Python.
func inPython(err error) error {
	var list lang.Errors
	var one *lang.Error
	if !errors.As(err, &list) && errors.As(err, &one) {
		list = lang.Errors{one}
	}
	for _, e := range list {
		switch declares := strings.Contains(e.Hint, "declare"); {
		case declares && e.Code == lang.ErrUnknownName:
			e.Hint = "pass operands by their names: eval(program, A=…, x=…)"
		case declares && (e.Code == lang.ErrFreeExtent || e.Code == lang.ErrNoValue || e.Code == lang.ErrOutOfRange):
			e.Hint += " (shape=(10, 20))"
		}
	}
	return lang.OutsideGo(err)
}

// encode writes an answer.
func encode(a *answer) []byte {
	text, err := json.Marshal(a)
	if err != nil {
		panic("BUG: an answer cannot be written: " + err.Error())
	}
	return text
}
