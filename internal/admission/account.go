package admission

import (
	"fmt"
	"math"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// FreeAllowance is what may be allocated before the machine's memory is
// looked at, which costs a few tenths of a millisecond, when no explicit limit is set.
const FreeAllowance = 64 << 20

// allowance is FreeAllowance, or less where the machine or a limit around the process has little: then even small
// requests are worth a look.
var allowance = sync.OnceValue(func() int64 { return min(FreeAllowance, Read().Total/64) })

// Option is the source of a limit that the caller gave.
const Option = "option WithMemoryLimit"

// Account counts memory against a limit. It is for one goroutine.
type Account struct {
	InUse   int64
	Limit   int64
	Source  string // of the limit
	Settled bool   // the machine has been looked at
}

// Open starts an account for whom the option, if it is not 0, gives a limit.
func (c *Account) Open(option int64) {
	*c = Account{Limit: allowance(), Source: "small requests"}
	if option > 0 && option <= c.Limit {
		*c = Account{Limit: option, Source: Option, Settled: true}
	}
}

// Reserve adds bytes to the account if they fit, and says whether they did.
func (c *Account) Reserve(bytes, option int64, machine func() Machine) bool {
	if !c.Fits(bytes) && !c.Settled {
		c.Settle(option, machine())
	}
	if !c.Fits(bytes) {
		return false
	}
	c.InUse += bytes
	return true
}

// Fits reports whether bytes more are within the limit as it is known.
func (c *Account) Fits(bytes int64) bool { return bytes <= c.Limit-c.InUse }

// Settle sets the limit for good. Without an option it is three quarters of
// what is available now, on top of what is in use. With one, it is that,
// but never more than the machine has, nor more than the limits leave beyond which the system ends the process: seven
// eighths of that, as the heap grows in large steps.
func (c *Account) Settle(option int64, m Machine) {
	c.Settled = true
	switch {
	case option <= 0:
		c.Limit = saturatingAdd(c.InUse, m.Available/4*3)
		c.Source = "three quarters of the memory available, from " + m.AvailableSource
		return
	case option > m.Total:
		c.Limit, c.Source = m.Total, "all memory of the machine, from "+m.TotalSource
	default:
		c.Limit, c.Source = option, Option
	}
	if left := saturatingAdd(c.InUse, m.Hard/8*7); left < c.Limit {
		c.Limit, c.Source = left, "what is left of "+m.HardSource
	}
}

// saturatingAdd adds two numbers that are not negative.
func saturatingAdd(x, y int64) int64 {
	if x > math.MaxInt64-y {
		return math.MaxInt64
	}
	return x + y
}

// Error refuses a request.
type Error struct {
	Need   int64 // bytes asked for
	InUse  int64 // bytes that the caller has already
	Limit  int64
	Source string // where the limit comes from
}

// Error names the size, the limit and where the limit comes from.
func (e *Error) Error() string {
	s := "it takes " + units.FormatBytes(e.Need)
	if e.InUse > 0 {
		s += fmt.Sprintf(" on top of %s in use", units.FormatBytes(e.InUse))
	}
	return fmt.Sprintf("%s; the memory limit is %s (%s)", s, units.FormatBytes(e.Limit), e.Source)
}

// Admit is nil if bytes more may be allocated for whom the option, if it is not 0, gives a limit; then they count in the account. Else it
// is an [*Error].
func (c *Account) Admit(bytes, option int64) error {
	if c.Reserve(bytes, option, Read) {
		return nil
	}
	return &Error{Need: bytes, InUse: c.InUse, Limit: c.Limit, Source: c.Source}
}
