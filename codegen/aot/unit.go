package aot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
)

// Unit is a program to be compiled for a target. It is not for several goroutines at once.
type Unit struct {
	Program *Program
	Target  Target
	LLVM    *llvm.LLVM
	// Keep, unless it is nil, returns the object that it has under a key, which names
	// everything that the object depends on, or what compile returns, and keeps that.
	Keep func(key string, compile func() ([]byte, error)) ([]byte, error)

	object []byte // once compiled
}

// Extensions are the kinds of files that a unit can be written as, by the ending of the
// name.
var Extensions = []string{".ll", ".s", ".o", ".a", ".so", ".h", ".ptx"}

// UnknownKindError is a file name whose ending names no kind of file.
type UnknownKindError struct{ Path string }

// Error lists the endings there are.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("%s: the name must end in one of %s", e.Path, strings.Join(Extensions, ", "))
}

// CheckPath reports a file name whose ending is unknown.
func CheckPath(path string) error {
	if !slices.Contains(Extensions, filepath.Ext(path)) {
		return &UnknownKindError{path}
	}
	return nil
}

// Files makes a file of the kind that the ending of its name tells, and what belongs to
// it: the description beside PTX.
func (u *Unit) Files(path string) ([]Member, error) {
	paths := []string{path}
	if filepath.Ext(path) == ".ptx" {
		paths = append(paths, strings.TrimSuffix(path, ".ptx")+".json")
	}
	var files []Member
	for _, name := range paths {
		data, err := u.File(name)
		if err != nil {
			return nil, err
		}
		files = append(files, Member{Name: name, Data: data})
	}
	return files, nil
}

// File makes the contents of a file of the kind that the ending of its name tells: one
// of Extensions or, for a GPU, also .json, the description of the .ptx with the same name.
func (u *Unit) File(path string) ([]byte, error) {
	ext := filepath.Ext(path)
	if forGPU := ext == ".ptx" || ext == ".json"; u.Program.Grids && !forGPU {
		return nil, u.notForGPU()
	}
	switch ext {
	case ".ptx":
		return u.PTX()
	case ".json":
		return u.Description(strings.TrimSuffix(filepath.Base(path), ext) + ".ptx")
	case ".ll":
		text, err := u.Module()
		return []byte(text), err
	case ".s":
		text, err := u.Assembly()
		return []byte(text), err
	case ".o":
		return u.Object()
	case ".a":
		object, err := u.Object()
		if err != nil {
			return nil, err
		}
		return Archive([]Member{{Name: u.Program.Name + ".o", Data: object}})
	case ".so":
		object, err := u.Object()
		if err != nil {
			return nil, err
		}
		return Shared(filepath.Base(path), u.Target, []Member{{Name: u.Program.Name + ".o", Data: object}})
	case ".h":
		return []byte(KernelHeader(u.Program)), nil
	}
	return nil, &UnknownKindError{path}
}

// Module is the unit's LLVM IR, with its target.
func (u *Unit) Module() (string, error) {
	if u.Program.Grids {
		return "", u.notForGPU()
	}
	return Module(u.Program, u.Target)
}

// Object compiles the unit to an object file, which has no undefined symbols.
func (u *Unit) Object() ([]byte, error) {
	if u.object != nil {
		return u.object, nil
	}
	text, err := u.Module()
	if err != nil {
		return nil, err
	}
	u.object, err = u.emit(text)
	return u.object, err
}

// options say how LLVM compiles the unit.
func (u *Unit) options() llvm.Options {
	o := llvm.Options{Target: u.Target.llvm()}
	if debug.QuickOnly {
		o.Level = llvm.Draft
	}
	return o
}

// emit compiles LLVM IR for the unit's target, or finds it compiled.
func (u *Unit) emit(text string) ([]byte, error) {
	compile := func() ([]byte, error) { return u.LLVM.EmitObject(text, u.options()) }
	if u.Keep == nil || debug.QuickOnly {
		return compile()
	}
	return u.Keep(objectKey(text, u), compile)
}

// Assembly compiles the unit to assembly.
func (u *Unit) Assembly() (string, error) {
	text, err := u.Module()
	if err != nil {
		return "", err
	}
	return u.LLVM.EmitAssembly(text, u.options())
}
