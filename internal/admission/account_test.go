package admission

import (
	"math"
	"testing"
)

func TestAccount(t *testing.T) {
	machine := func() Machine {
		return Machine{1 << 40, "T", 1 << 30, "A", math.MaxInt64, ""}
	}
	for _, tt := range []struct {
		name   string
		option int64
		steps  []int64 // sizes, negative if they must be refused
		limit  int64
	}{
		{"small runs do not look at the machine", 0, []int64{1 << 20, 63 << 20}, FreeAllowance},
		{"default", 0, []int64{1 << 26, 3 << 28, -1}, 1<<26 + 3<<28},
		{"default, refused", 0, []int64{-(3<<28 + 1), 3 << 28}, 3 << 28},
		{"small option", 100, []int64{60, 40, -1}, 100},
		{"large option", 1 << 35, []int64{1 << 35, -1}, 1 << 35},
		{"option beyond the machine", math.MaxInt64, []int64{-(1<<40 + 1), 1 << 40}, 1 << 40},
		{"no overflow", math.MaxInt64, []int64{1 << 30, -math.MaxInt64}, 1 << 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c Account
			c.Open(tt.option)
			for _, size := range tt.steps {
				want := size >= 0
				if got := c.Reserve(max(size, -size), tt.option, machine); got != want {
					t.Errorf("reserve(%d) = %v with %d of %d in use", max(size, -size), got, c.InUse, c.Limit)
				}
			}
			if c.Limit != tt.limit {
				t.Errorf("limit %d, want %d", c.Limit, tt.limit)
			}
		})
	}
}
