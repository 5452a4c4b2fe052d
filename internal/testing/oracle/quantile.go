package oracle

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
)

// quantile is the order statistic of the list: the values are sorted, and the rank of
// the order found by the method's definition.
func (f *folding) quantile() Value {
	var list []float64
	z := number(complex(math.NaN(), 0))
	err := 0.0
	for _, v := range f.list {
		if x := real(v.C); !math.IsNaN(x) {
			list = append(list, x)
		} else if f.op != lang.NanQuantile {
			return z
		}
		err = math.Max(err, v.Err)
	}
	if len(list) == 0 {
		return z
	}
	slices.Sort(list)
	low, high, weight := position(f.method, real(f.q.C), len(list))
	z = round(f.out, number(complex(between(list[low], list[high], weight), 0)))
	z.Err = err
	if weight != 0 && list[low] != list[high] {
		z.Err += 4 * unit(f.out) * math.Max(math.Abs(list[low]), math.Abs(list[high]))
	}
	if f.q.Err != 0 || math.IsNaN(z.Err) {
		z.Err = math.Inf(1)
	}
	return z
}

// position is the two ranks, from 0, that the order q of n values lies between, and
// how far it is from the first to the second. Hyndman and Fan (1996) number the methods.
func position(method string, q float64, n int) (low, high int, weight float64) {
	last := float64(n - 1)
	clamp := func(h float64) float64 { return math.Min(math.Max(h, 0), last) }
	h := q * last
	nq := float64(n) * q
	var alpha, beta float64
	switch method {
	case "lower":
		h = math.Floor(h)
	case "higher":
		h = math.Ceil(h)
	case "nearest":
		h = math.RoundToEven(h)
	case "midpoint":
		if h != math.Floor(h) {
			h = math.Floor(h) + 0.5
		}
	case "inverted_cdf": // type 1
		h = math.Ceil(nq) - 1
	case "averaged_inverted_cdf": // type 2
		h = math.Ceil(nq) - 1
		if nq == math.Floor(nq) && nq > 0 && nq < float64(n) {
			h = nq - 0.5
		}
	case "closest_observation": // type 3
		h = math.RoundToEven(nq) - 1
	case "interpolated_inverted_cdf": // type 4
		alpha, beta = 0, 1
	case "hazen": // type 5
		alpha, beta = 0.5, 0.5
	case "weibull": // type 6
	case "median_unbiased": // type 8
		alpha, beta = 1.0/3, 1.0/3
	case "normal_unbiased": // type 9
		alpha, beta = 3.0/8, 3.0/8
	}
	switch method {
	case "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased":
		h = nq + (alpha + q*(1-alpha-beta)) - 1
	}
	h = clamp(h)
	low = int(math.Floor(h))
	return low, min(low+1, n-1), h - math.Floor(h)
}

// between interpolates on the extended reals.
func between(x, y, weight float64) float64 {
	switch {
	case weight == 0 || x == y:
		return x
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return x + y
	}
	return x*(1-weight) + y*weight
}
