package tensor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// namedFormat is a format with a name of its own.
type namedFormat struct {
	name   string // upper case
	rank   int    // the one rank it has, or -1 for any
	format func(rank int) Format
	// free says that the name fixes levels only, and an order may follow it.
	free bool
}

func fixed(f Format) func(int) Format { return func(int) Format { return f } }

// namedFormats lists the names ParseFormat reads. The first name of a format
// is the one String writes.
var namedFormats = []namedFormat{
	{"S", 1, CSF, false},
	{"CSR", 2, fixed(CSR), false},
	{"CSC", 2, fixed(CSC), false},
	{"DCSR", 2, fixed(DCSR), false},
	{"DCSC", 2, fixed(DCSC), false},
	{"COO", 2, fixed(COO), true},
	{"COOC", 2, fixed(COOC), false},
	{"D", -1, Dense, true},
	{"DMATC", 2, fixed(mustStack([]int{1, 0}, Dense(2))), false},
	{"CSF", -1, CSF, true},
	{"COO", -1, Coordinates, true},
	{"COOR", 2, fixed(COO), false},
	{"SSR", 2, fixed(COO), false},
	{"SSC", 2, fixed(COOC), false},
	{"CVEC", 1, CSF, false},
	{"DVEC", 1, Dense, false},
	{"DMAT", 2, Dense, false},
	{"DMATR", 2, Dense, false},
	{"DENSE", -1, Dense, true},
}

// formatHelp is what an error about an unknown format says is accepted.
const formatHelp = "formats are CSR, CSC, DCSR, DCSC, COO, COOC, CSF, D (dense), levels such as C-DC-S with an optional order such as -R, -C or [2,0,1], or TACO letters such as ds"

// String returns the format as ParseFormat reads it for the same rank: a name
// such as "CSR", "CSF" or "D" where there is one, else the levels with hyphens
// and, if it is not 0, 1, 2, …, the order: "C-DC-S", "C-DC-S-C", "S-S-S[1,0,2]".
// Flags follow their level: "C-S(duplicates)".
func (f Format) String() string {
	for _, n := range namedFormats {
		if (n.rank == f.Rank() || n.rank < 0) && n.format(f.Rank()) == f {
			return n.name
		}
	}
	spelled := make([]string, f.Rank())
	for k, kind := range f.Levels() {
		spelled[k] = kind.String()
		if flags := f.flag(k); flags != 0 {
			spelled[k] += "(" + flags.String() + ")"
		}
	}
	return strings.Join(spelled, "-") + orderSuffix(f.Order())
}

// orderSuffix spells an axis order after the levels.
func orderSuffix(order []int) string {
	ascending := identity(len(order))
	if slices.Equal(order, ascending) {
		return ""
	}
	slices.Reverse(ascending)
	if slices.Equal(order, ascending) {
		return "-C"
	}
	parts := make([]string, len(order))
	for k, axis := range order {
		parts[k] = strconv.Itoa(axis)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// ParseFormat reads a format for tensors of the given rank, or of whatever
// rank the text itself fixes if rank is -1. It reads
//
//   - names: CSR CSC DCSR DCSC COO COOR COOC SSR SSC CSF CVEC DVEC DMAT DMATR
//     DMATC, D or "dense" (COO, CSF and D for every rank);
//   - levels with hyphens: C-DC-S-S, each with its flags: C-S(unsorted,duplicates);
//   - TACO's lower-case letters: ds, ss, dss, dd, where a d that only d's
//     follow is D, another d is C, and s is DC, or S at the end;
//
// with an order after levels, letters, COO, CSF or D: R (0, 1, …, n-1), C
// (n-1, …, 0) or a list: C-DC-S-C, CSF[2,0,1]. Flags after a name are those of the
// whole: COO(unsorted). Case does not matter but for TACO's letters. The error is a
// [*ParseError].
func ParseFormat(s string, rank int) (Format, error) {
	f, err := parseFormat(strings.TrimSpace(s), rank)
	if err != nil {
		err.Text = s
		return Format{}, err
	}
	if rank >= 0 && f.Rank() != rank {
		return Format{}, &ParseError{
			Text: s, Msg: fmt.Sprintf("a tensor of rank %d cannot have the format", rank),
			Hint: fmt.Sprintf("that is for rank %d; write one level for each dimension, such as %s", f.Rank(), exampleFormat(rank)),
		}
	}
	return f, nil
}

// exampleFormat spells a sparse format of a rank, for messages.
func exampleFormat(rank int) string {
	switch rank {
	case 0:
		return "D"
	case 1:
		return "S or D"
	case 2:
		return "CSR, COO or D"
	}
	if rank > MaxRank {
		return "D"
	}
	return mustStack(nil, Dense(1), CSF(rank-1)).String() + ", CSF or D"
}

// parseFormat does ParseFormat's work except to compare ranks and to name the
// text in the error.
func parseFormat(s string, rank int) (Format, *ParseError) {
	if rank > MaxRank {
		return Format{}, &ParseError{Msg: fmt.Sprintf("a tensor of rank %d has no format", rank), Hint: fmt.Sprintf("ranks are at most %d", MaxRank)}
	}
	base, order, err := cutOrder(s)
	if err != nil {
		return Format{}, err
	}
	if isTACO(base) && base != "d" {
		f, err := Stack(order, tacoLevels(base)...)
		return f, notFormat(err)
	}
	name, flags, err := cutFlags(base)
	if err != nil {
		return Format{}, err
	}
	if f, found, err := lookupName(name, order, rank); found {
		if err != nil || flags == 0 {
			return f, err
		}
		return withFlags(f, flags)
	}
	// COO-C, CSF-R and D-C: a free name with an order of one letter.
	if name, letter, ok := cutLast(base, "-·"); ok && order == nil {
		if f, found, err := lookupFree(name, letter, rank); found {
			return f, err
		}
	}
	levels, levelFlags, letter, err := spelledLevels(base)
	if err != nil {
		return Format{}, err
	}
	if letter != 0 && order != nil {
		return Format{}, &ParseError{Msg: "two axis orders in the format", Hint: "write one of " + string(letter) + " and the list in brackets"}
	}
	if letter == 'C' {
		order = identity(len(levels))
		slices.Reverse(order)
	}
	f, e := FormatWith(levels, order, levelFlags)
	return f, notFormat(e)
}

// withOrder is FormatOf with its error as a ParseError.
func withOrder(levels []LevelKind, order []int) (Format, *ParseError) {
	f, err := FormatOf(levels, order)
	return f, notFormat(err)
}

// withFlags is flagAll with its error as a ParseError.
func withFlags(f Format, flags LevelFlags) (Format, *ParseError) {
	f, err := f.flagAll(flags)
	return f, notFormat(err)
}

// notFormat is an error as a ParseError; nil for nil.
func notFormat(err error) *ParseError {
	if err == nil {
		return nil
	}
	return &ParseError{Msg: "not a format", Hint: err.Error()}
}

// cutFlags splits flags in parentheses off a name.
func cutFlags(s string) (name string, flags LevelFlags, err *ParseError) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return s, 0, nil
	}
	list, closed := strings.CutSuffix(s[open+1:], ")")
	if strings.ContainsAny(list, "()") {
		return s, 0, nil // of several levels
	}
	if !closed && strings.ContainsAny(list, "-·") {
		return s, 0, nil
	}
	flags, e := parseFlags(list)
	if !closed || e != nil {
		hint := "close the parenthesis"
		if e != nil {
			hint = e.Error()
		}
		return "", 0, &ParseError{Msg: "bad flags in the format", Hint: hint}
	}
	return s[:open], flags, nil
}

// cutOrder splits a trailing "[1,3,0,2]" off.
func cutOrder(s string) (base string, order []int, err *ParseError) {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		return s, nil, nil
	}
	list, closed := strings.CutSuffix(s[open+1:], "]")
	base = strings.TrimRight(s[:open], "-· ")
	order = []int{}
	for part := range strings.SplitSeq(list, ",") {
		axis, e := strconv.Atoi(strings.TrimSpace(part))
		if !closed || e != nil || len(order) == MaxRank {
			return "", nil, &ParseError{Msg: "bad axis order in the format", Hint: "write one axis number for each level in brackets, such as [1,0]"}
		}
		order = append(order, axis)
	}
	return base, order, nil
}

// cutLast splits at the last of the separators.
func cutLast(s, separators string) (before, after string, ok bool) {
	i := strings.LastIndexAny(s, separators)
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimLeft(s[i:], separators), true
}

// lookupName finds a named format of the rank, with an order if its name
// leaves that open.
func lookupName(name string, order []int, rank int) (f Format, found bool, err *ParseError) {
	upper := strings.ToUpper(name)
	if rank < 0 && order != nil {
		rank = len(order)
	}
	i := slices.IndexFunc(namedFormats, func(n namedFormat) bool {
		return n.name == upper && (n.rank == rank || n.rank < 0 || rank < 0)
	})
	if i < 0 {
		// A name of another rank: take it, for the caller to say so.
		i = slices.IndexFunc(namedFormats, func(n namedFormat) bool { return n.name == upper })
	}
	if i < 0 {
		return Format{}, false, nil
	}
	n := namedFormats[i]
	switch {
	case n.rank >= 0:
		rank = n.rank
	case rank < 0:
		return Format{}, true, &ParseError{Msg: "unknown rank for the format", Hint: "that name fits every rank; write one level for each dimension instead, such as DC-DC-S or D-D"}
	}
	f = n.format(rank)
	if order == nil {
		return f, true, nil
	}
	if !n.free {
		return Format{}, true, &ParseError{Msg: "two axis orders in the format", Hint: fmt.Sprintf("%s fixes the order; write the levels, such as C-S[1,0]", n.name)}
	}
	f, err = withOrder(f.Levels(), order)
	return f, true, err
}

// lookupFree finds a named format that leaves the order open, in order R or C.
func lookupFree(name, letter string, rank int) (f Format, found bool, err *ParseError) {
	letter = strings.ToUpper(letter)
	free := slices.ContainsFunc(namedFormats, func(n namedFormat) bool {
		return n.free && n.name != "D" && n.name == strings.ToUpper(name)
	})
	if !free || letter != "R" && letter != "C" {
		return Format{}, false, nil
	}
	f, _, err = lookupName(name, nil, rank)
	if err != nil || letter == "R" {
		return f, true, err
	}
	order := identity(f.Rank())
	slices.Reverse(order)
	f, err = withOrder(f.Levels(), order)
	return f, true, err
}

// isTACO reports whether s is written in TACO's letters.
func isTACO(s string) bool { return s != "" && strings.Trim(s, "ds") == "" }

// tacoLevels translates TACO's letters, level by level: d dense, s compressed.
func tacoLevels(s string) []Format {
	parts := make([]Format, len(s))
	for k := range s {
		if parts[k] = CSF(1); s[k] == 'd' {
			parts[k] = Dense(1)
		}
	}
	return parts
}

// spelledLevels reads levels with hyphens, or S and C letters without, and the
// order letter that may follow. Since the last level is never C or R, such a
// last part is an order.
func spelledLevels(s string) (levels []LevelKind, flags []LevelFlags, order byte, err *ParseError) {
	parts := strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return r == '-' || r == '·' })
	if len(parts) == 1 && strings.Trim(parts[0], "SCR") == "" {
		parts = strings.Split(parts[0], "")
	}
	if n := len(parts); n > 1 && (parts[n-1] == "R" || parts[n-1] == "C") {
		order = parts[n-1][0]
		parts = parts[:n-1]
	}
	for _, part := range parts {
		name, flag, err := cutFlags(part)
		if err != nil {
			return nil, nil, 0, err
		}
		kind := slices.Index(levelKindNames, name)
		if kind < 0 {
			return nil, nil, 0, &ParseError{Msg: "unknown format", Hint: unknownFormatHint(s)}
		}
		levels, flags = append(levels, LevelKind(kind)), append(flags, flag)
	}
	if levels == nil {
		return nil, nil, 0, &ParseError{Msg: "unknown format", Hint: formatHelp}
	}
	return levels, flags, order, nil
}

// unknownFormatHint looks for the name that was meant.
func unknownFormatHint(s string) string {
	names := make([]string, len(namedFormats))
	for i, n := range namedFormats {
		names[i] = n.name
	}
	return didYouMean(strings.ToUpper(s), names, formatHelp)
}
