package aot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Library is several kernels for one target, with a table of them: the function
// NAME_find looks a kernel up by its name, or by that of its family and how its
// operands are stored.
type Library struct {
	Name  string // an identifier of C
	Units []LibraryUnit
}

// LibraryUnit is a kernel of a library.
type LibraryUnit struct {
	*Unit
	// Family is the name that the kernel shares with the same program for other formats
	// and types; it may be the kernel's own.
	Family string
}

// Objects compiles the kernels, on several threads. The directory cache, unless its
// name is "", keeps the objects by what they depend on: those that are there and whole are
// not compiled again, and those that this library does not use are removed.
func (lib *Library) Objects(ctx context.Context, cache string) ([]Member, error) {
	if err := lib.check(); err != nil {
		return nil, err
	}
	members := make([]Member, len(lib.Units)+1)
	keys := make([]string, len(members))
	errs := make([]error, len(members))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(members)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(members) || ctx.Err() != nil {
					return
				}
				members[i], keys[i], errs[i] = lib.object(i, cache)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return members, prune(cache, keys)
}

// check finds names that collide, and units that do not go together.
func (lib *Library) check() error {
	if err := CheckName(lib.Name); err != nil {
		return err
	}
	if len(lib.Units) == 0 {
		return fmt.Errorf("the library %s has no kernels", lib.Name)
	}
	symbols := map[string]string{}
	add := func(owner string, names ...string) error {
		for _, name := range names {
			if other, taken := symbols[name]; taken {
				return fmt.Errorf("%s and %s of the library %s both define %s: give one another name", other, owner, lib.Name, name)
			}
			symbols[name] = owner
		}
		return nil
	}
	if err := add("the table", lib.Name+"_find", lib.Name+"_kernels"); err != nil {
		return err
	}
	for _, u := range lib.Units {
		name := u.Program.Name
		if err := add("the kernel "+name, name, name+"_step", name+"_chunk", name+"_kernel"); err != nil {
			return err
		}
		if first := lib.Units[0].Target; u.Target.Triple != first.Triple {
			return fmt.Errorf("the kernels of the library %s are for %s and %s: build one for each", lib.Name, first.Triple, u.Target.Triple)
		}
	}
	return nil
}

// object makes member i: a kernel, or behind them the table.
func (lib *Library) object(i int, cache string) (Member, string, error) {
	u := lib.Units[min(i, len(lib.Units)-1)].Unit
	name, text := lib.Name+"_table", ""
	var err error
	if i < len(lib.Units) {
		name = u.Program.Name
		text, err = u.Module()
	} else {
		text, err = lib.table(u.Target)
	}
	if err != nil {
		return Member{}, "", err
	}
	key := objectKey(text, u)
	data, ok := readObject(cache, key)
	if !ok {
		if data, err = u.emit(text); err != nil {
			return Member{}, "", fmt.Errorf("kernel %s: %w", name, err)
		}
		if err := writeObject(cache, key, data); err != nil {
			return Member{}, "", err
		}
	}
	return Member{Name: name + ".o", Data: data}, key, nil
}

// objectKey names everything that an object depends on.
func objectKey(text string, u *Unit) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%s\n%s\n%s\n", ABIVersion, u.LLVM.Version(), u.Target.Triple, strings.Join(u.Target.CPUs, ","), u.Target.Features)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// objectEnding is that of kept objects: the object, and behind it a hash of it.
const objectEnding = ".object"

// readObject reads a kept object, if it is there and whole.
func readObject(cache, key string) ([]byte, bool) {
	if cache == "" {
		return nil, false
	}
	data, err := os.ReadFile(filepath.Join(cache, key+objectEnding))
	if err != nil || len(data) < sha256.Size {
		return nil, false
	}
	object, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	want := sha256.Sum256(object)
	return object, bytes.Equal(sum, want[:])
}

func writeObject(cache, key string, object []byte) error {
	if cache == "" {
		return nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	sum := sha256.Sum256(object)
	return WriteFile(filepath.Join(cache, key+objectEnding), append(bytes.Clone(object), sum[:]...))
}

// prune removes the kept objects that are not among keys.
func prune(cache string, keys []string) error {
	if cache == "" {
		return nil
	}
	used := map[string]bool{}
	for _, key := range keys {
		used[key+objectEnding] = true
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), objectEnding) && !used[e.Name()] {
			// Another build may have removed it meanwhile.
			if err := os.Remove(filepath.Join(cache, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Header is the C header of the library: lacuna.h, every kernel's own, and the table.
func (lib *Library) Header() string {
	var b strings.Builder
	b.WriteString(Header)
	for _, u := range lib.Units {
		writeKernelHeader(&b, u.Program)
	}
	fmt.Fprintf(&b, `
#ifndef LACUNA_LIBRARY_%[1]s
#define LACUNA_LIBRARY_%[1]s

#ifdef __cplusplus
extern "C" {
#endif
/*
 * Finds a kernel: by its name alone if operands is null, else by the name of its family and its
 * operands, written as the beginning of lacuna_kernel.signature, such as
 * "A:CSR[f64] x:D[f64]". Null if there is none.
 */
const lacuna_kernel *%[1]s_find(const char *name, const char *operands);
/* The kernels in the order of the build file, a null pointer behind them. */
extern const lacuna_kernel *const %[1]s_kernels[];
#ifdef __cplusplus
}
#endif

#endif
`, lib.Name)
	return b.String()
}

// OperandSignature lists the operands with formats and types.
func (p *Program) OperandSignature() string {
	operands := *p
	operands.Tensors = p.Tensors[:p.Operands]
	return operands.Signature()
}

// File makes the contents of a file of the library: a .a, .so or .h.
func (lib *Library) File(path string, members []Member) ([]byte, error) {
	switch filepath.Ext(path) {
	case ".a":
		return Archive(members)
	case ".so":
		return Shared(filepath.Base(path), lib.Units[0].Target, members)
	case ".h":
		return []byte(lib.Header()), nil
	}
	return nil, fmt.Errorf("%s: a library is a .a or a .so, with a .h", path)
}
