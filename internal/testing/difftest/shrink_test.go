package difftest

import "slices"

// This file makes the choices of a program that fails fewer and smaller.

// recorder notes the choices of a source.
type recorder struct {
	Source
	choices []int
}

func (r *recorder) Intn(n int) int {
	v := r.Source.Intn(n)
	r.choices = append(r.choices, v)
	return v
}

// replay takes choices from a list, and zeros when it runs out.
type replay struct{ choices []int }

func (r *replay) Intn(n int) int {
	if len(r.choices) == 0 {
		return 0
	}
	v := r.choices[0]
	r.choices = r.choices[1:]
	return v % n
}

// shrink makes a list of choices shorter and smaller while what they make still
// fails, with a bounded number of trials.
func shrink(choices []int, fails func([]int) bool) []int {
	trials := 2000
	try := func(c []int) bool {
		if trials--; trials < 0 || !fails(c) {
			return false
		}
		choices = c
		return true
	}
	for before := -1; before != trials && trials > 0; {
		before = trials
		progress := false
		for size := max(len(choices)/2, 1); size >= 1; size /= 2 {
			for at := 0; at+size <= len(choices) && trials > 0; {
				if try(slices.Delete(slices.Clone(choices), at, at+size)) {
					progress = true
				} else {
					at += size
				}
			}
		}
		for at := 0; at < len(choices) && trials > 0; at++ {
			for _, v := range []int{0, choices[at] / 2, choices[at] - 1} {
				if v < 0 || v >= choices[at] {
					continue
				}
				c := slices.Clone(choices)
				c[at] = v
				if try(c) {
					progress = true
					break
				}
			}
		}
		if !progress {
			break
		}
	}
	return choices
}
