package lang

import (
	"math"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// number checks a literal. Integers are i64, or u64 beyond its range; they and all
// other literals are weak.
func (c *checker) number(n *Number) value {
	if text, ok := strings.CutSuffix(n.Text, "i"); ok {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return c.tooLarge(n)
		}
		return constantValue(n.Pos, tensor.Complex(tensor.Complex128, complex(0, f)))
	}
	if strings.Trim(n.Text, "0123456789") == "" {
		if v, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return constantValue(n.Pos, tensor.Int(tensor.Int64, v))
		}
		v, err := strconv.ParseUint(n.Text, 10, 64)
		if err != nil {
			return c.tooLarge(n)
		}
		return constantValue(n.Pos, tensor.Uint(tensor.Uint64, v))
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return c.tooLarge(n)
	}
	return constantValue(n.Pos, tensor.Float(tensor.Float64, f))
}

func (c *checker) tooLarge(n *Number) value {
	if strings.ContainsAny(n.Text, ".eE") {
		c.fail(ErrRange, n.Pos, "write inf if infinity is meant", "the number %s does not fit 64 bits: the largest f64 is about 1.8e308", head(n.Text, 40))
		return value{}
	}
	c.fail(ErrRange, n.Pos, "write it as a float with an exponent, or inf", "the number %s does not fit 64 bits", head(n.Text, 40))
	return value{}
}

// constantValue is a weak literal.
func constantValue(pos Pos, x tensor.Scalar) value {
	return value{&Literal{Pos: pos, Value: x}, weakOf(x.DType())}
}

// word checks true, false, inf or nan.
func (c *checker) word(n *Const) value {
	switch n.Name {
	case "true", "false":
		return value{Expr: &Literal{Pos: n.Pos, Value: tensor.Truth(n.Name == "true")}}
	case "inf":
		return constantValue(n.Pos, tensor.Float(tensor.Float64, math.Inf(1)))
	}
	return constantValue(n.Pos, tensor.Float(tensor.Float64, math.NaN()))
}

// negated folds the minus sign into a weak literal.
func (c *checker) negated(n *Unary, lit *Literal) value {
	x := lit.Value
	switch x.DType() {
	case tensor.Int64:
		if x.Int64() == math.MinInt64 {
			return constantValue(n.Pos, tensor.Uint(tensor.Uint64, 1<<63))
		}
		return constantValue(n.Pos, tensor.Int(tensor.Int64, -x.Int64()))
	case tensor.Uint64:
		if x.Uint64() > 1<<63 {
			c.fail(ErrRange, n.Pos, "write it as a float with an exponent", "the number -%d does not fit 64 bits", x.Uint64())
			return value{}
		}
		return constantValue(n.Pos, tensor.Int(tensor.Int64, math.MinInt64))
	case tensor.Complex128:
		return constantValue(n.Pos, tensor.Complex(tensor.Complex128, -x.Complex128()))
	}
	return constantValue(n.Pos, tensor.Float(tensor.Float64, -x.Float64()))
}
