package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// reductionNames spells the reductions, by Reduction.
var reductionNames = [...]string{
	Sum: "sum", Prod: "prod", Min: "min", Max: "max", Any: "any", All: "all",
	Mean: "mean", Var: "var", Norm: "norm", Count: "count", LogSumExp: "logsumexp",
	ArgMin: "argmin", ArgMax: "argmax", Median: "median",
	Quantile: "quantile", NanQuantile: "nanquantile",
}

// scanNames spells the scans, by ScanOp.
var scanNames = [...]string{
	CumSum: "cumsum", CumProd: "cumprod", CumMin: "cummin", CumMax: "cummax",
	LogCumSumExp: "logcumsumexp", Sort: "sort", ArgSort: "argsort",
}

// assignNames spells the assignment operators, by AssignOp.
var assignNames = [...]string{
	Set: "=", AddTo: "+=", MulTo: "*=", MinTo: "min=", MaxTo: "max=", OrTo: "|=", AndTo: "&=",
}

// scanOptions are the words that a scan takes in brackets.
var scanOptions = []string{"exclusive", "reverse"}

// sortOptions are the words that a sort takes in brackets.
var sortOptions = []string{"descending", firstOption}

// firstOption is the option of sorts that keeps so many elements.
const firstOption = "first"

// quantileMethods are the words that a quantile takes in brackets: the
// interpolation rules of Hyndman and Fan (1996) under NumPy's names.
var quantileMethods = []string{
	"linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull",
	"median_unbiased", "normal_unbiased", "interpolated_inverted_cdf",
	"inverted_cdf", "averaged_inverted_cdf", "closest_observation",
}

// keywords are the words that name neither tensors nor indices.
var keywords = []string{"and", "or", "not", "in", "true", "false", "inf", "nan"}

// String returns the operator as it is written: "sum", "argmax", ….
func (r Reduction) String() string { return spelled(reductionNames[:], int(r), "Reduction") }

// String returns the operator as it is written: "cumsum", "logcumsumexp", ….
func (s ScanOp) String() string { return spelled(scanNames[:], int(s), "ScanOp") }

// String returns the operator as it is written: "=", "+=", "min=", ….
func (op AssignOp) String() string { return spelled(assignNames[:], int(op), "AssignOp") }

func spelled(names []string, i int, kind string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// foldKind tells the three forms of words like sum_j apart.
type foldKind uint8

const (
	notFold foldKind = iota
	reductionFold
	scanFold
	quantileFold
)

// foldKindOf classifies the operator part of a reduction word: "sum", "cumsum".
func foldKindOf(name string) foldKind {
	switch {
	case name == "quantile" || name == "nanquantile":
		return quantileFold
	case slices.Contains(reductionNames[:], name):
		return reductionFold
	case slices.Contains(scanNames[:], name):
		return scanFold
	}
	return notFold
}

// splitFold splits a reduction word into operator and index: "sum_j" into "sum"
// and "j", "sum_" into "sum" and "". The kind is notFold for any other word.
func splitFold(word string) (op, index string, kind foldKind) {
	op, index, found := strings.Cut(word, "_")
	if !found {
		return "", "", notFold
	}
	kind = foldKindOf(op)
	return op, index, kind
}

// typeNames maps the spelling of every element type to the type.
var typeNames = func() map[string]tensor.DType {
	m := make(map[string]tensor.DType)
	for dt := tensor.Bool; dt <= tensor.Complex128; dt++ {
		m[dt.String()] = dt
	}
	return m
}()

// forms are the words that look like functions and are not: their arguments have
// rules of their own.
var forms = []string{"where", storedWord, likeWord}

// isCallable says whether word followed by "(" is a call: a function, a type or
// a form like where, rather than a tensor.
func isCallable(word string) bool {
	if slices.Contains(forms, word) {
		return true
	}
	if _, ok := typeNames[word]; ok {
		return true
	}
	_, ok := Functions[word]
	return ok && isNameStart(firstRune(word))
}

// callables lists the words for which isCallable holds, sorted.
func callables() []string {
	list := slices.Clone(forms)
	for name := range typeNames {
		list = append(list, name)
	}
	for name := range Functions {
		if isNameStart(firstRune(name)) {
			list = append(list, name)
		}
	}
	list = slices.DeleteFunc(list, func(s string) bool { return slices.Contains(keywords, s) })
	slices.Sort(list)
	return list
}

// Reserved reports whether a word cannot name a tensor or an index.
func Reserved(word string) bool { return reservedAs(word) != "" }

// reservedAs says what a word means if it cannot name a tensor, or "".
func reservedAs(word string) string {
	switch {
	case slices.Contains(keywords, word):
		return "a reserved word"
	case slices.Contains(forms, word):
		return "a reserved word"
	case isCallable(word):
		if _, ok := typeNames[word]; ok {
			return "a type"
		}
		return "a function"
	}
	if op, _, kind := splitFold(word); kind != notFold {
		return "a word of the reduction " + op + "_"
	}
	return ""
}

// Words lists the words of the language, for tools that complete what is typed: functions with the parenthesis
// that follows them, reductions and scans with their underscore, and keywords.
func Words() []string {
	var list []string
	for name := range Functions {
		if isLetter(name[0]) && !slices.Contains(keywords, name) {
			list = append(list, name+"(")
		}
	}
	for _, name := range slices.Concat(reductionNames[:], scanNames[:]) {
		if name != "" {
			list = append(list, name+"_")
		}
	}
	list = append(list, keywords...)
	slices.Sort(list)
	return list
}

// isLetter reports whether a function's name begins as a name does, not as an operator.
func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }
