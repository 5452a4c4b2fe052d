package lang

// Code identifies a kind of error or warning. Codes are stable: docs/errors.md has an
// entry with an example for each.
type Code string

// The error codes. E1xx come from Parse, E2xx from Check, E3xx from Bind and
// E4xx from the stages behind.
const (
	ErrCharacter    Code = "E101"
	ErrNumber       Code = "E102"
	ErrSyntax       Code = "E103"
	ErrBrackets     Code = "E104"
	ErrTooLarge     Code = "E105"
	ErrTooDeep      Code = "E106"
	ErrEmpty        Code = "E107"
	ErrChained      Code = "E108"
	ErrAffine       Code = "E109"
	ErrSlice        Code = "E110"
	ErrOption       Code = "E111"
	ErrArguments    Code = "E112"
	ErrReservedName Code = "E113"

	ErrUnknownName    Code = "E201"
	ErrOutside        Code = "E202"
	ErrRank           Code = "E203"
	ErrDeclaration    Code = "E204"
	ErrBoundTwice     Code = "E205"
	ErrBoundLeft      Code = "E206"
	ErrNoExtent       Code = "E207"
	ErrLeftSide       Code = "E208"
	ErrStored         Code = "E209"
	ErrType           Code = "E210"
	ErrRange          Code = "E211"
	ErrGather         Code = "E212"
	ErrSliceLength    Code = "E213"
	ErrLossy          Code = "E214"
	ErrNoValue        Code = "E215"
	ErrMissingShape   Code = "E301"
	ErrShape          Code = "E302"
	ErrDisagree       Code = "E303"
	ErrFreeExtent     Code = "E304"
	ErrOutOfRange     Code = "E305"
	ErrEmptyReduction Code = "E306"
	ErrUnsupported    Code = "E401"
	ErrSchedule       Code = "E402"
	// Errors of derivation.
	ErrGradientOf        Code = "E501"
	ErrNotDifferentiable Code = "E502"
	ErrGradientForm      Code = "E503"
)

// The codes of warnings. W1xx are about what a program means, W2xx about what it costs.
const (
	WarnInnerSum  Code = "W101"
	WarnOldValue  Code = "W102"
	WarnWholeLoop Code = "W201"
)

// CodeInfo is one row of the table of codes.
type CodeInfo struct {
	Code  Code
	Title string
}

// Codes lists every code, of errors and warnings, with its title, in order.
func Codes() []CodeInfo {
	return []CodeInfo{
		{ErrCharacter, "character that no token starts with"},
		{ErrNumber, "malformed number"},
		{ErrSyntax, "unexpected token"},
		{ErrBrackets, "unbalanced brackets"},
		{ErrTooLarge, "program too large"},
		{ErrTooDeep, "expression nested too deeply"},
		{ErrEmpty, "empty program"},
		{ErrChained, "chained comparison"},
		{ErrAffine, "index that is not affine"},
		{ErrSlice, "malformed slice"},
		{ErrOption, "unknown or misplaced option"},
		{ErrArguments, "wrong number of arguments"},
		{ErrReservedName, "reserved word used as a name"},
		{ErrUnknownName, "unknown name"},
		{ErrOutside, "index used outside its reduction"},
		{ErrRank, "wrong number of indices"},
		{ErrDeclaration, "impossible declaration"},
		{ErrBoundTwice, "index bound twice"},
		{ErrBoundLeft, "index both on the left and reduced"},
		{ErrNoExtent, "index without an extent"},
		{ErrLeftSide, "index not allowed on the left"},
		{ErrStored, "no unique access to take stored coordinates from"},
		{ErrType, "operand type not allowed"},
		{ErrRange, "number does not fit its type"},
		{ErrGather, "gather through a tensor that is not integer"},
		{ErrSliceLength, "slices of different lengths"},
		{ErrLossy, "assignment would lose information"},
		{ErrNoValue, "update of a tensor that has no value"},
		{ErrMissingShape, "missing operand shape"},
		{ErrShape, "impossible shape"},
		{ErrDisagree, "extents disagree"},
		{ErrFreeExtent, "extent cannot be determined"},
		{ErrOutOfRange, "coordinate out of range"},
		{ErrEmptyReduction, "reduction over nothing"},
		{ErrUnsupported, "not supported yet"},
		{ErrSchedule, "schedule that cannot hold"},
		{ErrGradientOf, "no gradient with respect to this tensor"},
		{ErrNotDifferentiable, "not differentiable"},
		{ErrGradientForm, "form whose gradient is not supported"},
		{WarnInnerSum, "implied sum inside parentheses"},
		{WarnOldValue, "assignment that reads as an equation"},
		{WarnWholeLoop, "loop over a whole dimension"},
	}
}

// Title returns the title of code c, or "" for a code that does not exist.
func (c Code) Title() string {
	for _, info := range Codes() {
		if info.Code == c {
			return info.Title
		}
	}
	return ""
}
