package from

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Structs makes a tensor of a slice of structs, one entry of each. The field tagged `tensor:"value"` is the value, those
// tagged `tensor:"0"`, `tensor:"1"` and so on are the coordinates, integers; other fields are left alone. Without a field for
// the value every entry is 1, or true. A value that T cannot hold is an error. The shape is the smallest that has room for all.
func Structs[T tensor.Element, S any](list []S, format tensor.Format, on OnDuplicate, opts ...tensor.Option) (*tensor.Tensor, error) {
	value, axes, err := fields(reflect.TypeFor[S](), format.Rank())
	if err != nil {
		return nil, err
	}
	b := NewBuilder[T](format, on)
	at := make([]int64, len(axes))
	one, err := goValue[T](reflect.ValueOf(true))
	if err != nil {
		return nil, err
	}
	for i := range list {
		s := reflect.ValueOf(&list[i]).Elem()
		for axis, f := range axes {
			if at[axis], err = coordinate(s.Field(f)); err != nil {
				return nil, fmt.Errorf("from.Structs: struct %d, field %s: %w", i, s.Type().Field(f).Name, err)
			}
		}
		v := one
		if value >= 0 {
			if v, err = goValue[T](s.Field(value)); err != nil {
				return nil, fmt.Errorf("from.Structs: struct %d, field %s: %w", i, s.Type().Field(value).Name, err)
			}
		}
		b.Add(v, at...)
	}
	return b.Build(nil, opts...)
}

// fields finds the fields of the value, -1 if there is none, and of the coordinates.
func fields(s reflect.Type, rank int) (value int, axes []int, err error) {
	value, axes = -1, make([]int, rank)
	for axis := range axes {
		axes[axis] = -1
	}
	if s.Kind() != reflect.Struct {
		return 0, nil, fmt.Errorf("from.Structs: %v is no struct", s)
	}
	for i := range s.NumField() {
		f := s.Field(i)
		tag, tagged := f.Tag.Lookup("tensor")
		axis, err := strconv.Atoi(tag)
		switch kind := f.Type.Kind(); {
		case !tagged:
		case tag == "value" && value >= 0:
			return 0, nil, fmt.Errorf("from.Structs: the fields %s and %s of %v are both tagged %q", s.Field(value).Name, f.Name, s, tag)
		case tag == "value":
			value = i
		case err != nil || axis < 0 || axis >= rank:
			return 0, nil, fmt.Errorf("from.Structs: the field %s of %v is tagged %q: a tag is value, or an axis from 0 to %d", f.Name, s, tag, rank-1)
		case axes[axis] >= 0:
			return 0, nil, fmt.Errorf("from.Structs: the fields %s and %s of %v are both tagged %q", s.Field(axes[axis]).Name, f.Name, s, tag)
		case kind < reflect.Int || kind > reflect.Uint64:
			return 0, nil, fmt.Errorf("from.Structs: the field %s of %v is a %v: coordinates are integers", f.Name, s, f.Type)
		default:
			axes[axis] = i
		}
	}
	for axis, f := range axes {
		if f < 0 {
			return 0, nil, fmt.Errorf("from.Structs: no field of %v is tagged `tensor:\"%d\"`, the coordinate on axis %d", s, axis, axis)
		}
	}
	return value, axes, nil
}

func coordinate(f reflect.Value) (int64, error) {
	switch {
	case f.CanInt():
		return f.Int(), nil
	case f.Uint() > math.MaxInt64:
		return 0, fmt.Errorf("%d is no coordinate: they are below 2^63", f.Uint())
	}
	return int64(f.Uint()), nil
}

// goValue is the value of a field as a T, which must hold it, but for the rounding of fractions.
func goValue[T tensor.Element](f reflect.Value) (T, error) {
	var x tensor.Scalar
	switch {
	case f.Kind() == reflect.Bool:
		x = tensor.Truth(f.Bool())
	case f.CanInt():
		x = tensor.Int(tensor.Int64, f.Int())
	case f.CanUint():
		x = tensor.Uint(tensor.Uint64, f.Uint())
	case f.CanFloat():
		x = tensor.Float(tensor.Float64, f.Float())
	case f.CanComplex():
		x = tensor.Complex(tensor.Complex128, f.Complex())
	default:
		return *new(T), fmt.Errorf("a %v is no number", f.Type())
	}
	return convert[T](x)
}

// convert is a scalar as a T, which must hold it, but for the rounding of fractions.
func convert[T tensor.Element](x tensor.Scalar) (T, error) {
	one := make([]T, 1)
	a := tensor.ArrayOf(one)
	a.SetScalar(0, x)
	got := a.Scalar(0)
	back := got.Convert(x.DType())
	rounds := (x.DType().IsFloat() || x.DType().IsComplex()) && (got.DType().IsFloat() || got.DType().IsComplex()) && !(x.DType().IsComplex() && !got.DType().IsComplex())
	if !rounds && !back.Same(x) && x.DType() != tensor.Bool {
		return one[0], fmt.Errorf("%v does not fit the type %v", x, a.DType())
	}
	return one[0], nil
}
