package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// buildFile is a file that lists the kernels of a library (see docs/aot.md).
type buildFile struct {
	Target  string        `toml:"target"`
	CPU     string        `toml:"cpu"`
	Wide    bool          `toml:"wide"`
	Kernels []buildKernel `toml:"kernel"`
}

// buildKernel is a program with everything that it is to be compiled for: each type with
// each choice of formats.
type buildKernel struct {
	Name     string             `toml:"name"`
	Program  string             `toml:"program"`
	Types    []string           `toml:"types"`
	Operands map[string]formats `toml:"operands"`
	Results  map[string]string  `toml:"results"`
	Strict   bool               `toml:"strict-ieee"`
}

// formats is one format or a list of them.
type formats []string

// UnmarshalTOML reads "CSR" or ["CSR", "CSC"].
func (f *formats) UnmarshalTOML(value any) error {
	switch v := value.(type) {
	case string:
		*f = formats{v}
		return nil
	case []any:
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return fmt.Errorf("%v is no format: write \"CSR\" or [\"CSR\", \"CSC\"]", x)
			}
			*f = append(*f, s)
		}
		if len(*f) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%v is no format: write \"CSR\" or [\"CSR\", \"CSC\"]", value)
}

// readBuildFile reads a build file. Keys that mean nothing are mistakes.
func readBuildFile(path string) (*buildFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &buildFile{}
	meta, err := toml.Decode(string(text), f)
	var at toml.ParseError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%d: %s", path, at.Position.Line, strings.TrimSpace(at.Message))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown key %s: a [[kernel]] has name, program, types, operands, results, strict-ieee; the file target, cpu, wide", path, unknown[0])
	}
	if len(f.Kernels) == 0 {
		return nil, fmt.Errorf("%s lists no kernels: write [[kernel]], name = \"spmv\", program = \"y(i) = A(i,j)*x(j)\"", path)
	}
	return f, nil
}

// variantArgs is one kernel of a family: its name, and its operands and results as
// arguments of a command line.
type variantArgs struct {
	name string
	args []string
}

// mostVariants bounds the kernels of one family: products of lists grow fast.
const mostVariants = 4096

// variants multiplies types and formats.
func (k *buildKernel) variants() ([]variantArgs, error) {
	types := k.Types
	if len(types) == 0 {
		types = []string{tensor.Float64.String()}
	}
	for _, t := range types {
		if _, err := tensor.ParseDType(t); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
	}
	p, err := parseProgram(k.Program)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	operands := map[string]formats{}
	for name, u := range p.uses {
		if u.needed && u.certain {
			operands[name] = formats{""}
		}
	}
	maps.Copy(operands, k.Operands)
	names := slices.Sorted(maps.Keys(operands))
	list := []variantArgs{{name: k.Name}}
	for _, name := range names {
		var more []variantArgs
		for _, v := range list {
			for _, f := range operands[name] {
				next := variantArgs{name: v.name, args: append(slices.Clone(v.args), name+":"+f)}
				if len(operands[name]) > 1 {
					next.name += "_" + cleanIdentifier(f)
				}
				more = append(more, next)
			}
		}
		if list = more; len(list)*len(types) > mostVariants {
			return nil, fmt.Errorf("kernel %s: its formats and types make more than %d kernels", k.Name, mostVariants)
		}
	}
	var all []variantArgs
	for _, t := range types {
		for _, v := range list {
			next := variantArgs{name: v.name}
			if len(types) > 1 {
				next.name += "_" + cleanIdentifier(t)
			}
			for _, arg := range v.args {
				if !strings.HasSuffix(arg, "]") || operand.IsOrder(arg[strings.LastIndexByte(arg, '[')+1:len(arg)-1]) {
					arg += "[" + t + "]"
				}
				next.args = append(next.args, arg)
			}
			for _, name := range slices.Sorted(maps.Keys(k.Results)) {
				next.args = append(next.args, name+":"+k.Results[name])
			}
			all = append(all, next)
		}
	}
	return all, nil
}

// cleanIdentifier makes a format part of a name: "C-DC-S[f32]" becomes "C_DC_S_f32".
func cleanIdentifier(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
	return strings.Join(words, "_")
}

// buildLibrary compiles the kernels of a build file to a library.
func (a *app) buildLibrary(ctx context.Context, f *buildFlags, path string) error {
	file, err := readBuildFile(path)
	if err != nil {
		return err
	}
	lib := &aot.Library{Name: f.options.Name}
	for i := range file.Kernels {
		k := &file.Kernels[i]
		list, err := k.variants()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, v := range list {
			u, err := a.buildVariant(ctx, file, k, v)
			if err != nil {
				return fmt.Errorf("%s: kernel %s: %w", path, v.name, err)
			}
			lib.Units = append(lib.Units, aot.LibraryUnit{Unit: u, Family: k.Name})
		}
	}
	members, err := lib.Objects(ctx, f.cache())
	if err != nil {
		return err
	}
	var files []aot.Member
	for _, out := range f.outputs {
		data, err := lib.File(out, members)
		if err != nil {
			return err
		}
		files = append(files, aot.Member{Name: out, Data: data})
	}
	return aot.WriteFiles(files)
}

// cache is the directory beside the first output that keeps objects, so that what has
// not changed is not compiled again.
func (f *buildFlags) cache() string {
	dir, base := filepath.Split(f.outputs[0])
	return filepath.Join(dir, "."+strings.TrimSuffix(base, filepath.Ext(base))+".objects")
}

// buildVariant makes the unit of one kernel.
func (a *app) buildVariant(ctx context.Context, file *buildFile, k *buildKernel, v variantArgs) (*aot.Unit, error) {
	operands, err := operand.ParseAll(v.args)
	if err != nil {
		return nil, err
	}
	p, err := parseProgram(k.Program)
	if err != nil {
		return nil, err
	}
	w := wishes{strict: k.Strict}
	opts, _, err := a.declareAll(ctx, p, operands, &w)
	if err != nil {
		return nil, err
	}
	return lacuna.Build(ctx, p.source, lacuna.BuildOptions{Name: v.name, Target: file.Target, CPU: file.CPU, Wide: file.Wide}, opts...)
}
