// Package cost has the numbers by which one way to compute is weighed against another: the optimiser (ir/logic), the planner (ir/plan), the runtime
// (runtime/exec, runtime/convert) and conversions (lower/convert) read them here, and nowhere else.
//
// Times are what one step of each kind takes on a processor. Those that are built in are the same on every machine. lacuna doctor --measure
// measures them on one, and what was measured decides only what leaves the bits of results as they are: limits.go. What changes the order of sums, in
// which order products are associated and loops stand, follows from the built-in times and from the weights of plan.go alone, so that two machines agree.
package cost

import "math"

// Times are what steps take, in nanoseconds.
type Times struct {
	Step   float64 // an iteration of a loop over entries that multiplies and adds
	Vector float64 // one of an innermost loop over consecutive elements
	Merge  float64 // an iteration where the entries of several operands are merged
	Insert float64 // an iteration that inserts into a table of hashed keys
	Seek   float64 // finding an entry of one operand among those of another by galloping
	Clear  float64 // a place of a table or a workspace that is cleared
	// Random is an access to a random place, by the size of what is accessed: see Sets.
	Random  [len(Sets)]float64
	Move    float64 // an entry stored in another order, by a kernel
	Restore float64 // the same without a kernel
	Compile float64 // compiling a kernel for a conversion
	Wake    float64 // waking a thread
	Launch  float64 // starting a grid on a GPU
}

// Sets are the sizes in bytes for which Random is known: what the first, the second and the last cache usually hold, and what none does.
var Sets = [...]float64{16 << 10, 512 << 10, 8 << 20, 128 << 20}

// Builtin are the times that hold everywhere.
func Builtin() Times {
	return Times{
		Step: 1, Vector: 0.3, Merge: 3, Insert: 5, Seek: 32, Clear: 0.125,
		Random: [...]float64{1, 2, 5, 20},
		Move:   6, Restore: 56, Compile: 50 << 20, Wake: 1 << 14, Launch: 5000,
	}
}

// RandomIn is the time of an access to a random place of so many bytes.
func (t *Times) RandomIn(bytes float64) float64 {
	if bytes <= Sets[0] {
		return t.Random[0]
	}
	for k := 1; k < len(Sets); k++ {
		if bytes <= Sets[k] {
			part := math.Log(bytes/Sets[k-1]) / math.Log(Sets[k]/Sets[k-1])
			return t.Random[k-1] + part*(t.Random[k]-t.Random[k-1])
		}
	}
	return t.Random[len(Sets)-1]
}

// Row is a line of the table: a time by name.
type Row struct {
	Name, What string
	Time       float64
}

// Rows are the times by name, in the order in which they are printed.
func (t *Times) Rows() []Row {
	var rows []Row
	for _, f := range fields {
		rows = append(rows, Row{f.name, f.what, *f.of(t)})
	}
	return rows
}

// Set replaces a time; false if there is none of that name.
func (t *Times) Set(name string, time float64) bool {
	for _, f := range fields {
		if f.name == name {
			*f.of(t) = time
			return true
		}
	}
	return false
}

// Sane reports whether all times are those that a machine can have: they were measured, and not while it slept.
func (t *Times) Sane() bool {
	for i, row := range t.Rows() {
		usual := *fields[i].of(&usual)
		if math.IsNaN(row.Time) || row.Time < usual/sanity || row.Time > usual*sanity {
			return false
		}
	}
	return true
}

// sanity is how many times as fast or slow as usual a machine may be.
const sanity = 1000

var usual = Builtin()

// fields are the times that Rows lists.
var fields = []struct {
	name, what string
	of         func(*Times) *float64
}{
	{"step", "an iteration over entries", func(t *Times) *float64 { return &t.Step }},
	{"vector", "one over consecutive elements", func(t *Times) *float64 { return &t.Vector }},
	{"merge", "one that merges entries of two operands", func(t *Times) *float64 { return &t.Merge }},
	{"insert", "one that inserts into a hash table", func(t *Times) *float64 { return &t.Insert }},
	{"seek", "finding an entry by galloping", func(t *Times) *float64 { return &t.Seek }},
	{"clear", "clearing a place of a workspace", func(t *Times) *float64 { return &t.Clear }},
	{"random-16k", "a random access within 16 KiB", func(t *Times) *float64 { return &t.Random[0] }},
	{"random-512k", "within 512 KiB", func(t *Times) *float64 { return &t.Random[1] }},
	{"random-8m", "within 8 MiB", func(t *Times) *float64 { return &t.Random[2] }},
	{"random-128m", "within 128 MiB", func(t *Times) *float64 { return &t.Random[3] }},
	{"move", "storing an entry in another order, by a kernel", func(t *Times) *float64 { return &t.Move }},
	{"restore", "the same without a kernel", func(t *Times) *float64 { return &t.Restore }},
	{"compile", "compiling a kernel for that", func(t *Times) *float64 { return &t.Compile }},
	{"wake", "waking a thread", func(t *Times) *float64 { return &t.Wake }},
	{"launch", "starting a grid on a GPU", func(t *Times) *float64 { return &t.Launch }},
}
