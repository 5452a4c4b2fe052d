package tensor

import (
	"errors"
	"fmt"
	"strings"
)

// LevelFlags say what the coordinates of a level may be that they are not in a standard
// format, where they ascend and do not repeat. A flag allows, it does not promise: sorted
// arrays fit a format that is flagged unsorted.
type LevelFlags uint8

const (
	// Unsorted coordinates need not ascend under their parent. In a run of S
	// levels the first carries the flag, for the tuples of the run and of the DC
	// that may close it.
	Unsorted LevelFlags = 1 << iota
	// Duplicates on the last level before the D levels make a multigraph: a
	// coordinate may have several values. If that level is S, it repeats the
	// coordinate; if it is C or DC, it has pointers that group the values. On a DC
	// level before others it says that a coordinate may have several positions, as
	// in the balanced CSF of Nisa et al. (arXiv 1904.03329), which splits long
	// fibres.
	Duplicates
	allFlags = Unsorted | Duplicates
)

// flagNames holds the name of each flag, by its bit.
var flagNames = [...]string{"unsorted", "duplicates"}

// String lists the flags with commas, such as "unsorted,duplicates"; "" if there is none.
func (f LevelFlags) String() string {
	var names []string
	for bit, name := range flagNames {
		if f>>bit&1 != 0 {
			names = append(names, name)
		}
	}
	if f > allFlags {
		names = append(names, fmt.Sprintf("LevelFlags(%#x)", uint8(f&^allFlags)))
	}
	return strings.Join(names, ",")
}

// FormatWith is [FormatOf] with flags, one for each level; nil flags are none. A final C or
// DC level, which FormatOf refuses, needs [Duplicates]. It is an error if a flag stands
// on a level that it says nothing of: Unsorted on any but the first level of a run of S,
// or a DC; Duplicates on a C level that others follow, or within a run; either on D.
func FormatWith(levels []LevelKind, order []int, flags []LevelFlags) (Format, error) {
	if flags == nil {
		flags = make([]LevelFlags, len(levels))
	}
	if len(flags) != len(levels) {
		return Format{}, fmt.Errorf("%d flags are given for %d levels", len(flags), len(levels))
	}
	f, err := formatOf(levels, order, flags)
	if err != nil {
		return Format{}, err
	}
	if err := f.placeFlags(flags); err != nil {
		return Format{}, err
	}
	return f, nil
}

// placeFlags sets the flags, or says which is out of place.
func (f *Format) placeFlags(flags []LevelFlags) error {
	packed := make([]byte, len(flags))
	runs, physical := f.segments(), f.Physical()
	for k, flag := range flags {
		packed[k] = byte(flag)
		kind := LevelKind(f.levels[k])
		inRun := false // within a segment but not its first level
		closes := true
		for _, run := range runs {
			if run.first <= k && k <= run.last {
				inRun, closes = k > run.first, k == run.last
			}
		}
		switch {
		case flag > allFlags:
			return fmt.Errorf("level %d has the flag %v, which there is not", k, flag)
		case flag == 0:
		case kind.registered():
			return fmt.Errorf("level %d is %v: flags are for S, C and DC levels", k, kind)
		case k >= f.SparseRank():
			return fmt.Errorf("level %d is D: flags are for the levels before the D levels", k)
		case flag&Unsorted != 0 && physical[k].Full():
			return fmt.Errorf("level %d is C, which has every coordinate in order: it cannot be unsorted", k)
		case flag&Unsorted != 0 && inRun:
			return fmt.Errorf("level %d continues a run of S levels: the first of them carries the flag unsorted", k)
		case flag&Duplicates != 0 && physical[k].Full() && k+1 < f.SparseRank():
			return fmt.Errorf("level %d is C before %v: only a last C level may have the flag duplicates", k, LevelKind(f.levels[k+1]))
		case flag&Duplicates != 0 && !closes:
			return fmt.Errorf("level %d is in a run of S levels, where coordinates repeat anyway: the last level of the run carries the flag duplicates", k)
		}
	}
	f.flags = strings.TrimRight(string(packed), "\x00")
	return nil
}

// Flag returns the format with more flags on a level.
func (f Format) Flag(level int, flags LevelFlags) (Format, error) {
	if level < 0 || level >= f.Rank() {
		return Format{}, fmt.Errorf("there is no level %d: format %v has %d levels", level, f, f.Rank())
	}
	all := f.Flags()
	all[level] |= flags
	return FormatWith(f.Levels(), f.Order(), all)
}

// Flags returns the flags of each level.
func (f Format) Flags() []LevelFlags {
	flags := make([]LevelFlags, f.Rank())
	for k := range flags {
		flags[k] = f.flag(k)
	}
	return flags
}

// flag is the flags of level k.
func (f Format) flag(k int) LevelFlags {
	if k < len(f.flags) {
		return LevelFlags(f.flags[k])
	}
	return 0
}

// Relaxed reports whether any level has a flag. Kernels take standard formats only:
// operands in others are stored again before use.
func (f Format) Relaxed() bool { return f.flags != "" }

// Multigraph reports whether a coordinate may have several values.
func (f Format) Multigraph() bool {
	return f.Relaxed() && f.flag(f.SparseRank()-1)&Duplicates != 0
}

// unique reports whether no coordinate can have several values.
func (f Format) unique() bool {
	for k := range f.flags {
		if f.flag(k)&Duplicates != 0 {
			return false
		}
	}
	return true
}

// ascends reports whether stored entries ascend in the order of the levels.
func (f Format) ascends() bool {
	last := f.SparseRank() - 1
	for k := range f.flags {
		if f.flag(k)&Unsorted != 0 || f.flag(k)&Duplicates != 0 && k < last {
			return false
		}
	}
	return true
}

// splits reports whether level k may have several positions for one coordinate, each with
// some of its children.
func (f Format) splits(k int) bool {
	return k+1 < f.SparseRank() && f.flag(k)&Duplicates != 0
}

// unsplit is the format without the flags of levels that split.
func (f Format) unsplit() Format {
	packed := []byte(f.flags)
	for k := range packed {
		if f.splits(k) {
			packed[k] &^= byte(Duplicates)
		}
	}
	f.flags = strings.TrimRight(string(packed), "\x00")
	return f
}

// Allows reports whether arrays in format g are arrays in format f: the levels are the
// same, and f has the flags that g has.
func (f Format) Allows(g Format) bool {
	if f.levels != g.levels || f.order != g.order {
		return false
	}
	for k := range g.flags {
		if g.flag(k)&^f.flag(k) != 0 {
			return false
		}
	}
	return true
}

// parseFlags reads "unsorted,duplicates", or with a plus for the comma.
func parseFlags(text string) (LevelFlags, error) {
	var flags LevelFlags
	// Where a comma would end an argument, as on the command line, a plus does.
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.ToLower(text), "+", ","), ",") {
		found := false
		for bit, name := range flagNames {
			if strings.TrimSpace(part) == name {
				flags |= 1 << bit
				found = true
			}
		}
		if !found {
			return 0, errors.New(didYouMean(strings.TrimSpace(strings.ToLower(part)), flagNames[:], "the flags of a level are unsorted and duplicates"))
		}
	}
	return flags, nil
}

// flagAll sets flags on a whole format: unsorted on every level that can be, duplicates on
// the last before the D levels.
func (f Format) flagAll(flags LevelFlags) (Format, error) {
	all := f.Flags()
	if flags&Unsorted != 0 {
		for _, run := range f.segments() {
			all[run.first] |= Unsorted
		}
	}
	if n := f.SparseRank(); flags&Duplicates != 0 && n > 0 {
		all[n-1] |= Duplicates
	}
	g, err := FormatWith(f.Levels(), f.Order(), all)
	if err == nil && g == f && flags != 0 {
		return Format{}, fmt.Errorf("format %v has no level that could be %v", f, flags)
	}
	return g, err
}
