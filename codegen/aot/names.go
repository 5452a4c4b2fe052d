package aot

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// NameError is a name that no kernel can have.
type NameError struct{ Name string }

// Error says what names are.
func (e *NameError) Error() string {
	return fmt.Sprintf("%q cannot name a kernel: a name is letters of ASCII, digits and _, does not begin with a digit or lacuna_, and is no word of C", e.Name)
}

// CheckName reports a name that no kernel can have: it becomes the name of a C function.
func CheckName(name string) error {
	reserved := strings.HasPrefix(name, "lacuna_") || strings.HasPrefix(name, "LACUNA_") || strings.HasPrefix(name, "__")
	for _, word := range keywords {
		reserved = reserved || name == word
	}
	if !isIdentifier(name) || reserved {
		return &NameError{name}
	}
	return nil
}

// functionName is the LLVM name of a stage's function.
func functionName(p *Program, stage int) string {
	return fmt.Sprintf("%s_%d_%s", p.Name, stage, loop.CleanName(p.Loops.Stages[stage].Func.Name))
}

// isIdentifier reports whether a name is an identifier of C and of LLVM.
func isIdentifier(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// keywords are the words of C and C++ that name nothing else.
var keywords = strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
class compl const constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
xor_eq main`)
