package ondisk

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/machine"
)

// Limits are those by which choices are made here that leave the bits of results as they are: they follow from the times measured on this machine, or else from those that are built in.
// They are found once, so that a process keeps to its choices.
var Limits = sync.OnceValue(func() *cost.Limits {
	t, ok := MeasuredTimes()
	if !ok {
		t = cost.Builtin()
	}
	l := t.Limits()
	return &l
})

// MeasuredTimes are the times that were measured on this machine and kept; false if none were.
func MeasuredTimes() (t cost.Times, ok bool) { return keptTimes(Disk(), machine.Identity()) }

// KeepTimes keeps what was measured on this machine, for processes to come.
func KeepTimes(t cost.Times) error {
	disk, err := diskcache.Default()
	if err != nil {
		return err
	}
	return keepTimes(disk, machine.Identity(), t)
}

func keptTimes(disk *diskcache.Cache, identity string) (t cost.Times, ok bool) {
	if disk == nil || identity == "" {
		return t, false
	}
	data, ok := disk.Get(timesKind, timesKey(identity))
	ok = ok && json.Unmarshal(data, &t) == nil && t.Sane()
	return t, ok
}

func keepTimes(disk *diskcache.Cache, identity string, t cost.Times) error {
	if identity == "" {
		return errors.New("this machine cannot be told from others")
	}
	if !t.Sane() {
		return fmt.Errorf("no machine has such times: %+v", t)
	}
	data, err := json.Marshal(t)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return disk.Put(timesKind, timesKey(identity), data)
}

// timesKey changes with what is kept under it.
func timesKey(identity string) diskcache.Key {
	return diskcache.Key(sha256.Sum256([]byte("times 1 " + identity)))
}
