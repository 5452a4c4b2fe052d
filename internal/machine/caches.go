package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// CachesEnv is the environment variable that says how large the caches are, such as
// "L1=32KiB,L2=512KiB,L3=16MiB"; what it leaves out is as the machine says.
const CachesEnv = "LACUNA_CACHES"

// Caches are the sizes in bytes of a processor's own data caches, and of the one that it shares with
// others. What no machine says is taken to be small: too small costs little where too large costs misses.
type Caches struct {
	L1, L2 int64
	L3     int64 // 0: there is none
	Shared int   // by how many processors L3 is at most
}

// Share is what each of so many threads has of the cache that they share, 0 where there is none; no threads
// are as many as there are processors.
func (c Caches) Share(threads int) int64 {
	most := max(c.Shared, 1)
	if threads <= 0 {
		threads = most
	}
	return c.L3 / int64(min(threads, most))
}

// smallest are the caches of a machine that does not tell.
var smallest = Caches{L1: 32 << 10, L2: 512 << 10}

// HostCaches are the caches of this machine, as CachesEnv corrects them. An error, a *SettingError, is one in
// that variable; the sizes are then the machine's.
var HostCaches = sync.OnceValues(func() (Caches, error) {
	found := readCaches()
	asked, err := found.with(os.Getenv(CachesEnv))
	if err != nil {
		return found, err
	}
	return asked, nil
})

// with is c with the sizes that a text in the syntax of CachesEnv gives.
func (c Caches) with(text string) (Caches, error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		size, err := units.ParseBytes(value)
		to := map[string]*int64{"L1": &c.L1, "L2": &c.L2, "L3": &c.L3}[strings.ToUpper(strings.TrimSpace(name))]
		if to == nil || err != nil {
			return c, &SettingError{CachesEnv, text, fmt.Sprintf(": %q is no cache and size: write L1=32KiB,L2=512KiB,L3=16MiB or some of these", part)}
		}
		*to = size
	}
	return c, nil
}

// take makes the cache of a level one of so many bytes, which so many processors share.
func (c *Caches) take(level int, bytes int64, shared int) {
	to := map[int]*int64{1: &c.L1, 2: &c.L2, 3: &c.L3}[level]
	if to == nil || bytes <= 0 {
		return
	}
	if *to = bytes; level == 3 {
		c.Shared = max(min(shared, runtime.NumCPU()), 1)
	}
}

func (c Caches) String() string {
	own := fmt.Sprintf("L1 %s, L2 %s", units.FormatBytes(c.L1), units.FormatBytes(c.L2))
	if c.L3 == 0 {
		return own
	}
	return fmt.Sprintf("%s, L3 %s for %d", own, units.FormatBytes(c.L3), max(c.Shared, 1))
}
