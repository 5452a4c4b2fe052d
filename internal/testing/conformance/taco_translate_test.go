package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file writes TACO's expressions in our language.

var (
	window  = regexp.MustCompile(`(\w+)\[(\d+):(\d+)(?::(\d+))?\]`)
	intDiv  = regexp.MustCompile(`\((i64\(\w+\([^()]*\)\)) / (i64\(\w+\([^()]*\)\))\)`)
	typeOf  = map[string]string{"double": "f64", "int64_t": "i64", "bool": "bool", "float": "f32", "int32_t": "i32"}
	compare = map[string]string{"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "==", "neq": "!="}
)

// translate writes a TACO expression in our language: casts, sums, comparison
// functions, truncating integer division (of numbers that are not negative) and
// windows differ.
func translate(expr string, booleanOps bool) string {
	if booleanOps {
		expr = strings.Replace(expr, "And(B(i,j), c(j))", "(B(i,j) and c(j))", 1)
		expr = strings.Replace(expr, "Or= ", "= any_j ", 1)
	}
	expr = windows(expr)
	lhs, op, rhs := splitAssignment(expr)
	return lhs + " " + op + " " + intDiv.ReplaceAllString(rewrite(rhs), "floordiv($1, $2)")
}

func splitAssignment(s string) (lhs, op, rhs string) {
	i := strings.Index(s, "=")
	op = "="
	lhs = s[:i]
	if strings.HasSuffix(lhs, "+") {
		lhs, op = lhs[:len(lhs)-1], "+="
	}
	return strings.TrimSpace(lhs), op, strings.TrimSpace(s[i+1:])
}

// windows turns i[lo:hi:step]. Where nothing is summed, every use of the index
// becomes a slice; else the index becomes affine and the summed one is cut off
// by a condition.
func windows(s string) string {
	length := map[string]int{}
	for _, m := range window.FindAllStringSubmatch(s, -1) {
		lo, hi, step := atoi(m[2]), atoi(m[3]), atoi(m[4])
		length[m[1]] = (hi - lo + step - 1) / step
	}
	if len(length) == 0 {
		return s
	}
	if !strings.Contains(s, "sum(") {
		for name, n := range length {
			plain := regexp.MustCompile(`([(,])` + name + `([,)])`)
			for plain.MatchString(s) {
				s = plain.ReplaceAllString(s, fmt.Sprintf("${1}0:%d${2}", n))
			}
		}
		return window.ReplaceAllStringFunc(s, func(w string) string { return w[strings.Index(w, "[")+1 : len(w)-1] })
	}
	s = window.ReplaceAllStringFunc(s, func(w string) string {
		m := window.FindStringSubmatch(w)
		return fmt.Sprintf("%d*%s+%s", atoi(m[4]), m[1], m[2])
	})
	sum := regexp.MustCompile(`sum\((\w+), (.*)\)$`)
	return sum.ReplaceAllStringFunc(s, func(w string) string {
		m := sum.FindStringSubmatch(w)
		return fmt.Sprintf("sum(%s, where(%s < %d, %s, 0))", m[1], m[1], length[m[1]], m[2])
	})
}

var indexSet = regexp.MustCompile(`(\w+)\{([\d,]+)\}`)

// indexSets turns i{1,3,5}, which visits the listed coordinates, into a gather
// through an operand that holds them.
func indexSets(t *testing.T, s string, args lacuna.Args) string {
	return indexSet.ReplaceAllStringFunc(s, func(w string) string {
		m := indexSet.FindStringSubmatch(w)
		var list []int64
		for _, n := range strings.Split(m[2], ",") {
			list = append(list, int64(atoi(n)))
		}
		set, err := tensor.FromDense([]int64{int64(len(list))}, tensor.Dense(1), tensor.ArrayOf(list))
		if err != nil {
			t.Fatal(err)
		}
		name := "set" + strings.ReplaceAll(m[2], ",", "_")
		args[name] = set
		return name + "(" + m[1] + ")"
	})
}

// atoi reads a number; an empty string, an omitted step, is 1.
func atoi(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// rewrite translates calls, innermost arguments included.
func rewrite(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && (s[j] == '_' || s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z' || j > i && s[j] >= '0' && s[j] <= '9') {
			j++
		}
		if j == i {
			b.WriteByte(s[i])
			i++
			continue
		}
		name := s[i:j]
		kind := ""
		if j < len(s) && s[j] == '<' && name == "cast" {
			end := strings.IndexByte(s[j:], '>') + j
			kind, j = typeOf[s[j+1:end]], end+1
		}
		if j >= len(s) || s[j] != '(' {
			b.WriteString(name)
			i = j
			continue
		}
		args, end := arguments(s, j)
		for k := range args {
			args[k] = rewrite(args[k])
		}
		switch {
		case kind != "":
			b.WriteString(kind + "(" + args[0] + ")")
		case name == "sum":
			b.WriteString("(sum_" + args[0] + " (" + args[1] + "))")
		case compare[name] != "":
			b.WriteString("(" + args[0] + " " + compare[name] + " " + args[1] + ")")
		case name == "not" || name == "Not":
			b.WriteString("(not " + args[0] + ")")
		default:
			b.WriteString(name + "(" + strings.Join(args, ",") + ")")
		}
		i = end
	}
	return b.String()
}

// arguments splits the parenthesised list that starts at s[open].
func arguments(s string, open int) (args []string, end int) {
	depth, start := 0, open+1
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return append(args, strings.TrimSpace(s[start:i])), i + 1
			}
		case ',':
			if depth == 1 {
				args = append(args, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	panic("unbalanced " + s)
}
